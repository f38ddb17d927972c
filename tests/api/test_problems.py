"""Refusals: each type can be met, explains itself, and gives away nothing."""

import html
import json
import logging
import re
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from flask import Flask, request
from werkzeug.test import TestResponse

from service import verification
from service.api import create_app, rounds
from service.api.problems import PROBLEM_TYPES
from service.integrity import Integrity
from service.observability.logs import JsonFormatter
from tests.api.calls import (
    JSON,
    ROUNDS,
    SEED,
    SETTLE,
    STEP,
    VERIFY,
    VOID,
    Api,
    Document,
    act,
    is_problem,
    round_body,
)
from tests.support.html import Page

Meeting = Callable[[Api], TestResponse]


def after_a_loss(api: Api, ask: Meeting) -> TestResponse:
    """What is answered while the files that decide outcomes are known not to be those of the release."""
    extensions = api.client.application.extensions
    deployment = extensions["deployment"]
    with TemporaryDirectory() as empty:
        lost = Integrity(lambda _: None, root=Path(empty))
    extensions["deployment"] = deployment._replace(integrity=lost)
    try:
        return ask(api)
    finally:
        extensions["deployment"] = deployment


MEETINGS: dict[str, Meeting] = {
    "malformed-json": lambda api: api.send(SETTLE, b"{"),
    "bad-request": lambda api: api.client.post(
        # The connection ends before the body does.
        SETTLE,
        input_stream=BytesIO(b"{}"),
        content_type=JSON,
        environ_overrides={"CONTENT_LENGTH": "500"},
    ),
    "not-found": lambda api: api.client.get("/v2"),
    "method-not-allowed": lambda api: api.client.get(SETTLE),
    "not-acceptable": lambda api: api.client.get("/v1/rulesets", headers={"Accept": "text/html"}),
    "length-required": lambda api: api.client.post(
        SETTLE, input_stream=BytesIO(b"{}"), content_type=JSON, headers={"Transfer-Encoding": "chunked"}
    ),
    "body-too-large": lambda api: api.send(SETTLE, b" " * 100_000),
    "unsupported-media-type": lambda api: api.client.post(SETTLE, data="x"),
    "invalid-request": lambda api: api.post(SETTLE, {}),
    "unknown-ruleset": lambda api: api.post(SETTLE, round_body("x")),
    "limits": lambda api: api.post(SETTLE, round_body(table={"min_stake": 500})),
    "illegal-action": lambda api: api.post(SETTLE, round_body(actions=act("1 take_ante"))),
    "round-incomplete": lambda api: api.post(SETTLE, round_body(actions=[])),
    "commitment-mismatch": lambda api: api.post(
        SETTLE, round_body(deal={"server_seed": SEED, "commitment": "0" * 64})
    ),
    "sealed-seed": lambda api: api.post(SETTLE, round_body(deal={"sealed_seed": "a.b.c.d.e"})),
    "internal-error": lambda api: api.client.get("/fail"),
    "integrity-lost": lambda api: after_a_loss(api, lambda api: api.post(SETTLE, round_body())),
}


@pytest.fixture
def failing() -> Api:
    """An app with a defect, in one view and in one function that a view calls."""
    app = create_app()
    app.add_url_rule("/fail", view_func=fail)
    return Api(app.test_client())


def fail() -> str:
    raise RuntimeError(f"cannot digest {SEED}, {SEED.upper()} and {request.query_string.decode()}")


def test_there_are_these_types() -> None:
    assert set(PROBLEM_TYPES) == set(MEETINGS)
    statuses = [type.status for type in PROBLEM_TYPES.values()]
    assert statuses == sorted(statuses)
    assert (PROBLEM_TYPES["sealed-seed"].status, PROBLEM_TYPES["integrity-lost"].status) == (422, 503)


def test_no_round_is_answered_after_a_loss_and_nothing_is_ready(api: Api) -> None:
    """The loss is told before anything about the request, well-formed or not."""
    asked: list[Meeting] = [
        lambda api: api.client.get("/readyz"),
        *(lambda api, path=path: api.post(path, {}) for path in ROUNDS),
        *(lambda api, path=path: api.send(path, b"{") for path in ROUNDS),
        lambda api: api.post(VOID, round_body(reason="power cut")),
    ]
    for ask in asked:
        problem = is_problem(after_a_loss(api, ask), "integrity-lost")
        assert problem["errors"] == []
        assert "/v1/integrity" in problem["detail"]
    assert api.client.get("/readyz").status_code == 200, "the app itself has lost nothing"


@pytest.mark.parametrize("path", [SETTLE, STEP, VOID])
def test_a_seal_that_is_none_of_this_service_is_refused(path: str, api: Api) -> None:
    reason = {"reason": "power cut"} if path == VOID else {}
    for sealed in ("x", "a.b.c.d.e", "x" * 1024):
        body = round_body(deal={"sealed_seed": sealed}, **reason)
        assert list(api.faults(path, body, "sealed-seed")) == ["/deal/sealed_seed"]


