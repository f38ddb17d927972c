"""``POST /v1/rounds/settle-batch``: many rounds in one call, each as if it had been settled alone."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from werkzeug.test import TestResponse

from service.api.bodies import MAX_BATCH_BODY, MAX_BODY
from service.schemas import ACTION, MAX_ACTIONS, MAX_BATCH, MAX_ERRORS
from tests.api.calls import (
    BATCH,
    JSON,
    NDJSON,
    SEED,
    SEEDS,
    SETTLE,
    Api,
    Document,
    act,
    certified,
    content_digest,
    is_problem,
    plain,
    round_body,
)
from tests.api.test_operations import PROBLEMS, REQUESTS, ROUNDS, SECONDS, Counters
from tests.conftest import Tally
from tests.support.vectors import load, settle_body

Send = Callable[..., list[Document]]

REFUSED: dict[str, Document] = {
    "invalid-request": round_body(boxes=[{"box": 1, "antee": 100}]),
    "unknown-ruleset": round_body("casino"),
    "limits": round_body(table={"min_stake": 101}),
    "commitment-mismatch": round_body(deal={"server_seed": SEED, "commitment": "0" * 64}),
    "sealed-seed": round_body(deal={"sealed_seed": "x"}),
    "illegal-action": round_body(actions=act("1 fold", "1 fold")),
    "round-incomplete": round_body(actions=[]),
}
"""A round for each type of problem that a round can meet."""


def rounds(count: int) -> list[Document]:
    """Rounds that differ."""
    return [round_body(deal={"server_seed": SEED, "nonce": nonce}) for nonce in range(count)]


def dumped(document: Any) -> str:
    """A document as the service spells it."""
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def ndjson(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def send_lines(api: Api, text: str, query: str = "") -> TestResponse:
    return api.send(BATCH + query, text, {"Content-Type": NDJSON})


def as_array(api: Api, bodies: Sequence[Any], **members: Any) -> list[Document]:
    """The results of a batch in one JSON text."""
    results: list[Document] = api.ask(BATCH, {"rounds": list(bodies), **members})["results"]
    return results


def as_lines(api: Api, bodies: Sequence[Any], **members: Any) -> list[Document]:
    """The results of a batch line by line."""
    query = "&".join(f"{name}={dumped(value)}" for name, value in members.items())
    answer = send_lines(api, ndjson(map(dumped, bodies)), f"?{query}")
    assert (answer.status_code, answer.content_type) == (200, NDJSON)
    assert answer.headers["Content-Digest"] == content_digest(answer.data)
    assert answer.text.endswith("\n")
    return [json.loads(line) for line in answer.text.removesuffix("\n").split("\n")]


each_form = pytest.mark.parametrize("send", [as_array, as_lines])


# The same as alone.


@pytest.mark.parametrize(("name", "count"), [("rounds.jsonl", 360), ("rigged.jsonl", 330)])
def test_every_vector_as_it_is_settled_alone(name: str, count: int, api: Api, tally: Tally) -> None:
    """To the byte: the answer consists of the very texts that single calls are answered with."""
    bodies = [settle_body(vector) for vector in load(name)]
    alone = [api.post(SETTLE, body).text for body in bodies]
    for certificates, texts in ((False, [dumped(plain(json.loads(text))) for text in alone]), (True, alone)):
        for start in range(0, count, MAX_BATCH):
            batch = bodies[start : start + MAX_BATCH]
            results = [f'{{"outcome":{text}}}' for text in texts[start : start + MAX_BATCH]]
            array = api.post(BATCH, {"rounds": batch, "certificates": certificates})
            assert array.text == f'{{"results":[{",".join(results)}]}}'
            query = f"?certificates={dumped(certificates)}"
            assert send_lines(api, ndjson(map(dumped, batch)), query).text == ndjson(results)
    tally(f"vectors: {name} in batches", 4 * count)
    assert len(bodies) == count


@each_form
def test_results_come_in_the_order_of_the_rounds(send: Send, api: Api) -> None:
    nonces = [5, 3, 3, 8, 0]
    bodies = [round_body(deal={"server_seed": SEED, "nonce": nonce}) for nonce in nonces]
    assert [result["outcome"]["deal"]["nonce"] for result in send(api, bodies)] == nonces


@each_form
def test_sealed_seeds_are_opened(send: Send, api: Api) -> None:
    sealed = api.ask(SEEDS, {"sealed": True})["sealed_seed"]
    body = round_body(deal={"sealed_seed": sealed, "nonce": 1})
    foreign = round_body(deal={"sealed_seed": sealed[:-1]})
    one, other = send(api, [body, foreign], certificates=True)
    assert one == {"outcome": api.settle(body)}
    assert other["problem"]["type"] == "/problems/sealed-seed"


# Refused rounds.


@each_form
@pytest.mark.parametrize("slug", REFUSED)
def test_a_refused_round_has_its_problem_in_its_place(slug: str, send: Send, api: Api) -> None:
    before, after = rounds(2)
    results = send(api, [before, REFUSED[slug], after])
    assert results == [
        {"outcome": plain(api.settle(before))},
        {"problem": api.refused(SETTLE, REFUSED[slug], slug)},
        {"outcome": plain(api.settle(after))},
    ]


@each_form
def test_rounds_of_all_kinds_side_by_side(send: Send, api: Api) -> None:
    bodies = [body for pair in zip(REFUSED.values(), rounds(len(REFUSED)), strict=True) for body in pair]
    results = send(api, bodies)
    assert [list(result) for result in results] == [["problem"], ["outcome"]] * len(REFUSED)
    types = [result["problem"]["type"] for result in results[::2]]
    assert types == [f"/problems/{slug}" for slug in REFUSED]


@each_form
@pytest.mark.parametrize("body", [None, 5, "text", [], True, {}])
def test_what_is_no_round_is_refused_in_its_place(body: Any, send: Send, api: Api) -> None:
    (good,) = rounds(1)
    refused, settled = send(api, [body, good])
    assert refused["problem"] == api.refused(SETTLE, body, "invalid-request")
    assert settled == {"outcome": plain(api.settle(good))}


@each_form
def test_pointers_start_at_the_round(send: Send, api: Api) -> None:
    wrong = round_body(boxes=[{"box": 1, "ante": 100}, {"box": 2, "ante": 0}])
    (error,) = send(api, [*rounds(3), wrong])[3]["problem"]["errors"]
    assert error["pointer"] == "/boxes/1/ante"


@pytest.mark.parametrize(
    "line",
    ['{"ruleset": "casino-1",}', "{", "x", '{"n": 1, "n": 2}', "NaN", "\f", "[" * 33 + "]" * 33, '"\\ud800"'],
)
def test_a_line_that_is_no_strict_json_is_refused_in_its_place(line: str, api: Api) -> None:
    before, after = map(dumped, rounds(2))
    answer = send_lines(api, ndjson([before, line, after]))
    first, second, third = map(json.loads, answer.text.splitlines())
    assert first == {"outcome": plain(api.settle(json.loads(before)))}
    assert second == {"problem": is_problem(api.send(SETTLE, line), "malformed-json")}
    assert third == {"outcome": plain(api.settle(json.loads(after)))}


def test_two_rounds_on_one_line_are_told_what_belongs_where(api: Api) -> None:
    one, other = map(dumped, rounds(2))
    for problem in (
        json.loads(send_lines(api, one + other).text)["problem"],
        is_problem(api.send(BATCH, ndjson([one, other])), "malformed-json"),
    ):
        assert problem["type"] == "/problems/malformed-json"
        assert "application/x-ndjson" in problem["detail"]
        assert "--data-binary" in problem["detail"]


def test_a_line_that_is_not_utf_8_is_refused_in_its_place(api: Api) -> None:
    line = dumped(round_body()).encode()
    answer = api.send(BATCH, b"\xff\n" + line, {"Content-Type": NDJSON})
    refused, settled = map(json.loads, answer.text.splitlines())
    assert refused["problem"] == is_problem(api.send(SETTLE, b"\xff"), "malformed-json")
    assert "outcome" in settled


@pytest.mark.parametrize(
    "text",
    ['{"rounds": [%s,]}', '{"rounds": [%s], "rounds": []}', '{"rounds": [%s, NaN]}', '{"rounds": [%s]'],
)
def test_an_array_is_strict_json_or_nothing_of_it_is_settled(text: str, api: Api) -> None:
    counters = Counters(api)
    answer = api.send(BATCH, text % dumped(round_body()))
    assert is_problem(answer, "malformed-json")["status"] == 400
    assert not any(name == ROUNDS for name, _ in counters.grown())


# The shape of a batch.


@pytest.mark.parametrize("number", [1, 2, MAX_BATCH])
@each_form
def test_so_many_rounds_are_taken(number: int, send: Send, api: Api) -> None:
    (body,) = rounds(1)
    assert send(api, [body] * number) == [{"outcome": plain(api.settle(body))}] * number


@pytest.mark.parametrize("number", [0, MAX_BATCH + 1])
def test_so_many_rounds_are_refused(number: int, api: Api) -> None:
    bodies = rounds(number)
    lines = is_problem(send_lines(api, ndjson(map(dumped, bodies))), "invalid-request")
    assert api.refused(BATCH, {"rounds": bodies}, "invalid-request") == lines
    assert lines["errors"] == [
        {"pointer": "/rounds", "code": "length", "detail": f"must hold 1 to 200 items; got {number}"}
    ]


@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({}, "/rounds"),
        ({"rounds": None}, "/rounds"),
        ({"rounds": {"0": {}}}, "/rounds"),
        ({"rounds": [{}], "certificate": True}, "/certificate"),
        ({"rounds": [{}], "certificates": "true"}, "/certificates"),
        ({"rounds": [{}], "certificates": None}, "/certificates"),
        ({"rounds": [{}], "certificates": 1}, "/certificates"),
    ],
)
def test_a_batch_of_another_shape_is_refused(members: Document, pointer: str, api: Api) -> None:
    assert list(api.faults(BATCH, members)) == [pointer]


@pytest.mark.parametrize(
    "query",
    [
        *(f"certificates={value}" for value in ("", "True", "TRUE", "1", "yes", "null", "true,false")),
        "certificates",
        "certificates=true&certificates=true",
        "certificates=true&certificates=false",
        "certificate=true",
        "certificates=true&more=1",
    ],
)
def test_a_query_that_does_not_say_true_or_false_once_is_refused(query: str, api: Api) -> None:
    answer = send_lines(api, dumped(round_body()), f"?{query}")
    (error,) = is_problem(answer, "invalid-request")["errors"]
    assert (error["pointer"], error["code"]) == ("/certificates", "choice")
    assert "certificates=true or certificates=false" in error["detail"]


@each_form
def test_certificates_come_only_if_asked_for(send: Send, api: Api) -> None:
    bodies = rounds(2)
    for members in ({}, {"certificates": False}):
        assert not any("certificate" in result["outcome"] for result in send(api, bodies, **members))
    for result in send(api, bodies, certificates=True):
        certified(result["outcome"])


def test_the_parameter_says_nothing_of_an_array(api: Api) -> None:
    answer = api.post(f"{BATCH}?certificates=true", {"rounds": rounds(1)})
    assert answer.data == api.post(BATCH, {"rounds": rounds(1)}).data


@pytest.mark.parametrize("end", ["", "\n", "\r\n", "\n\n \n\t\r\n", " \n"])
@pytest.mark.parametrize("between", ["\n", "\r\n", "\n\n", "\n \t \r\n\n"])
def test_lines_may_end_in_several_ways_and_blank_ones_are_skipped(between: str, end: str, api: Api) -> None:
    lines = list(map(dumped, rounds(3)))
    plain_answer = send_lines(api, ndjson(lines))
    assert plain_answer.text.count("\n") == 3
    assert send_lines(api, between.join(["", *lines]) + end).data == plain_answer.data


def test_line_breaks_within_a_text_are_escaped(api: Api) -> None:
    body = round_body(context={"note": "a\nb\r\n\u2028c"})
    answer = send_lines(api, json.dumps(body))
    assert answer.data.count(b"\n") == 1
    assert json.loads(answer.text)["outcome"]["context"] == body["context"]


# Size and media type.


def padded(text: str, size: int) -> bytes:
    return text.encode().ljust(size)


@pytest.mark.parametrize("media_type", [JSON, NDJSON])
def test_the_size_of_a_batch_is_limited_to_the_byte(media_type: str, api: Api) -> None:
    (body,) = rounds(1)
    text = dumped({"rounds": [body]}) if media_type == JSON else ndjson([dumped(body)])
    headers = {"Content-Type": media_type}
    answer = api.send(BATCH, text, headers)
    for size in (MAX_BODY + 1, MAX_BATCH_BODY):
        assert api.send(BATCH, padded(text, size), headers).data == answer.data
    problem = is_problem(api.send(BATCH, padded(text, MAX_BATCH_BODY + 1), headers), "body-too-large")
    assert (problem["status"], str(MAX_BATCH_BODY) in problem["detail"]) == (413, True)


@pytest.mark.parametrize("media_type", ["application/jsonl", "application/ndjson", "text/plain"])
def test_both_media_types_are_told(media_type: str, api: Api) -> None:
    answer = api.send(BATCH, dumped({"rounds": rounds(1)}), {"Content-Type": media_type})
    detail = is_problem(answer, "unsupported-media-type")["detail"]
    assert f"{JSON} or {NDJSON}" in detail
    assert media_type in detail


@pytest.mark.parametrize("media_type", [f"{NDJSON}; charset=utf-8", NDJSON.upper()])
def test_lines_in_utf_8_are_taken(media_type: str, api: Api) -> None:
    answer = api.send(BATCH, dumped(round_body()), {"Content-Type": media_type})
    assert (answer.status_code, answer.content_type) == (200, NDJSON)


@pytest.mark.parametrize("media_type", [f"{NDJSON}; charset=utf-16", f"{JSON}; charset=latin-1"])
def test_another_encoding_is_refused(media_type: str, api: Api) -> None:
    answer = api.send(BATCH, dumped(round_body()), {"Content-Type": media_type})
    is_problem(answer, "unsupported-media-type")


def test_lines_are_for_batches_alone(api: Api) -> None:
    answer = api.send(SETTLE, dumped(round_body()), {"Content-Type": NDJSON})
    assert NDJSON not in is_problem(answer, "unsupported-media-type")["detail"].partition(";")[0]


# What is counted.


@each_form
def test_each_round_and_each_problem_is_counted(send: Send, api: Api) -> None:
    counters = Counters(api)
    trainer = round_body("trainer-1")
    send(api, [*rounds(3), trainer, *REFUSED.values(), REFUSED["limits"]], certificates=True)
    grown = Counter(counters.grown())
    problems = dict.fromkeys(((PROBLEMS, slug) for slug in REFUSED), 1) | {(PROBLEMS, "limits"): 2}
    assert grown == {
        (REQUESTS, "rounds.settle_batch 200"): 1,
        (SECONDS, "rounds.settle_batch"): 1,
        (ROUNDS, "casino-1 settled"): 3,
        (ROUNDS, "trainer-1 settled"): 1,
        **problems,
    }


# What bounds the work.


def test_a_cure_is_looked_for_once_for_each_fault_that_is_told(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes longer than anything else about a fault, and 200 rounds have room for 20,000 faults."""
    looked_for: list[str] = []

    def no_match(word: str, known: Sequence[str], n: int) -> list[str]:
        looked_for.append(word)
        return []

    monkeypatch.setattr("service.fields.get_close_matches", no_match)
    for action in ({"box": 1, "action": "raise" * 99}, {"box": 1, "action": "bet", "x" * 300: 1}):
        looked_for.clear()
        for result in as_array(api, [round_body(actions=[action] * MAX_ACTIONS)] * 3):
            assert len(result["problem"]["errors"]) == MAX_ERRORS
        assert len(looked_for) == 3 * MAX_ERRORS
        assert max(map(len, looked_for)) == 100, "nothing is like a longer word"


def test_no_more_faulty_actions_are_read_than_are_told(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []

    def counted(action: Any, reader: Callable[[Any], Any] = ACTION.read) -> Any:
        read.append(action)
        return reader(action)

    monkeypatch.setattr(ACTION, "read", counted)
    body = round_body(actions=act("1 raise") * MAX_ACTIONS)
    (result,) = as_array(api, [body])
    assert len(result["problem"]["errors"]) == MAX_ERRORS
    assert len(read) == 1 + MAX_ERRORS, "the first one twice"
