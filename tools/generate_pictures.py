"""Draws the pictures in docs/pictures: `python -m tools.generate_pictures`. It needs Chromium for those of the page.

Texts are measured by a ruler of our own, so that no picture depends on the fonts of the machine that drew it. Each names what it was drawn
from, so that a test without a browser finds those that are outdated.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from tools.browser import chromium, launched

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "docs" / "pictures"
DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
RULER = """CanvasRenderingContext2D.prototype.measureText = function (text) {
  const [size] = /[\\d.]+(?=px)/.exec(this.font);
  return { width: [...text].length * size * (/^(600|bold)/.test(this.font) ? 0.6 : 0.55) };
};"""
"""Gives every character the same width, about the average of common fonts."""


class Drawing(NamedTuple):
    """What is drawn: examples, with other replicas if so, options of `grove graph`, and the gang that is open."""

    examples: tuple[str, ...]
    options: tuple[str, ...] = ()
    replicas: int = 0
    opened: str = ""


SETS = ("disaggregated", "explicit-startup-order", "live-replicas", "multi-node-aggregated", "single-node-aggregated")
PICTURES = {
    "sets.svg": Drawing(tuple(f"{name}.yaml" for name in SETS)),
    "topology.svg": Drawing(
        ("topology-three-levels.yaml",),
        ("--config", str(ROOT / "examples/operator-configuration.yaml"), "--pods"),
        opened="deepseek-three-levels-0",
    ),
    "objects-10.svg": Drawing(("minimal.yaml",), ("--pods",)),
    "objects-100.svg": Drawing(("explicit-startup-order.yaml",), replicas=5),
    "objects-1500.svg": Drawing(("explicit-startup-order.yaml",), replicas=80),
}
TIMELINES = {"timeline.svg": ("chat", "--snapshot", str(ROOT / "docs/snapshots/rolled-service.yaml"))}


def _grove(*arguments: str, stdin: bytes = b"") -> str:
    command = [sys.executable, "-m", "grove_cli", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, check=True).stdout.decode()


@cache
def page_of(drawing: Drawing) -> str:
    """Returns the page of `grove graph -o html`."""
    files = [str(ROOT / "examples" / name) for name in drawing.examples]
    text = b""
    if drawing.replicas:
        (manifest,) = [yaml.safe_load(Path(file).read_bytes()) for file in files]
        manifest["spec"]["replicas"] = drawing.replicas
        files, text = ["-"], yaml.safe_dump(manifest).encode()
    return _grove("graph", *files, *drawing.options, "-o", "html", stdin=text)


def origin(page: str) -> str:
    """Returns a digest of the objects that a page draws and how they relate: no YAML, and no rules."""
    found = DATA.search(page)
    assert found is not None, "a page without data"
    data = json.loads(found[1])
    nodes = [[*node[:3], *node[4:7]] for node in data["nodes"]]  # neither the number of the rule nor the YAML
    drawn = [nodes, *(data[part] for part in ("edges", "domains", "startup", "gangs", "states"))]
    return hashlib.sha256(json.dumps(drawn).encode()).hexdigest()[:16]


def note(page: str) -> str:
    """Returns the last line of a picture."""
    return f"<!-- python -m tools.generate_pictures; drawn from {origin(page)} -->\n"


def timeline(name: str) -> str:
    """Returns the picture of a timeline."""
    return _grove("timeline", *TIMELINES[name], "-o", "svg")


def picture(browser: Any, name: str) -> str:
    """Draws the page of a picture in a browser, and returns what its button *SVG* saves."""
    page = page_of(PICTURES[name])
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "page.html").write_text(page, "utf-8")
        shown = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="light", reduced_motion="reduce")
        shown.add_init_script(RULER)
        shown.goto((Path(folder) / "page.html").as_uri())
        shown.wait_for_selector("html[data-ready]")
        _open_gang(shown, PICTURES[name].opened)
        with shown.expect_download() as download:
            shown.locator("#save-svg").click()
        svg = Path(download.value.path()).read_text("utf-8")
        shown.close()
    return svg.rstrip("\n") + "\n" + note(page)


def _open_gang(page: Any, name: str) -> None:
    if name:
        page.evaluate(f"grove.choose(grove.graph.nodes.findIndex((node) => node.kind === 'PodGang' && node.name === '{name}'))")
        page.evaluate("grove.toggleSelected()")
        page.keyboard.press("Escape")


def main() -> None:
    """Writes all pictures."""
    if chromium() is None:
        sys.exit("No Chromium; GROVE_CHROMIUM names one.")
    for name in TIMELINES:
        (FOLDER / name).write_text(timeline(name), "utf-8")
    with launched() as browser:
        for name in PICTURES:
            (FOLDER / name).write_text(picture(browser, name), "utf-8")


if __name__ == "__main__":
    main()
