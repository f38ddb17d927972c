"""The service as it is deployed: several processes, real sockets, log lines, signals."""

import contextlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from service.api import create_app
from tests.api.calls import (
    DECK,
    EVALUATE,
    JSON,
    PROBLEM_JSON,
    SEED,
    SEEDS,
    SETTLE,
    STEP,
    VERIFY,
    VOID,
    Api,
    act,
    certified,
    content_digest,
    round_body,
)
from tests.api.house import FLUSH, house_ruleset
from tests.api.servers import PATIENCE, ROOT, SERVE, Answer, Server, serving, wait_until
from tests.support.vectors import load, settle_body

ROUND = json.dumps(round_body()).encode()


@pytest.fixture(scope="module")
def rulesets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ruleset of the house."""
    folder = tmp_path_factory.mktemp("rulesets")
    house_ruleset(folder)
    return folder


@pytest.fixture(scope="module")
def servers(rulesets: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Server]]:
    """Two services whose processes hash texts differently."""
    folder = tmp_path_factory.mktemp("servers")
    with (
        serving(folder / "1", PYTHONHASHSEED="1", RULESETS_DIR=str(rulesets)) as one,
        serving(folder / "2", PYTHONHASHSEED="2", RULESETS_DIR=str(rulesets)) as two,
    ):
        yield one, two


@pytest.fixture(scope="module")
def server(servers: tuple[Server, Server]) -> Server:
    return servers[0]


def post(path: str, body: bytes = ROUND, *headers: str) -> bytes:
    """A request as it goes over the wire."""
    lines = [
        f"POST {path} HTTP/1.1",
        "Host: localhost",
        f"Content-Type: {JSON}",
        f"Content-Length: {len(body)}",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + body


def is_problem(answer: Answer, slug: str) -> Any:
    document = answer.json()
    assert (answer.headers["content-type"], document["type"]) == (PROBLEM_JSON, f"/problems/{slug}")
    assert document["status"] == answer.status
    assert document["detail"]
    return document


# The same bytes everywhere.


def requests() -> Iterator[tuple[str, Any]]:
    for vector in (load("rounds.jsonl") + load("rigged.jsonl"))[::10]:
        body = settle_body(vector)
        yield SETTLE, body
        yield STEP, body
        yield STEP, body | {"actions": body["actions"][:1]}
        yield VOID, body | {"actions": body["actions"][:1], "reason": "power cut"}
        yield SETTLE, body | {"actions": body["actions"][:-1]}
        yield SETTLE, body | {"actions": [*body["actions"], {"box": 1, "action": "bet"}]}
    for hand in load("hands.json"):
        yield EVALUATE, {"ruleset": "casino-1", "cards": hand["cards"].split()}
    yield VERIFY, {"request": round_body(), "outcome": {"a": 1, "b": {"c": [2]}, "totals": {}}}
    yield VERIFY, {"certificate": "x.y.z"}
    yield SETTLE, round_body(deal={"sealed_seed": "a.b.c.d.e"})
    yield DECK, {"server_seed": SEED, "nonce": 5}
    yield SETTLE, {"x": 1, "y": 2, "z": 3, "boxes": [{"p": 1, "q": 2}], "deal": {"r": 1, "s": 2, "t": 3}}
    yield SETTLE, round_body("x", context={"z": 1, "a": {"c": 1, "b": 2}})
    yield SETTLE, b"{"
    for path in (
        *("/v1/rulesets", "/v1/rulesets/online-1", "/v1/version", "/v1/integrity", "/.well-known/jwks.json"),
        *("/verify", "/problems", "/nowhere", "/livez", "/readyz"),
        *("/docs", "/docs/guides/verify", "/docs/rulesets/casino-1/ru"),
    ):
        yield path, None


VOLATILE = {"date", "x-request-id"}


@pytest.fixture(scope="module")
def here(rulesets: Path) -> Api:
    """The same service in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RULESETS_DIR", str(rulesets))
        for name in ("KEYS_FILE", "KEYS", "PRODUCTION"):
            patch.delenv(name, raising=False)
        return Api(create_app().test_client())


