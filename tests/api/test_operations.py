"""What operators and monitoring ask."""

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

import service
from service.game import ENGINE_VERSION
from service.integrity import MANIFEST
from tests.api.calls import (
    BATCH,
    DECK,
    EVALUATE,
    JSON,
    SEED,
    SEEDS,
    SETTLE,
    STEP,
    VERIFY,
    VOID,
    Api,
    act,
    content_digest,
    is_problem,
    round_body,
)

CONTRACT = Path(service.__file__).parents[1] / "openapi.yaml"


def metric(api: Api, name: str, **labels: str) -> float:
    """The sum of a metric's samples that have these labels."""
    answer = api.client.get("/metrics")
    assert answer.status_code == 200
    return sum(
        sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


class Counters:
    """How much some counters have grown since this was made."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.before = self.now()

    def now(self) -> Mapping[tuple[str, str], float]:
        text = self.api.client.get("/metrics").text
        return {
            (sample.name, " ".join(value for name, value in sorted(sample.labels.items()) if name != "le")): (
                sample.value
            )
            for family in text_string_to_metric_families(text)
            for sample in family.samples
            if sample.name.startswith("russian_poker_") and sample.name.endswith(("_total", "_count"))
        }

    def grown(self) -> dict[tuple[str, str], float]:
        # The requests for the metrics themselves are left out.
        return {
            key: value - self.before.get(key, 0)
            for key, value in self.now().items()
            if value != self.before.get(key, 0) and key[1].split()[0] != "operations.show_metrics"
        }


READ = {
    "/livez": "operations.livez",
    "/readyz": "operations.readyz",
    "/metrics": "operations.show_metrics",
    "/openapi.yaml": "operations.contract",
    "/.well-known/jwks.json": "operations.jwks",
    "/v1/version": "operations.version",
    "/v1/integrity": "operations.check_integrity",
    "/v1/rulesets": "rulesets.index",
    "/v1/rulesets/casino-1": "rulesets.show",
    "/docs": "pages.docs",
    "/docs/reference": "pages.reference",
    "/docs/reference/swagger-ui.css": "pages.reference_file",
    "/docs/guides/errors": "pages.guide",
    "/docs/rulebook": "pages.book",
    "/docs/rulesets/casino-1/ru": "pages.rules",
    "/problems": "pages.problems",
    "/problems/limits": "pages.problem",
    "/verify": "pages.verify",
}
"""What is read, and the operation under which it is counted."""

REQUESTS, SECONDS = "russian_poker_requests_total", "russian_poker_request_seconds_count"
ROUNDS, PROBLEMS = "russian_poker_rounds_total", "russian_poker_problems_total"


def test_version(api: Api) -> None:
    answer = api.client.get("/v1/version")
    assert (answer.status_code, answer.mimetype) == (200, JSON)
    document = answer.get_json()
    assert document["version"] == service.__version__
    assert answer.headers["Content-Digest"] == content_digest(answer.data)
    assert document["engine"] == {
        "version": ENGINE_VERSION,
        "digest": f"sha256:{hashlib.sha256(MANIFEST.read_bytes()).hexdigest()}",
        "shuffle": "hmac-drbg-sha256/1",
    }
    assert list(document["rulesets"]) == ["casino-1", "online-1", "trainer-1"]
    assert all(re.fullmatch("sha256:[0-9a-f]{64}", digest) for digest in document["rulesets"].values())
    assert "certified" in document["notice"]


def test_health(api: Api) -> None:
    assert api.client.get("/livez").get_json() == {"status": "live"}
    assert api.client.get("/readyz").get_json() == {"status": "ready"}
    for path in ("/livez", "/readyz"):
        assert api.client.head(path).status_code == 200


def test_the_contract_is_served_byte_for_byte(api: Api) -> None:
    answer = api.client.get("/openapi.yaml")
    assert (answer.status_code, answer.mimetype) == (200, "application/yaml")
    assert answer.data == CONTRACT.read_bytes()
    digest = hashlib.sha256(answer.data).hexdigest()
    assert answer.headers["ETag"] == f'"{digest}"'


def test_metrics_are_in_the_text_format(api: Api) -> None:
    answer = api.client.get("/metrics")
    assert answer.content_type == "text/plain; version=0.0.4; charset=utf-8"
    version = {"version": service.__version__, "shuffle": "hmac-drbg-sha256/1"}
    assert metric(api, "russian_poker_info", **version) == 1


def test_each_request_is_counted_once(api: Api) -> None:
    counters = Counters(api)
    for _ in range(3):
        api.settle(round_body())
    assert counters.grown() == {
        (REQUESTS, "rounds.settle 200"): 3,
        (SECONDS, "rounds.settle"): 3,
        (ROUNDS, "casino-1 settled"): 3,
    }


def test_each_operation_is_counted_under_its_own_name(api: Api) -> None:
    counters = Counters(api)
    for path in READ:
        assert api.client.get(path, buffered=True).status_code == 200
    cards = ["Ah", "Kh", "Qh", "Jh", "Th"]
    bodies = {
        SETTLE: round_body(),
        BATCH: {"rounds": [round_body()]},
        STEP: round_body(),
        VOID: round_body(reason="power cut"),
        VERIFY: {"certificate": "x"},
        EVALUATE: {"ruleset": "casino-1", "cards": cards},
        SEEDS: {},
        DECK: {"server_seed": SEED},
    }
    for path, body in bodies.items():
        api.ask(path, body)
    counted = {labels: value for (name, labels), value in counters.grown().items() if name == REQUESTS}
    posted = ("settle", "settle_batch", "step", "void", "verify")
    assert counted == dict.fromkeys(
        [
            *(f"{operation} 200" for path, operation in READ.items() if path != "/metrics"),
            *(f"rounds.{verb} 200" for verb in posted),
            "hands.evaluate 200",
            "fairness.seeds 200",
            "fairness.deck 200",
        ],
        1,
    )
    assert metric(api, REQUESTS, operation="operations.show_metrics", status="200") > 0


def test_rounds_are_counted_by_ruleset_and_status_and_only_when_answered(api: Api) -> None:
    counters = Counters(api)
    body = round_body("online-1")
    outcome = api.settle(body)
    for _ in range(2):
        api.void(body | {"reason": "power cut"})
    api.refused(VOID, body | {"reason": "power cut", "actions": act("1 take_ante")}, "illegal-action")
    api.verify(body, api.void(body | {"reason": "power cut"}))
    api.settle(round_body("trainer-1"))
    api.step(body)
    api.verify(body, outcome)
    api.refused(SETTLE, round_body("online-1", actions=[]), "round-incomplete")
    rounds = {labels: value for (name, labels), value in counters.grown().items() if name == ROUNDS}
    assert rounds == {"online-1 settled": 1, "online-1 void": 3, "trainer-1 settled": 1}


def test_refusals_are_counted_by_type_and_status(api: Api) -> None:
    counters = Counters(api)
    is_problem(api.send(SETTLE, b"{"), "malformed-json")
    api.refused(STEP, round_body(actions=act("1 take_ante")), "illegal-action")
    api.refused(VERIFY, {}, "invalid-request")
    api.refused(VOID, round_body(deal={"sealed_seed": "x"}, reason="power cut"), "sealed-seed")
    api.refused(EVALUATE, {"ruleset": "x", "cards": ["Ah", "Kh", "Qh", "Jh", "Th"]}, "unknown-ruleset")
    is_problem(api.client.get(SETTLE), "method-not-allowed")
    is_problem(api.client.get("/nowhere"), "not-found")
    is_problem(api.client.get("/v1/rulesets/nowhere"), "not-found")
    grown = counters.grown()
    assert {key: value for key, value in grown.items() if key[0] == PROBLEMS} == {
        (PROBLEMS, "malformed-json"): 1,
        (PROBLEMS, "illegal-action"): 1,
        (PROBLEMS, "invalid-request"): 1,
        (PROBLEMS, "unknown-ruleset"): 1,
        (PROBLEMS, "sealed-seed"): 1,
        (PROBLEMS, "method-not-allowed"): 1,
        (PROBLEMS, "not-found"): 2,
    }
    assert {key: value for key, value in grown.items() if key[0] == REQUESTS} == {
        (REQUESTS, "rounds.settle 400"): 1,
        (REQUESTS, "rounds.step 422"): 1,
        (REQUESTS, "rounds.verify 422"): 1,
        (REQUESTS, "rounds.void 422"): 1,
        (REQUESTS, "hands.evaluate 422"): 1,
        (REQUESTS, "unmatched 405"): 1,
        (REQUESTS, "unmatched 404"): 1,
        (REQUESTS, "rulesets.show 404"): 1,
    }


def test_what_callers_send_makes_no_new_series(api: Api) -> None:
    api.client.get("/nowhere")
    counters = Counters(api)
    before = set(counters.now())
    for number in range(20):
        api.client.get(f"/nowhere/{number}")
        api.client.get(f"/problems/{number}")
        api.client.open("/livez", method=f"VERB{number}")
        api.post(SETTLE, round_body(f"house-{number}"))
        api.post(SETTLE, round_body(context={f"name{number}": number}))
    fresh = {labels for _, labels in set(counters.now()) - before}
    assert not any(re.search("nowhere|house|name|VERB", labels) for labels in fresh)
    assert len(fresh) < 10
