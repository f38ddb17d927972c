"""The page in a real Chromium: served and saved, good rounds and bad, by keyboard, on a narrow screen."""

import copy
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from service.api.schemas import ROUND, load
from service.api.verify import page
from service.registry import load_rulesets
from service.rounds import settle_request
from tests.verifier.browser import Browser, browser, missing, served
from tests.verifier.random_rounds import Json

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"{missing()} is not installed")

REQUEST: Json = {
    "ruleset": "casino-1",
    "deal": {"server_seed": "53419178d713424656201fe66f85879d921867779c4733d70ab6f74f368ed9ea", "nonce": 7},
    "boxes": [
        {"box": 1, "ante": 100, "blind": True, "bonus": 25, "player": "<img src=x onerror=alert(1)>"},
        {"box": 2, "ante": 500, "bonus": 100},
        {"box": 3, "ante": 100},
        {"box": 4, "ante": 250, "blind": True},
    ],
    "actions": [
        {"box": 2, "action": "buy_sixth"},
        {"box": 2, "action": "bet"},
        {"box": 3, "action": "fold"},
        {"box": 1, "action": "buy_game"},
        {"box": 2, "action": "buy_game"},
        {"box": 4, "action": "take_ante"},
    ],
    "context": {"round_id": "</script><script>alert(1)</script>"},
}


class Given:
    """An outcome, certificates of it, and the page with their keys."""

    def __init__(self, node: Callable[..., Any]) -> None:
        registry = load_rulesets()
        self.outcome: Json = json.loads(json.dumps(settle_request(load(ROUND, REQUEST), registry)))
        self.outcome.pop("certificate", None)
        made = node("certificates.mjs", given=json.dumps(self.outcome))
        self.certificates: dict[str, str] = made["certificates"]
        documents = {id: dict(published.document) for id, published in registry.items()}
        self.page, self.policy = page(documents, made["jwks"])

    def altered(self, pointer: str, value: Any) -> str:
        outcome = copy.deepcopy(self.outcome)
        holder: Any = outcome
        *way, last = [int(name) if name.isdigit() else name for name in pointer.split("/")[1:]]
        for name in way:
            holder = holder[name]
        holder[last] = value
        return json.dumps(outcome)


@pytest.fixture(scope="module")
def given(node: Callable[..., Any]) -> Given:
    return Given(node)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as session:
        yield session


@pytest.fixture(scope="module")
def address(given: Given) -> Iterator[str]:
    with served(given.page, given.policy) as url:
        yield url


@pytest.fixture
def at_page(chromium: Browser, address: str) -> Iterator[Browser]:
    """The page just opened; in the end it must have complained of nothing and loaded nothing but itself."""
    chromium.resize(1200, 900)
    chromium.speak("en-US")
    chromium.complaints(), chromium.requests()
    chromium.open(address)
    yield chromium
    assert chromium.complaints() == []
    assert [url for url in chromium.requests() if url.split("#")[0] != address] == []


def test_is_one_script_one_style_and_one_block_of_data(given: Given) -> None:
    text = given.page.decode()
    assert text.count("<script") == text.count("</script>") == 2
    assert text.count("<style") == 1
    assert " style=" not in text.split("<script")[0]
    assert " onclick=" not in text
    assert re.findall(r"\{\{[A-Z]+\}\}|/\*[A-Z]+\*/", text) == []


def test_a_ruleset_cannot_break_out_of_its_block() -> None:
    text = page({"x-1": {"title": "</script><script>alert(1)</script>{{CSP}}/*JS*/"}}, {"keys": []})[
        0
    ].decode()
    assert text.count("</script>") == 2
    assert "{{CSP}}/*JS*/" in text


def test_good_certificate(at_page: Browser, given: Given) -> None:
    assert at_page.verify(given.certificates["active"]) == "good"
    assert at_page.text("#verdict h2") == "Correct"
    checks = at_page.run(
        "return [...document.querySelectorAll('#check-list .mark')].map((mark) => mark.className)"
    )
    assert len(checks) >= 12
    assert set(checks) == {"mark ok"}
    assert at_page.run("return document.querySelectorAll('.seat').length") == 5
    assert at_page.run("return document.querySelectorAll('.felt .cards svg').length") == 5 + 5 + 6 + 5 + 5
    totals = given.outcome["totals"]
    assert f"{totals['staked']:,}" in at_page.text(".sums")


def test_saved_to_disk(chromium: Browser, given: Given, tmp_path: Path) -> None:
    saved = tmp_path / "verify.html"
    saved.write_bytes(given.page)
    chromium.complaints(), chromium.requests()
    chromium.open(saved.as_uri() + "#c=" + given.certificates["active"])
    assert chromium.verdict() == "good"
    assert "fits the key" in chromium.text("#checks")
    assert chromium.complaints() == []
    assert [url for url in chromium.requests() if not url.startswith(saved.as_uri())] == []


