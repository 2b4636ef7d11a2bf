"""The pictures in the docs: each is what its command draws now. The page needs a browser; what it shows is compared without one."""

from __future__ import annotations

from typing import Any

import pytest

from tools.generate_pictures import FOLDER, PICTURES, TIMELINES, note, page_of, picture, timeline

from .conftest import GROUP

pytestmark = pytest.mark.xdist_group(GROUP)  # whoever draws the pages once asks about them, with a browser or without
AGAIN = "run `python -m tools.generate_pictures`"


def committed(name: str) -> str:
    return (FOLDER / name).read_text("utf-8")


def test_every_picture_is_drawn_by_the_tool() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {*PICTURES, *TIMELINES}


@pytest.mark.parametrize("name", TIMELINES)
def test_a_timeline_in_the_docs_is_what_the_command_draws(name: str) -> None:
    assert committed(name) == timeline(name), AGAIN


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_in_the_docs_shows_the_objects_of_its_examples(name: str) -> None:
    assert committed(name).splitlines(keepends=True)[-1] == note(page_of(PICTURES[name])), AGAIN


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_in_the_docs_is_what_the_page_draws(name: str, browser: Any) -> None:
    assert committed(name) == picture(browser, name), AGAIN
