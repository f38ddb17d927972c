"""The page in a real Chromium, as a real server serves it and as a saved copy."""

import base64
import copy
import hashlib
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from service.api.verify import page
from tests.api.servers import ROOT, SERVE, Server, serving
from tests.verifier.browser import Browser, browser, missing
from tests.verifier.random_rounds import Json, unsigned
from tests.verifier.specimens import REASON, REQUEST, REQUESTS, SEED, specimens

pytestmark = pytest.mark.skipif(missing() is not None, reason=f"{missing()} is not installed")
PORT_OF_ITS_OWN = [*SERVE, "--port", "0"]


class Given:
    """What the service answered and what was forged from it."""

    def __init__(self, node: Callable[..., Any]) -> None:
        made = specimens()
        self.keys: Json = made["keys"]
        self.outcomes: dict[str, Json] = {**made["outcomes"], **made["by_status"]}
        self.plain = self.outcomes["plain"]
        forged = node("forged.mjs", given=json.dumps(self.plain))
        self.forged_jwks: Json = forged["jwks"]
        self.certificates: dict[str, str] = {
            **{name: outcome["certificate"] for name, outcome in self.outcomes.items()},
            **forged["certificates"],
        }

    def altered(self, pointer: str, value: Any, name: str = "plain") -> str:
        """The outcome with one place changed, without its certificate."""
        outcome = copy.deepcopy(unsigned(self.outcomes[name]))
        holder: Any = outcome
        *way, last = [int(part) if part.isdigit() else part for part in pointer.split("/")[1:]]
        for part in way:
            holder = holder[part]
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
def server(given: Given, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A real server with the keys of the outcomes given."""
    with serving(tmp_path_factory.mktemp("server"), PORT_OF_ITS_OWN, KEYS=json.dumps(given.keys)) as running:
        yield running


@pytest.fixture(scope="module")
def address(server: Server) -> str:
    return address_of(server)


def address_of(server: Server) -> str:
    return f"http://127.0.0.1:{server.port}/verify"


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


# The page as it is served.


def test_is_one_script_one_style_and_one_block_of_data(server: Server) -> None:
    text = server.ask("/verify").body.decode()
    assert text.count("<script") == text.count("</script>") == 2
    assert text.count("<style") == 1
    assert " style=" not in text.split("<script")[0]
    assert " onclick=" not in text
    assert re.findall(r"\{\{[A-Z]+\}\}|/\*[A-Z]+\*/|^import ", text, re.MULTILINE) == []


def test_its_policy_admits_its_own_script_and_style_alone(server: Server) -> None:
    answer = server.ask("/verify")
    text, policy = answer.body.decode(), answer.headers["content-security-policy"]
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules.pop("frame-ancestors") == "'none'"  # which only a header can say
    stated = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', text)
    assert stated
    assert dict(rule.split(" ", 1) for rule in stated[1].split("; ")) == rules
    inside = {"script": r'<script type="module">(.*?)</script>', "style": r"<style>(.*?)</style>"}
    for name, pattern in inside.items():
        (found,) = re.findall(pattern, text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(found.encode()).digest()).decode()
        assert rules.pop(f"{name}-src") == f"'sha256-{digest}'"
    assert rules == {
        "default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'",
    }  # fmt: skip


def test_a_ruleset_cannot_break_out_of_its_block() -> None:
    body, _ = page({"x-1": {"title": "</script><script>alert(1)</script>{{CSP}}/*JS*/"}}, {"keys": []})
    assert body.decode().count("</script>") == 2
    assert "{{CSP}}/*JS*/" in body.decode()


def test_policy_forbids_sending(chromium: Browser, address: str) -> None:
    chromium.open(address)
    assert chromium.run("return fetch('/elsewhere').then(() => 'sent', () => 'blocked')") == "blocked"
    assert chromium.complaints() != []


def test_from_settling_to_the_link(at_page: Browser, server: Server, address: str) -> None:
    outcome = server.ask("/v1/rounds/settle", REQUEST).json()
    at_page.open(f"{address}#c={outcome['certificate']}")
    assert at_page.verdict() == "good"
    assert at_page.text("#verdict h2") == "Correct and signed"
    assert at_page.text("#verdict .notice") == ""
    checks = at_page.run(
        "return [...document.querySelectorAll('#check-list .mark')].map((mark) => mark.className)"
    )
    assert len(checks) >= 14
    assert set(checks[:-1]) == {"mark ok"}
    assert checks[-1] == "mark said"  # the engine
    assert at_page.run("return document.querySelectorAll('.seat').length") == 5
    assert at_page.run("return document.querySelectorAll('.felt .cards svg').length") == 5 + 5 + 6 + 5 + 5
    assert f"{outcome['totals']['staked']:,}" in at_page.text(".sums")


def test_saved_to_disk(chromium: Browser, given: Given, server: Server, tmp_path: Path) -> None:
    saved = tmp_path / "verify.html"
    saved.write_bytes(server.ask("/verify").body)
    chromium.complaints(), chromium.requests()
    chromium.open(saved.as_uri() + "#c=" + given.certificates["plain"])
    assert chromium.verdict() == "good"
    assert "fits the key" in chromium.text("#checks")
    # A link to the documentation would lead nowhere.
    assert not chromium.run("return document.getElementById('docs').checkVisibility()")
    assert chromium.complaints() == []
    assert [url for url in chromium.requests() if not url.startswith(saved.as_uri())] == []


def test_links(chromium: Browser, given: Given, at_page: Browser, address: str) -> None:
    chromium.verify(given.altered("/totals/net", 1))
    link = chromium.run("return document.getElementById('link').href")
    assert "#o=" in link
    chromium.open(link)
    assert chromium.verdict() == "bad"
    chromium.open(f"{address}#o=!!")
    assert chromium.verdict() == "unreadable"


# Signatures.


@pytest.mark.parametrize(
    ("name", "verdict", "words"),
    [
        ("retired", "good", "Correct and signed"),
        ("next", "good", "not yet due to sign"),
        ("revoked", "bad", f"was revoked: {REASON}"),
        ("forged", "bad", "signature is forged"),
        ("altered", "bad", "Totals › returned"),
        ("stranger", "bad", "not among the public keys"),
        ("development", "bad", "not among the public keys"),
        ("wrong_alg", "bad", "HS256"),
        ("truncated", "unreadable", "cut off"),
    ],
)
def test_certificates(at_page: Browser, given: Given, name: str, verdict: str, words: str) -> None:
    assert at_page.verify(given.certificates[name]) == verdict
    assert words in at_page.text("#verdict")


def test_certificate_of_another_outcome(at_page: Browser, given: Given) -> None:
    """What is shown is the outcome; the certificate beside it vouches for another one."""
    shown = json.loads(given.altered("/boxes/1/bets/1/returned", 12_345))
    assert at_page.verify(json.dumps({**shown, "certificate": given.certificates["plain"]})) == "bad"
    verdict = at_page.text("#verdict")
    assert at_page.text("#verdict h2") == "The certificate vouches for another outcome"
    assert "is not the one that was signed" in verdict
    assert "Box 2 › stake bet › returned: the outcome says 12,345, but what was signed says 1,000." in verdict
    assert "/boxes/1/bets/1/returned" in verdict


def test_development_key(chromium: Browser, tmp_path: Path) -> None:
    with serving(tmp_path / "server", PORT_OF_ITS_OWN) as server:
        certificate = server.ask("/v1/rounds/settle", REQUEST).json()["certificate"]
        void = server.ask("/v1/rounds/void", REQUESTS["void"]).json()["certificate"]
        chromium.speak("en-US")
        chromium.open(f"{address_of(server)}#c={certificate}")
        assert chromium.verdict() == "good"
        assert chromium.text("#verdict h2") == "Correct"
        assert "no proof of who signed" in chromium.text("#verdict .notice")
        assert chromium.run("return document.querySelectorAll('.bad, .is-bad').length") == 0
        assert chromium.verify(void) == "unproven"
        assert "no proof of who signed" in chromium.text("#verdict .notice")


def test_keys_of_the_command_line(chromium: Browser, tmp_path: Path) -> None:
    """Two certificates: of a key that is rotated out and revoked afterwards, and of its successor."""
    file = tmp_path / "keys.json"

    def russian_poker(*arguments: str, given: str = "") -> str:
        command = [sys.executable, "-m", "service.cli", *arguments]
        environment = {**os.environ, "KEYS_FILE": str(file)}
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            input=given,
            check=True,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )
        return done.stdout

    file.write_text(russian_poker("keys", "new"))
    before = json.loads(russian_poker("settle", "-", given=json.dumps(REQUEST)))["certificate"]
    kid = next(key["kid"] for key in json.loads(file.read_text())["keys"] if key["kty"] == "OKP")
    file.write_text(russian_poker("keys", "rotate", str(file)))
    file.write_text(russian_poker("keys", "revoke", str(file), kid, "copied from a backup"))
    chromium.speak("en-US")
    with serving(tmp_path / "server", PORT_OF_ITS_OWN, KEYS_FILE=str(file)) as server:
        after = server.ask("/v1/rounds/settle", REQUEST).json()["certificate"]
        chromium.open(f"{address_of(server)}#c={after}")
        assert chromium.verdict() == "good"
        assert "is published and active" in chromium.text("#checks")
        assert chromium.verify(before) == "bad"
        assert f"The key {kid} was revoked: copied from a backup" in chromium.text("#verdict")


def test_without_ed25519(at_page: Browser, given: Given, address: str) -> None:
    refuse = "SubtleCrypto.prototype.importKey = () => Promise.reject(new Error('no Ed25519'))"
    script = f"if (globalThis.SubtleCrypto) {refuse}"
    added = at_page.devtools("Page.addScriptToEvaluateOnNewDocument", source=script)
    at_page.open(address)
    assert at_page.verify(given.certificates["plain"]) == "partial"
    assert "cannot check Ed25519" in at_page.text("#verdict")
    at_page.devtools("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])


# Outcomes and requests.


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


def test_outcome_that_nobody_signed(at_page: Browser, given: Given) -> None:
    assert at_page.verify(given.altered("/status", "settled")) == "good"
    assert at_page.text("#verdict h2") == "Correct"
    assert at_page.text("#verdict .notice strong") == "Not signed"


def test_beacon_stands_with_the_seeds(at_page: Browser, given: Given) -> None:
    assert at_page.verify(given.certificates["beacon"]) == "good"
    at_page.click("#step-first")
    seeds, deal = at_page.text("#felt"), given.outcomes["beacon"]["deal"]
    for value in (*deal["beacon"].values(), deal["shuffle_seed"], deal["commitment"], SEED):
        assert value in seeds
    assert "example-beacon/4711" in at_page.text("#checks")
    assert at_page.verify(given.altered("/deal/shuffle_seed", "lucky", "beacon")) == "bad"
    at_page.click("#step-first")
    assert at_page.text("#felt .claim") == "claimed: lucky"


def test_void_round(at_page: Browser, given: Given) -> None:
    assert at_page.verify(given.certificates["void"]) == "void"
    assert "operator declared the round void" in at_page.text("#verdict")
    assert "power cut" in at_page.text("#checks")
    assert at_page.run("return document.querySelectorAll('.felt .cards').length") == 0
    at_page.fill(SEED, "#seed")
    assert at_page.verify(given.certificates["void"]) == "void"
    assert at_page.run("return document.querySelectorAll('.felt .cards').length") == 5
    at_page.fill("", "#seed")
    unsigned = given.altered("/reason", "power cut", "void")
    assert at_page.verify(unsigned) == "unproven"
    assert at_page.text("#verdict h2") == "A void round that proves nothing"
    assert at_page.verify(given.altered("/boxes/0/bets/0/returned", 0, "void")) == "bad"
    kept = "Box 1 › stake ante › returned: the outcome says 0, but it must be 100."
    assert kept in at_page.text("#verdict")


def test_request_shows_what_the_outcome_must_be(at_page: Browser) -> None:
    assert at_page.verify(json.dumps(REQUEST)) == "computed"
    assert at_page.verify(json.dumps({**REQUEST, "actions": REQUEST["actions"][:-1]})) == "bad"
    legal = "box 4 has still to choose. Legal now: take the ante, buy the dealer a game"
    assert legal in at_page.text("#verdict")
    assert at_page.run("return document.querySelectorAll('.seat').length") == 5
    assert at_page.verify(json.dumps(REQUESTS["void"])) == "computed"


def test_seed_entered_later(at_page: Browser, given: Given) -> None:
    hidden = given.certificates["hidden"]
    assert at_page.verify(hidden) == "partial"
    at_page.click("#step-first")
    assert "not revealed" in at_page.text("#felt")
    at_page.fill(SEED, "#seed")
    assert at_page.verify(hidden) == "good"
    at_page.fill("12" * 32, "#seed")
    assert at_page.verify(hidden) == "bad"
    assert "does not match the commitment" in at_page.text("#verdict")


def test_ruleset_and_keys_pasted(at_page: Browser, given: Given, server: Server) -> None:
    certificate = given.certificates["well_signed"]
    assert at_page.verify(certificate) == "bad"
    at_page.fill(json.dumps(given.forged_jwks), "#jwks")
    at_page.fill(server.ask("/v1/rulesets/casino-1").body.decode(), "#ruleset")
    assert at_page.verify(certificate) == "good"
    assert "document you pasted" in at_page.text("#checks")
    for name, verdict in (("not_canonical", "not canonical"), ("wrong_header", "see crit")):
        assert at_page.verify(given.certificates[name]) == "bad"
        assert verdict in at_page.text("#verdict")
    at_page.fill("{", "#jwks")
    assert at_page.verify(certificate) == "unreadable"
    assert "public keys are not valid JSON" in at_page.text("#verdict")


# The page in the hands of a person.


def test_language(at_page: Browser, address: str, given: Given) -> None:
    unfinished = '{"status": "settled"'
    assert at_page.verify(unfinished) == "unreadable"
    at_page.click("[data-language=ru]")
    assert at_page.text("h1") == "Проверка раунда"
    assert at_page.text("#docs") == "Документация"
    assert "неполон" in at_page.text("#verdict")
    state = "return [document.documentElement.lang, document.getElementById('input').value]"
    assert at_page.run(state) == ["ru", unfinished]
    at_page.speak("ru-RU")
    at_page.open(address)
    assert at_page.verify(given.altered("/totals/net", 1)) == "bad"
    assert "Итоги › итог: в исходе указано 1" in at_page.text("#verdict")


def test_keyboard(at_page: Browser, given: Given) -> None:
    at_page.verify(given.certificates["plain"])
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
    at_page.verify(given.certificates["plain"])
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
    texts = (
        given.certificates["plain"], given.certificates["beacon"], given.certificates["void"],
        given.altered("/boxes/1/bets/1/returned", 10**12),
    )  # fmt: skip
    for text in texts:
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
    file.write_text(json.dumps(given.plain), encoding="utf-8")
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


def test_what_was_given_stays_text(at_page: Browser, given: Given) -> None:
    at_page.verify(json.dumps(given.plain))
    assert at_page.run("return document.querySelectorAll('img, script').length") == 2
    assert "<img src=x onerror=alert(1)>" in at_page.text("#felt")
