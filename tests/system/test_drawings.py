"""Drawings in a real browser: the middle of every part is the part, in both layouts."""

import pytest

import engine
from engine.svg import NARROW
from tests.engine.matches import tables
from tests.engine.test_layouts import decisions
from tests.system.test_browser import browser, new_page

__all__ = ["browser"]
TABLES = [table[:2] for table in tables() if not table[2]]
MISSED = """width => {
  document.querySelector("svg").setAttribute("width", width);
  document.querySelector("svg").removeAttribute("height");
  const missed = [];
  for (const part of document.querySelectorAll("[data-part]")) {
    const box = part.getBoundingClientRect();
    scrollTo(0, scrollY + box.top - 200);
    const now = part.getBoundingClientRect();
    const hit = document.elementFromPoint(now.left + now.width / 2, now.top + now.height / 2)?.closest("[data-part]");
    const name = part.getAttribute("data-part");
    if (hit?.getAttribute("data-part") !== name) missed.push(`${name}: ${hit?.getAttribute("data-part")}`);
    if (width < 400 && Math.min(now.width, now.height) < 24) missed.push(`${name}: ${now.width} x ${now.height}`);
  }
  return missed;
}"""


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_a_click_in_the_middle_of_a_part_hits_it(browser, name, players):
    page = new_page(browser, viewport={"width": 1280, "height": 900})
    for state in decisions(name, players):
        for narrow in (False, True):
            page.set_content(f"<!doctype html><body style='margin:0'>{state.picture(narrow=narrow)}")
            width = NARROW if narrow else page.locator("svg").evaluate("svg => svg.viewBox.baseVal.width")
            assert page.evaluate(MISSED, width) == [], (state.position, narrow)
    page.close()


def test_an_old_badge_would_have_been_missed(browser):
    page = new_page(browser)
    svg = engine.load_game("epicycle", 2).new_initial_state().picture()
    page.set_content(svg.replace("</svg>", '<rect width="750" height="408" fill="#fff"/></svg>'))
    assert len(page.evaluate(MISSED, 750)) == 16
    page.close()
