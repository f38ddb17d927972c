"""The runner fails on every planted defect and names its very place: one change of an answer at a time."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from service.api import create_app
from service.api.problems import PROBLEM_TYPES
from service.cli import main
from service.conformance.client import Sent
from service.conformance.comparison import Answer
from service.conformance.kits import Case, Document, Kit
from service.conformance.pointers import matcher, replaced, resolve
from service.conformance.runner import run_kit
from tests.api.servers import serving_here
from tests.conformance.kit import FILE
from tests.conformance.proxy import STRANGE, Defect, defects, proxy, with_body
from tests.conftest import Tally

CERTIFIED = {"round", "certificate", "void"}
CLOSED = {"ruleset"}
FREE = {
    "version": {"/service", "/version", "/engine/version", "/engine/digest", "/notice"},
    "seed": {"/server_seed", "/sealed_seed", "/commitment"},
    "verdict": {"/checks/*/detail", "/differences/*/computed"},
    "refusal": {"/title", "/detail", "/errors/*/detail"},
}
"""Where another text may stand in an answer. In an outcome nothing may: its certificate vouches for all."""


def samples(kit: Kit, answers: dict[str, Answer]) -> Iterator[Case]:
    """Of those alike in kind, operation, status, problem and freedom the first and the median in length."""
    alike: defaultdict[Any, list[Case]] = defaultdict(list)
    for case in kit.cases:
        if case.kind != "keys":
            problem = answers[case.id].document().get("type") if case.kind == "refusal" else None
            operation = "/v1/rulesets" if case.kind == "ruleset" else case.request.path
            how = case.kind, operation, case.answer.status, problem, bool(case.answer.free)
            alike[how].append(case)
    for cases in alike.values():
        by_length = sorted(cases, key=lambda case: len(answers[case.id].body))
        yield from {case.id: case for case in (cases[0], by_length[len(cases) // 2])}.values()


def needed(kit: Kit, case: Case) -> list[Case]:
    """The earlier cases without which a case cannot be asked, the keys to check them with, and itself."""
    ids = {put["from"]["case"] for put in (*case.request.put, *case.answer.put) if "from" in put}
    cases = [*(one for one in kit.cases if one.id in ids), case]
    certified = any(one.kind in CERTIFIED for one in cases)
    return [*(one for one in kit.cases if one.kind == "keys" and certified), *cases]


def asking(kit: Kit, case: Case, answers: dict[str, Answer]) -> Callable[[Answer], list[str]]:
    """Gives the places that the runner names when a case gets another answer and all others their own."""
    small = kit._replace(cases=needed(kit, case))
    own = [answers[one.id] for one in small.cases[:-1]]

    def places(altered: Answer) -> list[str]:
        given = iter([*own, altered])
        report = run_kit(small, lambda sent: next(given), "here")
        assert [failure["id"] for failure in report["failures"]] in ([], [case.id])
        return [one["place"] for failure in report["failures"] for one in failure["differences"]]

    return places


def may_pass(case: Case, defect: Defect) -> str | None:
    """The declared freedom that a defect makes use of, if it does."""
    place = defect.within[0]
    if case.kind in CERTIFIED:
        return None
    if place.endswith(f"/{STRANGE}"):
        return None if case.kind in CLOSED else "added members"
    return next((one for one in FREE.get(case.kind, ()) if matcher(one)(place)), None)


def test_every_defect_is_found_where_it_is(kit: Kit, answers: dict[str, Answer], tally: Tally) -> None:
    passed: defaultdict[str, set[str]] = defaultdict(set)
    for case in samples(kit, answers):
        found, places = 0, asking(kit, case, answers)
        for defect in defects(answers[case.id]):
            named = places(defect.answer)
            freedom = may_pass(case, defect)
            if not named and freedom:
                passed[case.kind].add(freedom)
            else:
                assert defect.explains(named), f"{case.id}: {defect.name}: {named[:5]}"
                found += 1
        assert found > 10
        tally(f"conformance: planted defects found in answers of kind {case.kind}", found)
    assert passed == {
        kind: FREE.get(kind, set()) | {"added members"}
        for kind in kit.kinds.keys() - CERTIFIED - CLOSED - {"keys"}
    }


def test_the_samples_are_of_every_kind_and_operation(kit: Kit, answers: dict[str, Answer]) -> None:
    sampled = list(samples(kit, answers))
    assert {case.kind for case in sampled} == kit.kinds.keys() - {"keys"}
    asked = {case.request.path for case in kit.cases if case.kind not in ("keys", "ruleset")}
    assert {case.request.path for case in sampled} >= asked
    problems = {answers[case.id].document()["type"] for case in sampled if case.kind == "refusal"}
    elsewhere = {"bad-request", "length-required", "internal-error", "integrity-lost"}
    assert problems == {f"/problems/{slug}" for slug in PROBLEM_TYPES.keys() - elsewhere}


def test_a_member_whose_absence_tells_something_may_not_be_added(
    kit: Kit, answers: dict[str, Answer], tally: Tally
) -> None:
    added = Counter[str]()
    for case in samples(kit, answers):
        document, places = answers[case.id].document(), asking(kit, case, answers)
        for pattern in kit.kinds[case.kind].telling:
            for place in _absent(document, pattern.split("/")[1:], ""):
                altered = with_body(answers[case.id], json.dumps(replaced(document, place, "x")).encode())
                assert places(altered) == [place], case.id
                added[case.kind] += 1
    tally("conformance: members added though their absence tells something", added.total())
    assert added.keys() == {kind for kind, rules in kit.kinds.items() if rules.telling}


def _absent(value: Any, steps: list[str], at: str) -> Iterator[str]:
    """Places that fit a pattern, where the document has the object and not the member."""
    step, rest = steps[0], steps[1:]
    if isinstance(value, list) and step == "*" and rest:
        for place, inner in enumerate(value):
            yield from _absent(inner, rest, f"{at}/{place}")
    elif isinstance(value, dict) and step == "**":
        yield f"{at}/{STRANGE}"
    elif isinstance(value, dict) and rest:
        if step in value:
            yield from _absent(value[step], rest, f"{at}/{step}")
    elif isinstance(value, dict) and step not in value:
        yield f"{at}/{step}"


def test_other_keys_than_those_published_are_found(kit: Kit, answers: dict[str, Answer]) -> None:
    case = next(case for case in kit.cases if case.kind == "round")
    (keys,) = (case for case in kit.cases if case.kind == "keys")
    published = answers[keys.id].document()

    def report(document: Any) -> dict[str, list[str]]:
        given = iter([with_body(answers[keys.id], json.dumps(document).encode()), answers[case.id]])
        told = run_kit(kit._replace(cases=[keys, case]), lambda sent: next(given), "here")
        return {one["id"]: [two["place"] for two in one["differences"]] for one in told["failures"]}

    (key,) = published["keys"]
    assert report(published) == {}
    assert report({"keys": [{**key, "more": 1}], "more": 1}) == {}
    assert report({"keys": []}) == {case.id: ["/certificate"]}
    wrong: list[Any] = [{}, {"keys": None}, {"keys": [None]}, {"keys": [{**key, "x": key["x"][::-1]}]}]
    for document in wrong:
        assert report(document) == {keys.id: ["/keys"], case.id: ["/certificate"]}
    assert report([]) == {keys.id: ["", "/keys"], case.id: ["/certificate"]}
    assert report({"keys": [{**key, "status": "revoked", "reason": "stolen"}]}) == {case.id: ["/certificate"]}


# A proxy between the command and a server, which alters one field of one answer.


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving_here(create_app()) as port:
        yield port


@pytest.fixture(scope="module")
def small_kit(kit: Kit, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kit of some cases of each kind, in a file."""
    document = json.loads(FILE.read_text(encoding="utf-8"))
    chosen = {case.id for kind in kit.kinds for case in [one for one in kit.cases if one.kind == kind][:3]}
    chosen |= {one.id for case in kit.cases if case.id in chosen for one in needed(kit, case)}
    document["cases"] = [case for case in document["cases"] if case["id"] in chosen]
    path = tmp_path_factory.mktemp("kit") / "kit.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def _in_body(pointer: str, change: Callable[[Any], Any]) -> Callable[[Answer], Answer]:
    def altered(answer: Answer) -> Answer:
        document = answer.document()
        value = change(resolve(document, pointer))
        return with_body(answer, json.dumps(replaced(document, pointer, value)).encode())

    return altered


