"""The page of `report` in a browser: search, filters in the address, sorting, folding, widths, print.

Needs selenium (``pip install dpassay[browser]``), chromium and chromedriver; skipped with a reason without them.
"""

import base64
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dpassay.cli import main

webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
BROWSER = shutil.which("chromium") or shutil.which("google-chrome") or shutil.which("chromium-browser")
DRIVER = shutil.which("chromedriver")
AXE = Path(__file__).parent / "axe-core" / "axe.min.js"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(BROWSER is None or DRIVER is None, reason="chromium or chromedriver is not installed"),
]

STATEMENTS: list[dict[str, Any]] = [
    {
        "schema": 2, "statement": f"statement_{k}", "source": "somebody2020" if k % 2 else "another2021",
        "item": f"Thm {k}", "kind": "theorem", "verdict": "holds" if k else "violated",
        "evidence": "exact" if k % 2 else "sampled", "scope": "points", "cases": 3, "undecided": 0,
        "tightness": [None, 3.0, 1.0, 20.0][k % 4], "seconds": 0.25, "witness": None, "as_expected": bool(k),
    }
    for k in range(12)
]  # fmt: skip


OTHERS: list[dict[str, Any]] = [
    {
        "schema": 2, "erratum_of": "statement_1", "source": "somebody2020", "item": f"Cor {k}", "class": "false",
        "severity": "minor", "printed": "violated", "corrected": "holds", "witness": {"n": k}, "evidence": "exact",
        "text": "a factor is lost", "detail": f"{k}.5 (certified), but at most 0.5 is allowed", "as_expected": True,
    }
    for k in (1, 2)
] + [
    {
        "schema": 2, "library": "noise", "version": "1.0", "mechanism": f"laplace {k}", "law": "privacy_of_claim",
        "claim": "pure:1.0", "finding": "violation" if k else "ok", "claimed": 1.0, "certified": 10.0**k,
        "evidence": "sampled", "scope": "samples", "alpha": 1e-6, "calls": 1000, "seconds": 1.0, "witness": None,
        "expected": "known" if k else None, "as_expected": True,
    }
    for k in (0, 1, 2)
]  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    lines = folder / "lines.jsonl"
    lines.write_text("".join(json.dumps(one) + "\n" for one in STATEMENTS + OTHERS), encoding="utf-8")
    main(["report", "--from", str(lines), "--output", str(folder / "page.html")])
    return (folder / "page.html").as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for word in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1400,900",
    ):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser: Any, page: str) -> Any:
    browser.set_window_size(1400, 900)
    browser.get("about:blank")
    browser.get(page)
    return browser


def shown(browser: Any) -> list[str]:
    """Return the names of the statements that are on the page and not folded away."""
    found: list[str] = browser.execute_script(
        "return [...document.querySelectorAll('tr[data-row=statement]')].filter(row => row.checkVisibility())"
        ".map(row => row.querySelector('.name').textContent)"
    )
    return found


def element(browser: Any, selector: str) -> Any:
    return browser.find_element("css selector", selector)


def test_the_page_has_no_errors_and_begins_with_what_is_wrong(opened: Any) -> None:
    assert opened.get_log("browser") == []
    assert shown(opened) == []  # documents are folded
    assert "statement_0" in element(opened, "tr[data-row=unexpected]").text
    assert element(opened, "#summary").rect["y"] < 900


def test_one_search_goes_over_everything_and_is_in_the_address(opened: Any) -> None:
    element(opened, "input[name=q]").send_keys("statement_1")
    assert set(shown(opened)) == {"statement_1", "statement_10", "statement_11"}
    assert opened.current_url.endswith("#?q=statement_1")
    assert element(opened, "output").text == "5 of 17 results"
    opened.get(opened.current_url.replace("q=statement_1", "verdict=violated"))
    opened.refresh()
    assert shown(opened) == ["statement_0"]
    assert element(opened, "select[name=verdict]").get_property("value") == "violated"
    opened.execute_script("location.hash = 'statement-statement_4'")
    opened.execute_async_script("requestAnimationFrame(() => setTimeout(arguments[0], 0))")
    assert "statement_4" in shown(opened)  # a link to a row ends the search and opens its document


