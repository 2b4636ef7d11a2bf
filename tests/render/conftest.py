"""A browser for the tests of the page. Without Chromium or playwright they are left out, and one line says how many."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from grove_cli.render.as_html import as_html
from grove_cli.render.input_lines import Lines
from grove_cli.render.picture import Picture
from grove_cli.serve import stage as stage_module
from tools.browser import chromium, launched

from .live_cluster import Cluster

OpenPage = Callable[..., Any]


def missing() -> str:
    """What the tests of the page would need, empty when it is all there."""
    parts = {"playwright": find_spec("playwright"), "Chromium (GROVE_CHROMIUM names one)": chromium()}
    return " and ".join(name for name, found in parts.items() if not found)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    absent = missing()
    left_out = [item for item in items if "browser" in getattr(item, "fixturenames", ())] if absent else []
    for item in left_out:
        item.add_marker(pytest.mark.skip(reason=f"no {absent}"))
    if left_out and os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0":
        warnings.warn(pytest.PytestWarning(f"{len(left_out)} tests of the page were left out: no {absent}"), stacklevel=1)


@pytest.fixture(scope="session", autouse=True)
def cache_of_the_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROVE_CACHE_DIR", str(tmp_path_factory.mktemp("rules")))
        yield


@pytest.fixture(scope="module")  # not the session: playwright's event loop would run beside that of every test that comes later
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


class Pages:
    """Opens pages of pictures from files, and keeps what they complain about and what else they ask for."""

    def __init__(self, browser: Any, folder: Path) -> None:
        self.browser = browser
        self.path = folder / "graph.html"
        self.contexts: list[Any] = []
        self.wrong: list[str] = []

    def open(
        self,
        picture: Picture,
        docs: dict[str, str] | None = None,
        fragment: str = "",
        states: dict[str, str] | None = None,
        lines: dict[str, Lines] | None = None,
        **emulated: Any,
    ) -> Any:
        self.path.write_text(as_html(picture, docs or {}, states, lines), "utf-8")
        settings = {"viewport": {"width": 1280, "height": 800}, "color_scheme": "light", "reduced_motion": "reduce", **emulated}
        self.contexts.append(self.browser.new_context(offline=True, **settings))
        page = self.contexts[-1].new_page()
        page.on("console", lambda message: self.wrong.append(message.text))
        page.on("pageerror", lambda error: self.wrong.append(str(error)))
        page.on("dialog", self._dismiss)
        page.on("request", lambda request: self.asked(request.url))
        page.goto(self.path.as_uri() + fragment)
        page.wait_for_selector("html[data-ready]")
        return page

    def _dismiss(self, dialog: Any) -> None:
        self.wrong.append(dialog.message)
        dialog.dismiss()

    def asked(self, url: str) -> None:
        if url.partition("#")[0] != self.path.as_uri():
            self.wrong.append(url)

    def close(self) -> None:
        for context in self.contexts:
            context.close()
        assert not self.wrong


@pytest.fixture
def open_page(browser: Any, tmp_path: Path) -> Iterator[OpenPage]:
    """Opens the page of a picture, and fails the test when the page complains or asks for anything but itself."""
    pages = Pages(browser, tmp_path)
    yield pages.open
    pages.close()


@pytest.fixture
def cluster(browser: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.setattr(stage_module, "SETTLE", 0.0)
    with Cluster() as cluster:
        yield cluster


@pytest.fixture
def live_page(browser: Any, cluster: Cluster) -> Iterator[Any]:
    """The page, once it has heard from its server. It complains about nothing until the test is over."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    opened, wrong = context.new_page(), list[str]()
    opened.on("console", lambda message: wrong.append(message.text))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.goto(cluster.served.url)
    opened.wait_for_selector("html[data-told]")
    opened.evaluate("window.sameDocument = true")
    yield opened
    assert opened.evaluate("window.sameDocument"), "it was loaded again"
    context.close()
    assert not [text for text in wrong if "ERR_CONNECTION_REFUSED" not in text and "ERR_INCOMPLETE" not in text]