@pytest.mark.parametrize("slug", PROBLEM_TYPES)
def test_each_type_can_be_met(slug: str, failing: Api) -> None:
    problem = is_problem(MEETINGS[slug](failing), slug)
    assert problem["status"] == PROBLEM_TYPES[slug].status
    assert problem["title"] == PROBLEM_TYPES[slug].title


@pytest.mark.parametrize("slug", PROBLEM_TYPES)
def test_a_type_leads_to_a_page_that_explains_it(slug: str, failing: Api) -> None:
    page = failing.client.get(f"/problems/{slug}")
    assert (page.status_code, page.content_type) == (200, "text/html; charset=utf-8")
    text = " ".join(html.unescape(re.sub("<[^>]+>", " ", page.text)).split())
    type = PROBLEM_TYPES[slug]
    for told in (type.title, type.meaning, type.cause, type.cure, str(type.status), slug):
        assert " ".join(told.split()) in text
    assert "cause" in text.lower()
    assert "cure" in text.lower()
    assert type.title in page.text.partition("<title>")[2].partition("</title>")[0]


def test_the_list_of_types_links_to_each(api: Api) -> None:
    page = api.client.get("/problems")
    assert (page.status_code, page.mimetype) == (200, "text/html")
    for slug in PROBLEM_TYPES:
        assert f'href="/problems/{slug}"' in page.text