def _in_head(name: str, value: str) -> Callable[[Answer], Answer]:
    return lambda answer: answer._replace(headers={**answer.headers, name: value})


@pytest.mark.parametrize(
    ("kind", "place", "alter"),
    [
        ("health", "/status", _in_body("/status", lambda text: text + "?")),
        ("version", "/rulesets/online-1", _in_body("/rulesets/online-1", lambda text: text[::-1])),
        ("ruleset", "ETag", _in_head("etag", '"another"')),
        ("ruleset", "/bet/odds/flush/value", _in_body("/bet/odds/flush/value", lambda odds: odds + 1)),
        ("hand", "/has_game", _in_body("/has_game", lambda flag: not flag)),
        ("deck", "/draws/3/j", _in_body("/draws/3/j", lambda number: number - 1)),
        ("seed", "/commitment", _in_body("/commitment", lambda text: None)),
        (
            "round",
            "/boxes/0/bets/0/returned",
            _in_body("/boxes/0/bets/0/returned", lambda amount: amount + 1),
        ),
        ("round", "/boxes/0/bets/0/reason", _in_body("/boxes/0/bets/0/reason", lambda text: text + "!")),
        ("certificate", "/certificate", _in_body("/certificate", lambda text: text[:-9] + "A" * 9)),
        ("void", "Content-Digest", _in_head("content-digest", "sha-256=:AAAA:")),
        ("view", "Content-Type", _in_head("content-type", "text/plain")),
        ("verdict", "/valid", _in_body("/valid", lambda flag: not flag)),
        ("refusal", "status", lambda answer: answer._replace(status=409)),
        ("refusal", "/type", _in_body("/type", lambda text: text.upper())),
    ],
)
def test_a_proxy_that_alters_one_field(
    kind: str,
    place: str,
    alter: Callable[[Answer], Answer],
    port: int,
    small_kit: Path,
    kit: Kit,
    capfd: pytest.CaptureFixture[str],
) -> None:
    # The last of its kind: no later case takes a part of its answer.
    cases: list[Document] = json.loads(small_kit.read_text(encoding="utf-8"))["cases"]
    target = [number for number, case in enumerate(cases) if case["kind"] == kind][-1]
    asked = iter(range(len(cases)))

    def altered(sent: Sent, answer: Answer) -> Answer:
        return alter(answer) if next(asked) == target else answer

    with proxy(port, altered) as own:
        status = main(["conformance", f"http://127.0.0.1:{own}", "--kit", str(small_kit), "--json"])
    report = json.loads(capfd.readouterr().out)
    assert (status, report["conforms"], report["asked"], report["failed"]) == (1, False, len(cases), 1)
    (failure,) = report["failures"]
    assert failure["id"] == cases[target]["id"]
    assert [one["place"] for one in failure["differences"]] == [place]
    assert set(failure["differences"][0]) == {"place", "expected", "got"}


def test_a_proxy_that_alters_nothing(port: int, small_kit: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with proxy(port, lambda sent, answer: answer) as own:
        assert main(["conformance", f"http://127.0.0.1:{own}/", "--kit", str(small_kit)]) == 0
    out = capfd.readouterr().out
    assert out.startswith(f"kit 1 against http://127.0.0.1:{own}\n")
    assert out.endswith("It conforms.\n")