@pytest.mark.parametrize(
    ("pointer", "value", "place"),
    [
        ("/boxes/1/hand/0", "2c", "Box 2 › card in hand 1"),
        ("/dealer/dealt/4", "Ah", "Dealer › dealt card 5"),
        ("/boxes/1/bets/1/returned", 12_345, "Box 2 › stake bet › returned"),
        ("/totals/net", 1, "Totals › net"),
        ("/deal/server_seed", "00" * 32, "Deal › commitment"),
        ("/deal/deck/51", "As", "Deal › deck, card 52"),
    ],
)
def test_altered_outcome(at_page: Browser, given: Given, pointer: str, value: Any, place: str) -> None:
    assert at_page.verify(given.altered(pointer, value)) == "bad"
    verdict = at_page.text("#verdict")
    assert verdict.startswith("✕")
    assert place + ": the outcome says" in verdict
    assert at_page.run("return document.querySelectorAll('.is-bad').length") >= 1


@pytest.mark.parametrize(
    ("name", "verdict", "words"),
    [
        ("forged", "bad", "signature is forged"),
        ("altered", "bad", "Totals › returned"),
        ("revoked", "bad", "was revoked: the laptop was stolen"),
        ("stranger", "bad", "not among the public keys"),
        ("wrong_alg", "bad", "HS256"),
        ("not_canonical", "bad", "not canonical"),
        ("development", "good", "proves nothing about who signed"),
        ("truncated", "unreadable", "cut off"),
    ],
)
def test_certificates(at_page: Browser, given: Given, name: str, verdict: str, words: str) -> None:
    assert at_page.verify(given.certificates[name]) == verdict
    assert words in at_page.text("#verdict")


def test_request_shows_what_the_outcome_must_be(at_page: Browser) -> None:
    assert at_page.verify(json.dumps(REQUEST)) == "computed"
    assert at_page.verify(json.dumps({**REQUEST, "actions": REQUEST["actions"][:-1]})) == "bad"
    assert "box 4 has still to choose. Legal now: take the ante, buy the dealer a game" in at_page.text(
        "#verdict"
    )
    assert at_page.run("return document.querySelectorAll('.seat').length") == 5


def test_seed_entered_later(at_page: Browser, given: Given) -> None:
    outcome = copy.deepcopy(given.outcome)
    seed = outcome["deal"].pop("server_seed")
    outcome["deal"]["deck"] = outcome["deal"]["deck"][: outcome["deal"]["cards_used"]]
    for name in ("request_digest", "outcome_id"):
        outcome.pop(name, None)
    assert at_page.verify(json.dumps(outcome)) == "partial"
    at_page.fill(seed, "#seed")
    assert at_page.verify(json.dumps(outcome)) == "good"
    at_page.fill("12" * 32, "#seed")
    assert at_page.verify(json.dumps(outcome)) == "bad"
    assert "does not match the commitment" in at_page.text("#verdict")


def test_ruleset_and_keys_pasted(at_page: Browser, given: Given, node: Callable[..., Any]) -> None:
    other = node("certificates.mjs", given=json.dumps(given.outcome))
    assert at_page.verify(other["certificates"]["active"]) == "bad"
    at_page.fill(json.dumps(other["jwks"]), "#jwks")
    at_page.fill(json.dumps(dict(load_rulesets()["casino-1"].document)), "#ruleset")
    assert at_page.verify(other["certificates"]["active"]) == "good"
    assert "document you pasted" in at_page.text("#checks")
    at_page.fill("{", "#jwks")
    assert at_page.verify(other["certificates"]["active"]) == "unreadable"
    assert "public keys are not valid JSON" in at_page.text("#verdict")


def test_links(chromium: Browser, given: Given, at_page: Browser, address: str) -> None:
    chromium.open(f"{address}#c={given.certificates['active']}")
    assert chromium.verdict() == "good"
    chromium.verify(given.altered("/totals/net", 1))
    link = chromium.run("return document.getElementById('link').href")
    assert "#o=" in link
    chromium.open(link)
    assert chromium.verdict() == "bad"
    chromium.open(f"{address}#o=!!")
    assert chromium.verdict() == "unreadable"


def test_language(at_page: Browser, address: str, given: Given) -> None:
    unfinished = '{"status": "settled"'
    assert at_page.verify(unfinished) == "unreadable"
    at_page.click("[data-language=ru]")
    assert at_page.text("h1") == "Проверка раунда"
    assert "неполон" in at_page.text("#verdict")
    assert at_page.run("return [document.documentElement.lang, document.getElementById('input').value]") == [
        "ru",
        unfinished,
    ]
    at_page.speak("ru-RU")
    at_page.open(address)
    assert at_page.verify(given.altered("/totals/net", 1)) == "bad"
    assert "Итоги › итог: в исходе указано 1" in at_page.text("#verdict")


