"""A browser for the tests of the page. Without Chromium or playwright they are left out, and one line says how many."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from grove_cli.render.as_html import as_html
from grove_cli.render.input_lines import Lines
from grove_cli.render.picture import Picture
from grove_cli.serve import server as server_module
from grove_cli.serve import stage as stage_module
from tests.cli.conftest import cache_of_the_session
from tools.browser import chromium, launched

from .live_cluster import Cluster

__all__ = ["cache_of_the_session"]

OpenPage = Callable[..., Any]
GROUP = "browser"
"""Of all tests in a browser, and of those that use what they have made: one worker runs them."""
WINDOW = {"width": 1280, "height": 800}


def missing() -> str:
    """What the tests of the page would need, empty when it is all there."""
    parts = {"playwright": find_spec("playwright"), "Chromium (GROVE_CHROMIUM names one)": chromium()}
    return " and ".join(name for name, found in parts.items() if not found)


@pytest.hookimpl(tryfirst=True)  # before the tests are put in order by their groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    absent = missing()
    in_browser = [item for item in items if "browser" in getattr(item, "fixturenames", ())]
    for item in in_browser:
        item.add_marker(pytest.mark.xdist_group(GROUP))
    left_out = in_browser if absent else []
    for item in left_out:
        item.add_marker(pytest.mark.skip(reason=f"no {absent}"))
    if left_out and os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0":
        warnings.warn(pytest.PytestWarning(f"{len(left_out)} tests of the page were left out: no {absent}"), stacklevel=1)


class KeptBrowser:
    """A browser that is kept from one module to the next, since its start takes two seconds of CPU."""

    def __init__(self) -> None:
        self._running = ExitStack()
        self._browser: Any = None

    def get(self) -> Any:
        self._browser = self._browser or self._running.enter_context(launched())
        return self._browser

    def end(self) -> None:
        self._running.close()
        self._browser = None


KEPT = KeptBrowser()


@pytest.fixture(scope="module")
def browser() -> Any:
    return KEPT.get()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Ends the browser once its last test has ended: playwright's event loop would run beside that of every test that comes later.

    The tab of a module is closed after all its tests, also where the last ones need no browser.
    """
    yield
    needs_browser = nextitem is not None and any(marker.args[0] == GROUP for marker in nextitem.iter_markers("xdist_group"))
    if nextitem is None or (nextitem.path != item.path and not needs_browser):
        KEPT.end()


class Tab:
    """Shows the documents of a module's tests, one after the other, and keeps what they complain about.

    Each test has a new document, and settings as in a new tab. A tab of its own would cost it five times as much.
    """

    def __init__(self, browser: Any, **settings: Any) -> None:
        self.page = browser.new_context(viewport=WINDOW, **settings).new_page()
        self.heard: list[str] = []
        self.page.on("console", lambda message: self.heard.append(message.text))
        self.page.on("pageerror", lambda error: self.heard.append(str(error)))
        self.page.on("dialog", self._dismiss)

    def reset(self, viewport: Mapping[str, int] = WINDOW, reduced_motion: str = "reduce", **emulated: str) -> None:
        """Takes back what the test before has set, and emulates what this one wants."""
        self.page.context.clear_permissions()
        self.page.mouse.move(0, 0)
        self.page.set_viewport_size(viewport)
        self.page.emulate_media(reduced_motion=reduced_motion, **{"color_scheme": "light", "forced_colors": "none", **emulated})

    def close(self) -> None:
        self.page.context.close()

    def complaints(self) -> list[str]:
        """Returns what the page has said since the last question, once it has said all."""
        self.page.evaluate("0")
        heard, self.heard = self.heard, []
        return heard

    def _dismiss(self, dialog: Any) -> None:
        self.heard.append(dialog.message)
        dialog.dismiss()


class Pages:
    """Opens pages of pictures from files. What they ask for besides is a complaint, too."""

    def __init__(self, tab: Tab, folder: Path) -> None:
        self.tab = tab
        self._folder = folder
        self._opened = 0
        self._plain: dict[int, tuple[Picture, Path]] = {}
        tab.page.on("request", lambda request: self._asked(request.url))

    def open(
        self,
        picture: Picture,
        docs: dict[str, str] | None = None,
        fragment: str = "",
        states: dict[str, str] | None = None,
        lines: dict[str, Lines] | None = None,
        **emulated: Any,
    ) -> Any:
        """Returns the page of the picture, in the place of the one that was opened before. A picture may not change from then on."""
        self._opened += 1
        self._shown = self._write(picture, docs, states, lines) if docs or states or lines else self._written(picture)
        self.tab.reset(**emulated)
        self.tab.page.goto(f"{self._shown.as_uri()}?{self._opened}{fragment}")  # with the number, a fragment does not keep the document
        self.tab.page.wait_for_selector("html[data-ready]")
        return self.tab.page

    def _written(self, picture: Picture) -> Path:
        if id(picture) not in self._plain:
            self._plain[id(picture)] = (picture, self._write(picture))
        return self._plain[id(picture)][1]

    def _write(
        self,
        picture: Picture,
        docs: dict[str, str] | None = None,
        states: dict[str, str] | None = None,
        lines: dict[str, Lines] | None = None,
    ) -> Path:
        path = self._folder / f"graph-{self._opened}.html"
        path.write_text(as_html(picture, docs or {}, states, lines), "utf-8")
        return path

    def _asked(self, url: str) -> None:
        if url.partition("?")[0] != self._shown.as_uri():
            self.tab.heard.append(url)


@pytest.fixture(scope="module")
def pages(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pages]:
    with closing(Tab(browser, offline=True)) as tab:
        yield Pages(tab, tmp_path_factory.mktemp("pages"))


@pytest.fixture
def open_page(pages: Pages) -> Iterator[OpenPage]:
    """Opens the page of a picture, and fails the test when the page complains or asks for anything but itself."""
    yield pages.open
    assert pages.tab.complaints() == []


@pytest.fixture
def cluster(browser: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.setattr(stage_module, "SETTLE", 0.0)
    monkeypatch.setattr(server_module, "SHUTDOWN_TIMEOUT", 0.05)  # the stream of a page ends in no other way
    with Cluster() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def live_tab(browser: Any) -> Iterator[Tab]:
    with closing(Tab(browser)) as tab:
        yield tab


@pytest.fixture
def live_page(live_tab: Tab, cluster: Cluster) -> Iterator[Any]:
    """The page, once it has heard from its server. It complains about nothing until the test is over."""
    opened = live_tab.page
    live_tab.reset(reduced_motion="no-preference")
    opened.goto(cluster.served.url)
    opened.wait_for_selector("html[data-told]")
    opened.evaluate("window.sameDocument = true")
    yield opened
    same, wrong = opened.evaluate("window.sameDocument"), live_tab.complaints()
    opened.goto("about:blank")
    assert same, "it was loaded again"
    assert not [text for text in wrong if "ERR_CONNECTION_REFUSED" not in text and "ERR_INCOMPLETE" not in text]
