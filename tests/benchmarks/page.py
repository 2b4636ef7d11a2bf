"""How fast the page of a graph is in a real browser: `python -m tests.benchmarks.page`. Ends with 1 where a goal is missed.

Pages of some 10, 100 and 1,500 objects, folded as they open and with every gang open: first contentful paint, and how many frames a second
are drawn while the picture is moved and zoomed by a step in each. Headless Chromium draws in software, and at most 60 a second.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml

from tests.benchmarks.measure import GROVE, ROOT, machine, table
from tests.render.looking import open_all
from tools.browser import launched

SIZES = {"minimal.yaml": (1,), "explicit-startup-order.yaml": (5, 80)}
"""Replicas of each example."""
MAX_PAINT, MIN_FRAMES = 1000.0, 30.0
"""Milliseconds, and frames a second."""
PAINT = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
MOVE = """() => new Promise((done) => {
  const began = performance.now();
  let frames = 0;
  const draw = () => {
    grove.viewport.pan(frames % 40 < 20 ? 9 : -9, 4);
    grove.viewport.zoom(frames % 40 < 20 ? 1.02 : 1 / 1.02);
    frames += 1;
    const seconds = (performance.now() - began) / 1000;
    seconds < 3 ? requestAnimationFrame(draw) : done(frames / seconds);
  };
  requestAnimationFrame(draw);
})"""


def page_of(folder: Path, example: str, replicas: int) -> Path:
    """Writes the page of an example with so many replicas."""
    manifest = yaml.safe_load((ROOT / "examples" / example).read_text("utf-8"))
    manifest["spec"]["replicas"] = replicas
    (folder / "set.yaml").write_text(yaml.safe_dump(manifest), "utf-8")
    page = folder / f"{replicas}-{example}.html"
    page.write_bytes(subprocess.run([*GROVE, "graph", str(folder / "set.yaml"), "-o", "html"], capture_output=True, check=True).stdout)
    return page


def measured(browser: Any, path: Path) -> tuple[int, float, float, float]:
    """The number of objects, milliseconds until the first paint, and frames a second, folded and open."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-ready]")
    objects, paint, folded = (page.evaluate(text) for text in ("grove.graph.nodes.length", PAINT, MOVE))
    open_all(page)
    opened = page.evaluate(MOVE)
    page.close()
    return objects, paint, folded, opened


def main() -> int:
    """Prints the table, and each goal that is missed."""
    rows, missed = [], []
    with tempfile.TemporaryDirectory() as folder, launched() as browser:
        pages = [page_of(Path(folder), example, replicas) for example, sizes in SIZES.items() for replicas in sizes]
        for path in pages:
            objects, paint, *frames = measured(browser, path)
            rows.append([f"{objects:,}", f"{path.stat().st_size // 1000:,}", f"{paint:.0f}", *(f"{rate:.0f}" for rate in frames)])
            missed += [f"{objects:,} objects: first paint after {paint:.0f} ms"] if paint > MAX_PAINT else []
            missed += [f"{objects:,} objects: {rate:.0f} frames a second" for rate in frames if rate < MIN_FRAMES]
    print(machine())
    print(table(["objects", "kB", "first paint, ms", "frames/s, folded", "frames/s, open"], rows))
    print("".join(f"\nMissed: {goal}" for goal in missed))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