def test_keyboard(at_page: Browser, given: Given) -> None:
    at_page.verify(given.certificates["active"])
    at_page.run("document.activeElement.blur()")
    count = at_page.run("return Number(document.getElementById('step').max)")
    assert at_page.text("#caption .count") == f"Step {count} of {count}"
    titles = []
    at_page.press("left")
    assert at_page.text("#caption .count") == f"Step {count - 1} of {count}"
    at_page.run("document.getElementById('step-last').focus()")
    at_page.press("home")
    for _ in range(count):
        titles.append(at_page.text("#caption h3"))
        at_page.press("right")
    assert titles[:3] == ["The seeds", "The shuffle", "The deal"]
    assert titles[3].startswith("Box 2 buys a sixth card")
    assert titles[-2].startswith("The dealer discards")
    assert titles[-1] == "Settlement"
    at_page.press("left", "left", "end")
    assert at_page.text("#caption h3") == "Settlement"
    assert at_page.run("return document.activeElement.id") == "step-last"


def test_order_of_focus(at_page: Browser, given: Given) -> None:
    at_page.verify(given.certificates["active"])
    at_page.run("document.querySelector('[data-language]').focus()")
    order = []
    for _ in range(11):
        order.append(at_page.run(_FOCUSED))
        at_page.press("tab")
    names = "en ru input SUMMARY verify choose example clear step-first step-back step"
    assert [name for name, _ in order] == names.split()
    assert all(outline != "none" for _, outline in order[1:])
    assert at_page.run("return document.getElementById('verdict').getAttribute('aria-live')") == "polite"


_FOCUSED = """
    const on = document.activeElement;
    return [on.id || on.dataset.language || on.tagName, getComputedStyle(on).outlineStyle];
"""


@pytest.mark.parametrize("language", ["en-US", "ru-RU"])
def test_narrow_screen(at_page: Browser, given: Given, address: str, language: str) -> None:
    at_page.resize(360, 740)
    at_page.speak(language)
    at_page.open(address)
    for text in (given.certificates["active"], given.altered("/boxes/1/bets/1/returned", 10**12)):
        at_page.verify(text)
        assert at_page.run(_TOO_WIDE, 360) == []


# At every step, with everything unfolded: what reaches beyond the width, but for what scrolls by itself.
_TOO_WIDE = """
    for (const more of document.querySelectorAll("details")) more.open = true;
    const [width, step, found] = [arguments[0], document.getElementById("step"), []];
    for (step.value = 1; ; step.value = Number(step.value) + 1) {
        step.dispatchEvent(new Event("input"));
        const inside = ".scroll *, #difference-list *";
        const nodes = [...document.querySelectorAll("body *")].filter((node) => !node.matches(inside));
        const wide = nodes.filter((node) => node.getBoundingClientRect().right > width + 0.5);
        found.push(...wide.map((node) => `${step.value}: ${node.outerHTML.slice(0, 80)}`));
        if (document.documentElement.scrollWidth > width) found.push(`${step.value}: the page`);
        if (step.value === step.max) return found;
    }
"""


def test_files_pasting_example_and_clearing(at_page: Browser, given: Given, tmp_path: Path) -> None:
    file = tmp_path / "outcome.json"
    file.write_text(json.dumps(given.outcome), encoding="utf-8")
    at_page.type("#file", str(file))
    assert at_page.verdict() == "good"
    at_page.click("#clear")
    assert at_page.text("#verdict") == ""
    assert at_page.run("return document.getElementById('round').hidden")
    at_page.click("#example")
    assert at_page.verdict() == "computed"
    at_page.click("#clear")
    at_page.fill(given.certificates["revoked"])
    at_page.run("document.getElementById('input').dispatchEvent(new Event('paste'))")
    assert at_page.verdict() == "bad"


def test_without_ed25519(at_page: Browser, given: Given, address: str) -> None:
    refuse = "SubtleCrypto.prototype.importKey = () => Promise.reject(new Error('no Ed25519'))"
    script = f"if (globalThis.SubtleCrypto) {refuse}"
    added = at_page.devtools("Page.addScriptToEvaluateOnNewDocument", source=script)
    at_page.open(address)
    assert at_page.verify(given.certificates["active"]) == "partial"
    assert "cannot check Ed25519" in at_page.text("#verdict")
    at_page.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


def test_what_was_given_stays_text(at_page: Browser, given: Given) -> None:
    at_page.verify(json.dumps(given.outcome))
    assert at_page.run("return document.querySelectorAll('img, script').length") == 2
    assert "<img src=x onerror=alert(1)>" in at_page.text("#felt")


def test_policy_forbids_sending(chromium: Browser, address: str) -> None:
    chromium.open(address)
    assert chromium.run("return fetch('/elsewhere').then(() => 'sent', () => 'blocked')") == "blocked"
    assert chromium.complaints() != []
