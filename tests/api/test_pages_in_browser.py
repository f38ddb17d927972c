"""The documentation in a real Chromium: drawn whole, without a complaint, without a word to anybody else."""

import time
from collections.abc import Callable, Iterator

import pytest

from tests.api.servers import Server, serving
from tests.contract.document import OPERATIONS
from tests.verifier.browser import Browser, browser, missing

RULES = ("docs/rulesets/casino-1/ru", "docs/rulesets/trainer-1")

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"{missing()} is not installed")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with serving(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as session:
        session.open("about:blank")
        yield session


@pytest.fixture
def visit(chromium: Browser, server: Server) -> Iterator[Callable[[str], Browser]]:
    """Opens a page; in the end it must have complained of nothing and asked nobody but this service."""
    origin = f"http://127.0.0.1:{server.port}/"
    chromium.resize(1200, 900)
    chromium.complaints(), chromium.requests()

    def open_page(path: str) -> Browser:
        chromium.open(origin + path)
        return chromium

    yield open_page
    assert chromium.complaints() == []
    assert [url for url in chromium.requests() if not url.startswith(origin)] == []


def soon(page: Browser, script: str) -> object:
    """What a script returns, as soon as that is true."""
    deadline = time.monotonic() + 30
    while not (found := page.run(f"return {script}")) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found


def test_the_reference_shows_every_operation(visit: Callable[[str], Browser]) -> None:
    page = visit("docs/reference")
    assert soon(page, f"document.querySelectorAll('.opblock').length === {len(OPERATIONS)}")
    shown = page.run(
        "return [...document.querySelectorAll('.opblock')].map((one) => ["
        "  one.querySelector('.opblock-summary-method').innerText.toLowerCase(),"
        "  one.querySelector('.opblock-summary-path').dataset.path, one.checkVisibility()])"
    )
    assert sorted(map(tuple, shown)) == sorted((one.method, one.path, True) for one in OPERATIONS)
    assert "Russian Poker settlement" in page.text("#reference")
    page.click(".skip a")
    assert soon(page, "document.getElementById('operations-tag-rounds').getBoundingClientRect().top < 100")
    dark = "document.documentElement.classList.contains('dark-mode')"
    assert page.run(f"return {dark}") is False
    page.prefer("dark")
    assert soon(page, dark)
    page.prefer("light")
    assert soon(page, f"!{dark}")


def test_an_operation_of_the_reference_can_be_tried(visit: Callable[[str], Browser]) -> None:
    page = visit("docs/reference#/hands/evaluateHand")
    assert soon(page, "document.querySelector('.opblock.is-open .try-out__btn')")
    page.run("document.querySelector('.try-out__btn').click()")
    assert soon(page, "document.querySelector('.execute')")
    page.run("document.querySelector('.execute').click()")
    assert soon(page, "document.querySelector('.live-responses-table tbody')")
    assert page.text(".live-responses-table tbody").startswith("200")
    assert '"kickers"' in page.text(".live-responses-table tbody")
    page.run("document.querySelectorAll('.tablinks').forEach((tab) => tab.click())")
    assert soon(page, "document.querySelector('.opblock.is-open .json-schema-2020-12')")


FORBIDDEN = (
    "document.head.append(Object.assign(document.createElement('style'), {textContent: 'p {}'}))",
    """document.body.insertAdjacentHTML("beforeend", '<p style="color: red">')""",
    "try { setTimeout('1') } catch {}",
    "fetch('http://127.0.0.2:1/').catch(() => {})",
    "document.head.append(Object.assign(document.createElement('script'), {src: '//127.0.0.2:1/'}))",
)


def test_what_the_policy_forbids_would_be_noticed(chromium: Browser, server: Server) -> None:
    chromium.open(f"http://127.0.0.1:{server.port}/docs/reference")
    assert chromium.complaints() == []
    for script in FORBIDDEN:
        chromium.run(script)
        deadline = time.monotonic() + 30
        while not (complaints := chromium.complaints()) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert "Content Security Policy" in complaints[0], script


def test_a_guide(visit: Callable[[str], Browser]) -> None:
    page = visit("docs")
    page.run("document.querySelector('a[href$=\"/settle-a-round\"]').click()")
    assert soon(page, "document.title.startsWith('Settle a round')")
    assert page.text("h1") == "Settle a round"
    assert page.run("return document.querySelectorAll('pre code.language-js').length") == 1
    page.run("document.querySelector('a[href=\"../rulebook\"]').click()")
    assert soon(page, "document.title.startsWith('Rule book')")


@pytest.mark.parametrize("path", ["docs", "docs/guides/errors", "docs/certificates", *RULES])
def test_a_page_fits_the_screen(path: str, visit: Callable[[str], Browser]) -> None:
    page = visit(path)
    for width in (360, 800, 1200):
        page.resize(width, 800)
        assert page.run("return document.documentElement.scrollWidth") <= width


def test_the_rules_in_russian(visit: Callable[[str], Browser]) -> None:
    page = visit("docs/rulesets/casino-1")
    assert page.run("return document.documentElement.lang") == "en"
    page.click("a[hreflang=ru]")
    assert soon(page, "document.documentElement.lang === 'ru'")
    assert page.text("h1") == "Русский покер, правила казино"
    assert page.text("nav").split("\n")[0].startswith("Документация")
    table = page.text("table.pays")
    assert "Флеш-рояль" in table
    assert "Туз-король" in table
    page.click("table.pays .mark")
    assert page.run("return document.querySelector(':target').id") == "I13"