@pytest.mark.parametrize("path", ["/problems", *(f"/problems/{slug}" for slug in PROBLEM_TYPES)])
def test_a_page_has_a_strict_policy_and_keeps_it(path: str, api: Api) -> None:
    page = api.client.get(path)
    policy = dict(part.split(maxsplit=1) for part in page.headers["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["base-uri"] == policy["form-action"] == policy["frame-ancestors"] == "'none'"
    assert "unsafe" not in page.headers["Content-Security-Policy"]
    assert "script-src" not in policy
    shown = Page(page.text)
    assert shown.inline == []
    assert not {"script", "iframe", "form", "base", "img"} & set(shown.tags)
    assert shown.links
    for link in shown.links:
        assert link.startswith("/"), "nothing from elsewhere"
        assert not link.startswith("//")
        assert api.client.get(link, buffered=True).status_code == 200


@pytest.mark.parametrize("slug", ["", "nothing", "Malformed-Json", "<script>", "../problems", "x" * 1000])
def test_there_are_no_other_types(slug: str, api: Api) -> None:
    problem = is_problem(api.client.get(f"/problems/{slug}"), "not-found")
    assert len(problem["detail"]) < 300


@pytest.mark.parametrize(
    "path", ["/", "/v1", "/v1/rounds", "/v1/rounds/settle/", "/V1/version", "/%00", "/é"]
)
def test_other_paths_lead_nowhere(path: str, api: Api) -> None:
    for method in ("GET", "POST", "HEAD", "OPTIONS"):
        answer = api.client.open(path, method=method)
        assert answer.status_code == 404
        if method != "HEAD":
            is_problem(answer, "not-found")


# The request's id.


@pytest.mark.parametrize("id", ["a", "A-1.b_2", "7" * 48, "550e8400-e29b-41d4-a716-446655440000"])
@pytest.mark.parametrize("path", ["/livez", "/nowhere", SETTLE, "/problems", "/static/page.css"])
def test_the_callers_id_comes_back(path: str, id: str, api: Api) -> None:
    answer = api.client.get(path, headers={"X-Request-Id": id}, buffered=True)
    assert answer.headers["X-Request-Id"] == id


@pytest.mark.parametrize(
    "id",
    [
        "",
        " ",
        "a b",
        "a/b",
        "ä",
        "x" * 49,
        SEED,
        SEED.upper(),
        'a"b',
        "a,b",
        "a;b",
        "<b>",
        "${jndi:ldap}",
        "%0a",
    ],
)
def test_an_id_that_could_be_anything_is_replaced(id: str, api: Api) -> None:
    answers = [api.client.get("/livez", headers={"X-Request-Id": id}) for _ in range(2)]
    ids = [answer.headers["X-Request-Id"] for answer in answers]
    assert all(re.fullmatch("[0-9a-f]{32}", one) for one in ids)
    assert ids[0] != ids[1]


def test_a_request_without_an_id_gets_one(api: Api) -> None:
    ids = {api.client.get("/livez").headers["X-Request-Id"] for _ in range(50)}
    assert len(ids) == 50


def test_an_answer_has_one_id(failing: Api) -> None:
    for meet in MEETINGS.values():
        assert len(meet(failing).headers.getlist("X-Request-Id")) == 1


# Defects.


def logged(caplog: pytest.LogCaptureFixture) -> list[Document]:
    """The lines that would have been written."""
    lines = [JsonFormatter().format(record) for record in caplog.records]
    return [json.loads(line) for line in lines]


def test_a_defect_is_answered_without_its_reason(failing: Api) -> None:
    answer = failing.client.get("/fail?secret")
    problem = is_problem(answer, "internal-error")
    assert problem["status"] == 500
    assert set(problem) == {"type", "title", "status", "detail", "errors"}
    for leak in (SEED, "digest", "RuntimeError", "Traceback", "secret", "/fail", ".py"):
        assert leak not in answer.text
        assert leak not in str(answer.headers)


def test_a_defect_is_logged_under_the_requests_id_and_without_seeds(
    failing: Api, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        answer = failing.client.get("/fail?x=1", headers={"X-Request-Id": "A-1"})
    assert answer.headers["X-Request-Id"] == "A-1"
    lines = logged(caplog)
    (defect,) = (line for line in lines if "exception" in line)
    (access,) = (line for line in lines if line["logger"] == "service.access")
    assert defect["level"] == access["level"] == "error"
    assert "RuntimeError: cannot digest [64 hex digits]" in defect["exception"]
    assert defect["request_id"] == access["request_id"] == "A-1"
    assert (access["status"], access["problem"]) == (500, "internal-error")
    assert SEED not in json.dumps(lines).lower()


def test_a_defect_in_the_engine_is_a_problem_too(
    failing: Api, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> None:
        raise KeyError(bytes.fromhex(SEED), SEED)

    monkeypatch.setattr(rounds, "settle_request", broken)
    with caplog.at_level(logging.INFO):
        is_problem(failing.post(SETTLE, round_body()), "internal-error")
    assert SEED not in json.dumps(logged(caplog))


DEFECTS = [ValueError, LookupError, ArithmeticError, RecursionError, OSError]


def break_the_engine(monkeypatch: pytest.MonkeyPatch, error: type[Exception]) -> None:
    def broken(*_: Any) -> None:
        raise error("some reason")

    for module, names in (
        (rounds, ("settle_request", "view_request", "void_request")),
        (verification, ("settle_request", "void_request", "restated_void")),
    ):
        for name in names:
            monkeypatch.setattr(module, name, broken)


@pytest.mark.parametrize("error", DEFECTS)
def test_no_defect_passes_for_a_refusal(
    error: type[Exception], failing: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    break_the_engine(monkeypatch, error)
    body = round_body()
    requests: list[tuple[str, Document]] = [
        (SETTLE, body),
        (STEP, body),
        (VOID, body | {"reason": "power cut"}),
        (VERIFY, {"request": body, "outcome": {}}),
        (VERIFY, {"request": body, "outcome": {"status": "void", "reason": "power cut"}}),
    ]
    for path, sent in requests:
        answer = failing.post(path, sent)
        is_problem(answer, "internal-error")
        assert "some reason" not in answer.text


@pytest.mark.parametrize("error", DEFECTS)
def test_no_defect_passes_for_a_valid_outcome(
    error: type[Exception], failing: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a request behind it, an outcome may itself be why nothing can be computed."""
    settled, void = failing.settle(round_body()), failing.void(round_body(reason="power cut"))
    break_the_engine(monkeypatch, error)
    for outcome in (settled, void):
        for shown in ({"outcome": outcome}, {"certificate": outcome["certificate"]}):
            answer = failing.post(VERIFY, shown)
            if answer.status_code == 200:
                assert error in (ValueError, LookupError)
                assert answer.get_json()["valid"] is False
            else:
                is_problem(answer, "internal-error")


def test_the_service_works_on_after_a_defect(failing: Api) -> None:
    failing.client.get("/fail")
    failing.settle(round_body())


# Log lines of refusals and successes.


@pytest.mark.parametrize("slug", [slug for slug in MEETINGS if slug != "internal-error"])
def test_a_refusal_is_logged_by_its_type(slug: str, failing: Api, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        answer = MEETINGS[slug](failing)
    (line,) = logged(caplog)
    level = "error" if answer.status_code >= 500 else "info"
    assert (line["problem"], line["status"], line["level"]) == (slug, answer.status_code, level)
    assert (level == "error") == (slug == "integrity-lost")
    assert line["request_id"] == answer.headers["X-Request-Id"]


def test_a_line_names_operation_and_ruleset_but_nothing_sent(
    app: Flask, api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        api.settle(round_body(context={"name": "Eve"}))
        api.client.get(f"/{SEED}?x={SEED}", headers={"User-Agent": SEED, "Referer": SEED})
    settled, lost = logged(caplog)
    assert (settled["operation"], settled["ruleset"], settled["status"]) == ("rounds.settle", "casino-1", 200)
    assert settled["duration_ms"] >= 0
    assert lost["operation"] == "unmatched"
    text = json.dumps([settled, lost])
    assert SEED not in text
    assert "Eve" not in text
    assert settled["operation"] in {rule.endpoint for rule in app.url_map.iter_rules()}


def test_no_more_than_twenty_faults_are_told(api: Api) -> None:
    boxes = [{"box": 9, "ante": 10**12, "bonus": 10**12} for _ in range(9)]
    for body in (round_body("online-1", boxes=boxes), round_body(boxes=[{}] * 9, actions=[{}] * 99)):
        assert len(api.refused(SETTLE, body, "invalid-request")["errors"]) == 20
