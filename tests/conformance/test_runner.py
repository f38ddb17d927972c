"""The runner against deployments of all sorts: ours, another implementation, and what does not work."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from werkzeug.middleware.dispatcher import DispatcherMiddleware
from werkzeug.wrappers import Response

from service import rounds
from service.api import create_app
from service.conformance.client import NoAnswer, Sent
from service.conformance.comparison import Answer
from service.conformance.kits import Kit
from service.conformance.runner import Ask, report_text, run_kit
from service.keys import new_keys
from tests.api.servers import serving_here
from tests.conformance.conftest import run
from tests.conformance.kit import in_process
from tests.conformance.proxy import STRANGE, with_body
from tests.conftest import Tally

Document = dict[str, Any]


def test_a_deployment_conforms_over_a_socket(kit: Kit, tally: Tally) -> None:
    with serving_here(create_app()) as port:
        report = run(kit, f"http://127.0.0.1:{port}")
    assert report["failures"] == []
    assert (report["conforms"], report["failed"], report["asked"]) == (True, 0, len(kit.cases))
    assert sum(count["asked"] for count in report["kinds"].values()) == report["asked"]
    assert all(count["asked"] and not count["failed"] for count in report["kinds"].values())
    tally("conformance: cases passed over a socket", report["asked"])


def test_a_deployment_behind_a_path_and_with_keys_of_its_own(
    kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYS", json.dumps(new_keys()))
    app = create_app()
    app.wsgi_app = DispatcherMiddleware(Response("not here", 404), {"/poker/api": app.wsgi_app})  # type: ignore[method-assign]
    with serving_here(app) as port:
        assert run(kit, f"http://127.0.0.1:{port}/poker/api/")["failures"] == []
        at_the_root = run(kit._replace(cases=kit.cases[:20]), f"http://127.0.0.1:{port}")
    assert at_the_root["failed"] == 20


# Another implementation: another engine, other keys, other words, and members of its own.


@pytest.fixture
def other_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEYS", json.dumps(new_keys()))
    monkeypatch.setitem(rounds.ENGINE, "version", "acme 7")
    monkeypatch.setitem(rounds.ENGINE, "digest", "sha256:" + "a" * 64)


def embellished(monkeypatch: pytest.MonkeyPatch, change: Callable[[Document], None]) -> Ask:
    """An implementation whose outcomes are changed before they are signed, and verified by as much."""
    for name in ("settled_document", "void_document", "voided"):
        original = getattr(rounds, name)

        def other(state: Any, original: Callable[[Any], Document] = original) -> Document:
            document = original(state)
            change(document)
            return document

        monkeypatch.setattr(rounds, name, other)
    return in_process(create_app().test_client())


def reworded(document: Document) -> None:
    document[STRANGE] = {"any": 1}
    for box in document["boxes"]:
        for bet in box["bets"]:
            bet["reason"] = "because"
            bet[STRANGE] = 0


def test_another_implementation_conforms(
    kit: Kit, other_engine: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = embellished(monkeypatch, reworded)

    def ask(sent: Sent) -> Answer:
        answer = ours(sent)
        document = answer.document()
        if ("/rulesets/" in sent.path and answer.status == 200) or "certificate" in document:
            return answer
        if answer.status >= 400:
            document |= {"title": "No", "detail": "No."}
            document["errors"] = [{**error, "detail": "So.", STRANGE: 1} for error in document["errors"]]
        for check in document.get("checks", ()):
            check["detail"] = "So."
        return with_body(answer, json.dumps({**document, STRANGE: [1]}).encode())

    assert run_kit(kit, ask, "acme")["failures"] == []


@pytest.mark.parametrize(
    ("change", "places"),
    [
        (lambda document: document["boxes"][0]["bets"][0].update(odds=1), {"/boxes/0/bets/0/odds"}),
        (lambda document: document.update(reason="so"), {"/reason"}),
        (lambda document: document["boxes"][0]["bets"][0].update(reason=""), {"/boxes/0/bets/0/reason"}),
        (lambda document: document["totals"].update(net=1), {"/totals/net"}),
        (lambda document: document["boxes"].reverse(), None),
        (lambda document: document.pop("totals"), {"/totals"}),
    ],
)
def test_a_certificate_makes_nothing_right(
    change: Callable[[Document], None],
    places: set[str] | None,
    kit: Kit,
    other_engine: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settled = kit._replace(cases=[case for case in kit.cases if case.kind in ("keys", "round")])
    failures = run_kit(settled, embellished(monkeypatch, change), "acme")["failures"]
    assert len(failures) > 40
    for failure in failures:
        named = {one["place"] for one in failure["differences"]} - {"/outcome_id", "/request_digest"}
        assert named == places if places else all(place.startswith("/boxes/") for place in named)


# What is no answer to a case.


def test_answers_that_are_no_json(kit: Kit) -> None:
    page = Answer(200, {"content-type": "text/html"}, b"<html>Welcome</html>")
    report = run_kit(kit, lambda sent: page, "here")
    assert report["asked"] == report["failed"] == len(kit.cases)
    first, *_ = report["failures"]
    assert {"place": "Content-Type", "expected": "application/json", "got": "text/html"} in first[
        "differences"
    ]
    (body,) = (one for one in first["differences"] if one["place"] == "")
    assert "Welcome" in body["got"]
    needing = next(one for one in report["failures"] if one["id"] == "verdict/claim")
    assert needing["differences"][0]["got"].startswith("not asked: an earlier answer lacks the part needed")


def test_an_answer_nested_without_end_is_told_too(kit: Kit) -> None:
    deep = Answer(200, {}, b"[" * 1000 + b"]" * 1000)
    report = run_kit(kit._replace(cases=kit.cases[:2]), lambda sent: deep, "here")
    assert "nested more than 32 deep" in report_text(report)


def test_some_unanswered_cases_are_no_end_but_three_in_a_row_are(kit: Kit) -> None:
    ours = in_process(create_app().test_client())

    def failing(*numbers: int) -> Document:
        count = iter(range(1, 1000))

        def ask(sent: Sent) -> Answer:
            if next(count) in numbers:
                raise NoAnswer("the line is dead")
            return ours(sent)

        return run_kit(kit._replace(cases=kit.cases[:20]), ask, "here")

    assert failing(5, 6, 8, 9)["asked"] == 20
    assert failing(5, 6, 8, 9)["failed"] == 4
    assert failing(5, 6, 7)["asked"] == 7
    assert failing(1)["asked"] == 1


# The report.


def test_a_report_shows_every_difference_to_programs_and_twenty_to_people(kit: Kit) -> None:
    ours = in_process(create_app().test_client())
    case = next(case for case in kit.cases if case.kind == "deck")

    def ask(sent: Sent) -> Answer:
        answer = ours(sent)
        document = answer.document()
        return with_body(answer, json.dumps({**document, "deck": document["deck"][::-1]}).encode())

    report = run_kit(kit._replace(cases=[case]), ask, "http://poker.example")
    (failure,) = report["failures"]
    assert failure["id"] == case.id
    assert [one["place"] for one in failure["differences"]] == [f"/deck/{place}" for place in range(52)]
    text = report_text(report)
    assert text.startswith(
        f"kit 1 against http://poker.example\n\n"
        f"FAILED {case.id} (R1, R2, R3, R4, R5): POST /v1/fairness/deck\n"
        f'  /deck/0\n    expected "8c"\n    got      "Js"\n'
    )
    assert text.count("expected") == 20
    assert "  and 32 more; --json shows all\n" in text
    assert text.endswith("\nIt does not conform.\n")


def test_a_report_tells_what_is_missing_and_cuts_what_is_long(kit: Kit) -> None:
    ours = in_process(create_app().test_client())
    case = next(case for case in kit.cases if case.kind == "hand")

    def ask(sent: Sent) -> Answer:
        document = ours(sent).document()
        del document["odds"]
        return with_body(ours(sent), json.dumps({**document, "main": "x" * 500}).encode())

    report = run_kit(kit._replace(cases=[case]), ask, "here")
    differences = {one["place"]: one for one in report["failures"][0]["differences"]}
    assert "got" not in differences["/odds"]
    assert "    got      nothing\n" in report_text(report)
    assert len(differences["/main"]["got"]) == 500
    assert max(map(len, report_text(report).splitlines())) < 230


def test_a_refusal_where_none_was_expected_is_told(kit: Kit) -> None:
    ours = in_process(create_app().test_client())
    case = next(case for case in kit.cases if case.kind == "hand")
    report = run_kit(
        kit._replace(cases=[case]), lambda sent: ours(sent._replace(path="/v1/rounds/settle")), "here"
    )
    (difference,) = report["failures"][0]["differences"]
    assert (difference["place"], difference["expected"]) == ("status", 200)
    assert difference["got"].startswith("422 /problems/invalid-request: ")


def test_progress_is_told_case_by_case(kit: Kit) -> None:
    told: list[tuple[int, int]] = []
    small = kit._replace(cases=kit.cases[:5])
    run_kit(small, in_process(create_app().test_client()), "here", lambda *numbers: told.append(numbers))
    assert told == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]