def test_two_processes_and_this_one_give_the_same_bytes(servers: tuple[Server, Server], here: Api) -> None:
    sent = list(requests())
    with servers[0].client() as one, servers[1].client() as two:
        for path, body in sent:
            answers = [ask(path, body) for ask in (one, two)]
            data = json.dumps(body).encode() if isinstance(body, dict) else body
            third = here.client.get(path) if data is None else here.send(path, data)
            assert [answer.body for answer in answers] == [third.data] * 2
            assert [answer.status for answer in answers] == [third.status_code] * 2
            headers = [
                {name: text for name, text in answer.headers.items() if name not in VOLATILE}
                for answer in answers
            ]
            assert headers[0] == headers[1]
            assert headers[0]["content-type"] == third.content_type
            assert headers[0].get("content-digest") == third.headers.get("Content-Digest")
            if (third.status_code, third.mimetype) == (200, JSON):
                assert headers[0]["content-digest"] == content_digest(third.data)
    assert len(sent) > 400


def test_a_seal_and_a_certificate_of_one_service_are_good_at_another(servers: tuple[Server, Server]) -> None:
    one, two = servers
    new = one.ask(SEEDS, {"sealed": True}).json()
    assert set(new) == {"sealed_seed", "commitment"}
    body = round_body(deal={"sealed_seed": new["sealed_seed"], "commitment": new["commitment"]})
    answers = [server.ask(SETTLE, body) for server in servers]
    assert (answers[0].status, answers[0].body) == (200, answers[1].body)
    outcome = answers[0].json()
    assert outcome["deal"]["commitment"] == new["commitment"]
    certified(outcome)
    verdict = two.ask(VERIFY, {"certificate": outcome["certificate"]}).json()
    assert (verdict["valid"], verdict["differences"]) == (True, [])


def test_every_worker_gives_the_same_bytes(server: Server) -> None:
    # A connection of its own may meet either worker.
    answers = {server.ask(SETTLE, round_body(context={"b": 1, "a": 2})).body for _ in range(30)}
    assert len(answers) == 1


def test_contract_and_pages_are_served(server: Server) -> None:
    contract = server.ask("/openapi.yaml")
    assert (contract.status, contract.body) == (200, (ROOT / "openapi.yaml").read_bytes())
    assert server.ask("/openapi.yaml", headers={"If-None-Match": contract.headers["etag"]}).status == 304
    page = server.ask("/problems/limits")
    assert "default-src 'none'" in page.headers["content-security-policy"]
    style = re.findall(r'href="(/static/[^"]+)"', page.body.decode())
    assert [server.ask(path).status for path in style] == [200]


# Sockets.


def test_many_requests_in_one_piece_are_answered_in_order(server: Server) -> None:
    with server.wire() as wire:
        wire.send(b"".join(post(SETTLE, ROUND, f"X-Request-Id: n{number}") for number in range(20)))
        answers = [wire.answer() for _ in range(20)]
    assert [answer.headers["x-request-id"] for answer in answers] == [f"n{number}" for number in range(20)]
    assert {answer.status for answer in answers} == {200}
    assert len({answer.body for answer in answers}) == 1


def test_a_request_may_come_in_pieces(server: Server) -> None:
    data = post(SETTLE)
    with server.wire() as wire:
        for place in range(0, len(data), 50):
            wire.send(data[place : place + 50])
        assert wire.answer().status == 200


CHUNKED = f"POST {SETTLE} HTTP/1.1\r\nHost: x\r\nContent-Type: {JSON}\r\nTransfer-Encoding: chunked\r\n"