@pytest.mark.parametrize("clicks", [1, 2])
def test_missing_values_come_last_in_both_orders(opened: Any, clicks: int) -> None:
    opened.execute_script("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    tables = opened.find_elements("css selector", "table[data-kind=statement]")
    for table in tables:
        (button,) = [one for one in table.find_elements("css selector", "thead button") if "Tightness" in one.text]
        for _ in range(clicks):
            opened.execute_script("arguments[0].click()", button)
        values = [
            cell.get_attribute("data-value") for cell in table.find_elements("css selector", "tbody td:nth-child(8)")
        ]
        known = [float(value) for value in values if value]
        assert values[len(known) :] == [""] * (len(values) - len(known))
        assert known == sorted(known, reverse=clicks == 2)


@pytest.mark.parametrize("width", [400, 800, 1400])
def test_the_page_is_never_wider_than_the_window(opened: Any, width: int) -> None:
    opened.set_window_size(width, 900)
    opened.execute_script("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    sizes = opened.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    assert sizes[0] <= sizes[1] + 1
    is_card = opened.execute_script("return getComputedStyle(document.querySelector('.cards tbody tr')).display")
    assert is_card == ("block" if sizes[1] <= 600 else "table-row")


def test_heads_stay_in_sight(opened: Any) -> None:
    opened.execute_script("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    last = opened.find_elements("css selector", "table[data-kind=statement] tbody tr")[5]
    opened.execute_script("arguments[0].scrollIntoView(false)", last)
    top = opened.execute_script(
        "return arguments[0].closest('table').querySelector('thead th').getBoundingClientRect().top", last
    )
    assert 0 <= top < 900


def test_the_skip_link_is_the_first_stop_of_the_keyboard(opened: Any) -> None:
    element(opened, "body").send_keys("\ue004")
    focused = opened.switch_to.active_element
    assert focused.get_attribute("class") == "skip"
    assert focused.rect["x"] >= 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(opened: Any, scheme: str) -> None:
    """WCAG 2.1 asks for a contrast of 4.5; of every colour of text with its ground."""
    opened.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    ratios = opened.execute_script("""
      const light = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number).map((c) => c / 255)
        .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, k) => sum + c * [0.2126, 0.7152, 0.0722][k], 0);
      const ground = (part) => {
        for (let one = part; one; one = one.parentElement) {
          const colour = getComputedStyle(one).backgroundColor;
          if (!/, 0\\)$/.test(colour)) return colour;
        }
        return "rgb(255, 255, 255)";
      };
      return [...document.querySelectorAll("h1, .lead, .verdict, .quiet, th, td, a")].map((part) => {
        const [a, b] = [light(getComputedStyle(part).color), light(ground(part))].sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05);
      });
    """)
    assert len(ratios) > 50
    assert min(ratios) >= 4.5


def test_errata_and_findings_have_pictures(opened: Any) -> None:
    opened.execute_script("document.querySelectorAll('details').forEach(part => { part.open = true; })")

    def marks(kind: str, mark: str, name: str) -> list[float]:
        found = opened.find_elements("css selector", f"[data-picture={kind}] {mark}")
        return [float(one.get_attribute(name)) for one in found]

    assert marks("errata", "rect.claimed", "width") == [120.0, 72.0]
    assert marks("errata", "rect.certified", "width") == [360.0, 360.0]
    assert marks("findings", "circle.claimed", "cx") == [0.0, 0.0]
    assert marks("findings", "circle.certified", "cx") == [360.0, 180.0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_axe_finds_no_violation(opened: Any, width: int, scheme: str) -> None:
    opened.set_window_size(width, 900)
    opened.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    opened.execute_script("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    opened.execute_script(AXE.read_text(encoding="utf-8"))
    found = opened.execute_async_script("axe.run().then(arguments[0], error => arguments[0]({error: String(error)}))")
    assert "error" not in found
    assert len(found["passes"]) > 20
    violations = [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found["violations"]]
    assert not violations


def test_it_prints_open_and_with_heads(opened: Any) -> None:
    printed = opened.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})
    content = base64.b64decode(printed["data"])
    assert content.startswith(b"%PDF")
    assert len(content) > 10_000
    assert Path(opened.current_url).name.startswith("page.html")