def chunks(body: bytes, size: int = 100) -> bytes:
    pieces = [body[place : place + size] for place in range(0, len(body), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


def test_a_chunked_body_is_refused(server: Server) -> None:
    limit = 64 * 1024
    for body in (ROUND, b"", ROUND.ljust(limit), ROUND.ljust(limit) + b"garbage"):
        with server.wire() as wire:
            wire.send(f"{CHUNKED}\r\n".encode() + chunks(body, 5000))
            problem = is_problem(wire.answer(), "length-required")
            assert "Content-Length" in problem["detail"]


def test_a_refused_chunked_body_leaves_the_connection_in_order(server: Server) -> None:
    with server.wire() as wire:
        wire.send(f"{CHUNKED}\r\n".encode() + chunks(post("/livez")) + post(SETTLE))
        assert [wire.answer().status for _ in range(2)] == [411, 200]


def test_a_body_that_was_not_read_is_no_request(server: Server) -> None:
    smuggled = post(SETTLE, ROUND, "X-Request-Id: smuggled")
    with server.wire() as wire:
        wire.send(post("/nowhere", smuggled) + post(SETTLE, ROUND, "X-Request-Id: next", "Connection: close"))
        answers = [wire.answer() for _ in range(2)]
        assert wire.rest() == b""
    assert [answer.status for answer in answers] == [404, 200]
    assert answers[1].headers["x-request-id"] == "next"


@pytest.mark.parametrize(
    "headers",
    [
        ["Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked, identity"],
        ["Transfer-Encoding: xchunked"],
        ["Content-Length: 5"],
        ["Content-Length : 5"],
        ["Content-Length: +5"],
        ["Bad Header: x"],
        [f"Content-Length: {SEED}"],
    ],
    ids=lambda headers: headers[0][:30],
)
def test_what_proxies_could_read_differently_is_refused(headers: list[str], server: Server) -> None:
    with server.wire() as wire:
        wire.send(post(SETTLE, ROUND, *headers))
        answer = wire.answer()
        assert 400 <= answer.status <= 501
        assert b"settled" not in answer.body + wire.rest()
    assert server.ask("/livez").status == 200


def test_expect_100_continue_is_heard(server: Server) -> None:
    head, body = post(SETTLE, ROUND, "Expect: 100-continue").split(b"\r\n\r\n", 1)
    with server.wire() as wire:
        wire.send(head + b"\r\n\r\n")
        assert wire.answer().status == 100
        wire.send(body)
        assert wire.answer().status == 200


def test_an_old_client_is_answered_and_left(server: Server) -> None:
    with server.wire() as wire:
        wire.send(post(SETTLE).replace(b"HTTP/1.1", b"HTTP/1.0"))
        text = wire.rest()
    assert text.split()[1] == b"200"
    assert text.endswith(b"}")


def test_too_large_a_body_is_refused_before_it_is_sent(server: Server) -> None:
    for announced in (64 * 1024 + 1, 10**15):
        with server.wire() as wire:
            wire.send(post(SETTLE).replace(b"%d\r\n" % len(ROUND), b"%d\r\n" % announced))
            assert str(announced) in is_problem(wire.answer(), "body-too-large")["detail"]


def test_a_connection_says_that_it_ends_after_a_body_that_nobody_read(server: Server) -> None:
    for path, size, ends in ((SETTLE, 64 * 1024, False), (SETTLE, 70_000, True), ("/nowhere", 70_000, True)):
        with server.wire() as wire:
            wire.send(post(path, b" " * size) + post("/livez"))
            answer = wire.answer()
            assert answer.status in (400, 404, 413)
            assert (answer.headers.get("connection") == "close") == ends
            if not ends:
                assert wire.answer().status == 405


def test_no_header_decides_where_a_request_goes(server: Server) -> None:
    for header in ("SCRIPT_NAME: /v1", "Script-Name: /v1", "PATH_INFO: /livez", "X-Forwarded-Prefix: /v1"):
        with server.wire() as wire:
            wire.send(post(SETTLE, ROUND, header))
            assert wire.answer().status == 200, header


def test_too_large_a_head_is_refused(server: Server) -> None:
    for data in (post("/" + "x" * 10_000), post(SETTLE, ROUND, "X: " + "x" * 20_000)):
        with server.wire() as wire:
            wire.send(data)
            assert 400 <= wire.answer().status < 500
    assert server.ask("/livez").status == 200


def test_callers_that_leave_do_no_harm(server: Server) -> None:
    head, body = post(SETTLE, ROUND, "X-Request-Id: left").split(b"\r\n\r\n", 1)
    halves = [head[:30], head + b"\r\n\r\n", head + b"\r\n\r\n" + body[:50], b"", b"\r\n", post(SETTLE)]
    for _ in range(5):
        for half in halves:
            with server.wire() as wire:
                wire.send(half)
    assert {server.ask(SETTLE, round_body()).status for _ in range(20)} == {200}
    lines = server.lines()
    assert not [line for line in lines if line["level"] == "error" or "exception" in line]


def test_a_body_that_stops_short_is_a_bad_request(server: Server) -> None:
    data = post(SETTLE, ROUND, "X-Request-Id: stopped")
    with server.wire() as wire:
        wire.send(data[:-20])
        wire.socket.shutdown(1)  # nothing more will come, but an answer is awaited
        is_problem(wire.answer(), "bad-request")


# Metrics.


def settled_rounds(server: Server) -> float:
    text = server.ask("/metrics").body.decode()
    return sum(
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "russian_poker_rounds_total"
    )


def test_metrics_are_summed_over_the_workers(server: Server) -> None:
    before = settled_rounds(server)
    for _ in range(60):
        assert server.ask(SETTLE, round_body()).status == 200
    # Whichever worker is asked.
    assert {settled_rounds(server) for _ in range(20)} == {before + 60}


# Log lines, and a house of its own.


def test_a_ruleset_of_the_house_settles_a_round(server: Server) -> None:
    assert server.ask(EVALUATE, {"ruleset": "house-1", "cards": FLUSH}).json()["odds"] == 6
    outcome = server.ask(SETTLE, round_body("house-1")).json()
    assert (outcome["status"], outcome["ruleset"]["id"]) == ("settled", "house-1")
    published = server.ask("/v1/rulesets/house-1").json()
    assert outcome["ruleset"]["digest"] == published["digest"]


def with_seeds(seed: str) -> Iterator[bytes]:
    """Requests with a seed wherever one can stand, well-formed or not."""
    text = ROUND.replace(SEED.encode(), seed.encode())
    yield post(SETTLE, text)
    yield post(SETTLE, text[:-1])
    yield post(STEP, text.replace(b'"fold"', b'"bet"'))
    yield post(VOID, text[:-1] + b', "reason": "power cut"}')
    yield post(VOID, text[:-1] + f', "reason": "{seed}"}}'.encode())
    yield post(SETTLE, json.dumps(round_body(deal={"sealed_seed": seed})).encode())
    yield post(VERIFY, json.dumps({"certificate": seed, "server_seed": seed}).encode())
    yield post(VERIFY, json.dumps({"outcome": {seed: seed}, "server_seed": seed}).encode())
    yield post(VERIFY, b'{"outcome": {}, "request": %s}' % text)
    yield post(DECK, json.dumps({"server_seed": seed}).encode())
    yield post(SETTLE, json.dumps({seed: seed}).encode())
    yield post(SETTLE, json.dumps(round_body(seed)).encode())
    yield post(SETTLE, json.dumps(round_body(context={seed: [seed]})).encode())
    yield post(f"{SETTLE}/{seed}", text)
    yield post(f"{SETTLE}?server_seed={seed}", text)
    yield post(f"/{seed}?{seed}#{seed}", text)
    yield post(SETTLE, text, f"X-Request-Id: {seed}")
    names = ("User-Agent", "Referer", "Cookie", "Authorization", "X-Forwarded-For", "Forwarded", seed)
    yield post(SETTLE, text, *(f"{name}: {seed}" for name in names))
    yield post(SETTLE, text, f"Content-Encoding: {seed}")
    yield post(SETTLE, text).replace(JSON.encode(), f"text/{seed}".encode())
    yield post(SETTLE, text).replace(b"Host: localhost", f"Host: {seed}".encode())
    # What gunicorn refuses and complains of.
    yield post(SETTLE, text).replace(b"POST", seed.encode())
    yield post(SETTLE, text).replace(b"HTTP/1.1", f"HTTP/{seed}".encode())
    yield post(SETTLE, text, f"bad name {seed}: x")
    yield post(SETTLE, text, f"{seed} without a colon")
    yield post(SETTLE, text, f"Transfer-Encoding: {seed}")
    yield post(SETTLE, text).replace(b"%d\r\n" % len(text), seed.encode() + b"\r\n")
    yield post(f"/{seed}" * 100, text)
    yield f"{seed}\r\n\r\n".encode()


def test_log_lines_are_json_under_the_requests_id_and_know_no_seed(server: Server) -> None:
    seeds = [SEED, SEED.upper(), "5eed" * 16]
    for seed in seeds:
        for data in with_seeds(seed):
            with server.wire() as wire:
                wire.send(data)
                wire.socket.shutdown(1)
                wire.rest()
    for id in ("id-1", "id-2"):
        assert server.ask(f"/{SEED}", headers={"X-Request-Id": id}).headers["x-request-id"] == id
    new = server.ask("/livez", headers={"X-Request-Id": SEED}).headers["x-request-id"]

    lines = server.lines()
    for line in lines:
        assert {"time", "level", "logger", "message"} <= set(line)
    access = {line["request_id"]: line for line in lines if line["logger"] == "service.access"}
    assert access["id-1"]["operation"] == access["id-2"]["operation"] == "unmatched"
    assert access[new]["operation"] == "operations.livez"
    assert len(access) > 3 * 12
    written = (server.stdout.read_text() + server.stderr.read_text()).lower()
    assert not any(seed.lower() in written for seed in seeds)
    assert not [line for line in lines if line.get("status") == 500 or "exception" in line]
    on_stdout = [json.loads(line) for line in server.stdout.read_text().splitlines()]
    assert {line["logger"] for line in on_stdout} == {"service.access"}


# Beginning and end.


def test_a_request_begun_before_sigterm_is_finished(tmp_path: Path) -> None:
    head, body = post(SETTLE, ROUND).split(b"\r\n\r\n", 1)
    with serving(tmp_path) as server:
        with server.wire() as wire, server.wire() as idle:
            idle.send(post(SETTLE))
            assert idle.answer().status == 200
            wire.send(post(SETTLE) + head + b"\r\n\r\n" + body[:50])
            # The first is answered, so the second has been begun.
            assert wire.answer().status == 200
            server.process.send_signal(signal.SIGTERM)
            wait_until(lambda: "Handling signal: term" in server.stderr.read_text())
            wire.send(body[50:])
            answer = wire.answer()
            assert (answer.status, answer.json()["status"]) == (200, "settled")
        assert server.process.wait(PATIENCE) == 0
        assert not [line for line in server.lines() if "exception" in line or line["level"] == "error"]


def test_who_sends_nothing_more_holds_no_thread_for_long(tmp_path: Path) -> None:
    head, body = post(SETTLE, ROUND).split(b"\r\n\r\n", 1)
    with serving(tmp_path, SENDER_TIMEOUT="1") as server, contextlib.ExitStack() as stack:
        silent = [stack.enter_context(server.wire()) for _ in range(20)]  # more than there are threads
        for number, wire in enumerate(silent):
            wire.send(head + b"\r\n\r\n" + body[:50] if number % 2 else head[:50])
        assert server.ask("/livez").status == 200
        for wire in silent[1::2]:
            answer = wire.answer()
            assert (answer.status, answer.json()["type"]) == (400, "/problems/bad-request")
        assert server.ask(SETTLE, ROUND).status == 200


def test_a_connection_that_is_reset_is_no_fault_of_the_service(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        for path in (SETTLE, VERIFY):
            with server.wire() as wire:
                wire.send(post(path, ROUND)[:-50])
                reset = struct.pack("ii", 1, 0)
                wire.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
        wait_until(lambda: server.stdout.read_text().count("bad-request") == 2)
        assert not [line for line in server.lines() if line["level"] == "error"]


def test_sigusr2_hands_over_to_a_new_master(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        os.kill(server.process.pid, signal.SIGUSR2)
        wait_until(lambda: server.stderr.read_text().count("Listening at") == 2)
        masters = re.findall(r"Listening at: \S+ \((\d+)\)", server.stderr.read_text())
        assert masters[0] == str(server.process.pid) != masters[1]
        try:
            assert server.stop() == 0
            assert server.ask(SETTLE, ROUND).json()["status"] == "settled"
        finally:
            os.kill(int(masters[1]), signal.SIGTERM)
            wait_until(lambda: not Path(f"/proc/{masters[1]}").exists())


def test_a_broken_ruleset_keeps_the_service_from_starting(tmp_path: Path) -> None:
    path = house_ruleset(tmp_path, flush="0")
    done = subprocess.run(
        [*SERVE, "--port", "0"],
        cwd=ROOT,
        env={**os.environ, "RULESETS_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{path}: bet.odds.flush.value: must be from 1" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Listening" not in done.stderr


def test_the_actions_of_the_documentation_play_over_the_wire(server: Server) -> None:
    actions = act("1 buy_sixth", "1 fold")
    with server.client() as ask:
        views = [ask(STEP, round_body(actions=actions[:count])).json() for count in range(3)]
        outcome = ask(SETTLE, round_body(actions=actions)).json()
    assert [view["phase"] for view in views] == ["decisions", "decisions", "settled"]
    assert outcome["totals"] == {"staked": 200, "returned": 0, "net": -200}
