"""Certificates over HTTP: each outcome has one, and verification has a verdict on whatever is shown."""

import base64
import copy
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st
from werkzeug.test import TestResponse

import service
from service.api import create_app
from service.fairness import SHUFFLE
from service.game import ENGINE_VERSION
from service.integrity import ENGINE_DIGEST
from service.keys import development_keys, new_keys, read_keys, revoked_keys, rotated_keys
from service.registry import load_rulesets
from tests.support.http import ask, client_with

Document = dict[str, Any]
SETTLE, VOID, STEP, VERIFY = (f"/v1/rounds/{verb}" for verb in ("settle", "void", "step", "verify"))
SEED = "0f" * 32
ALL_CHECKS = ["signature", "ruleset", "engine", "deal", "settlement"]
SIGN = read_keys(development_keys()).signer.sign
suite = settings(max_examples=80, derandomize=True, deadline=None, database=None)

names = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=10)
scalars = (
    st.none()
    | st.booleans()
    | st.integers(1 - 2**53, 2**53 - 1)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(names, inner, max_size=4),
    max_leaves=10,
)
contexts = st.dictionaries(names, json_values, max_size=5)


def example(**members: Any) -> Document:
    return {
        "ruleset": "casino-1",
        "deal": {"server_seed": SEED, "client_seed": "lucky", "nonce": 107},
        "boxes": [{"box": 1, "ante": 100, "bonus": 25}, {"box": 2, "ante": 50, "blind": True}],
        "actions": [
            {"box": 1, "action": "buy_sixth"},
            {"box": 1, "action": "fold"},
        ],
        **members,
    }


def folded(**members: Any) -> Document:
    """The shortest round, whatever is dealt."""
    return {
        "ruleset": "casino-1",
        "deal": {"server_seed": SEED},
        "boxes": [{"box": 1, "ante": 100}],
        "actions": [{"box": 1, "action": "fold"}],
        **members,
    }


def post(client: FlaskClient, path: str, body: Any) -> TestResponse:
    return client.post(
        path, data=json.dumps(body, ensure_ascii=False).encode(), content_type="application/json"
    )


@pytest.fixture(scope="module")
def settled(client: FlaskClient) -> Document:
    return ask(client, SETTLE, folded(context={"round_id": "A-1"}))


def bare(outcome: Document) -> Document:
    return {name: value for name, value in outcome.items() if name != "certificate"}


def parts(certificate: str) -> tuple[Document, bytes, bytes]:
    header, payload, signature = (base64.urlsafe_b64decode(part + "==") for part in certificate.split("."))
    return json.loads(header), payload, signature


def verdict_on(client: FlaskClient, certificate: str, **members: Any) -> Document:
    return ask(client, VERIFY, {"certificate": certificate, **members})


def codes(verdict: Document) -> dict[str, str]:
    """The codes of what failed, by the name of the check."""
    return {check["name"]: check["code"] for check in verdict["checks"] if not check["passed"]}


def put(document: Document, pointer: str, value: Any) -> Document:
    """A copy with another value at the pointer; ... removes it."""
    copied = copy.deepcopy(document)
    *path, last = pointer.split("/")[1:]
    place: Any = copied
    for step in path:
        place = place[int(step)] if isinstance(place, list) else place[step]
    key = int(last) if isinstance(place, list) else last
    if value is ...:
        del place[key]
    else:
        place[key] = value
    return copied


def pointers(document: Any, pointer: str = "") -> Iterator[str]:
    """Every place of a document, leaves and branches, without names that need escapes."""
    if pointer:
        yield pointer
    places = document.items() if isinstance(document, dict) else enumerate(document)
    for place, inner in places if isinstance(document, dict | list) else ():
        yield from (
            pointers(inner, f"{pointer}/{place}")
            if isinstance(inner, dict | list)
            else [f"{pointer}/{place}"]
        )


# What every outcome carries.


@pytest.mark.parametrize("path", [SETTLE, VOID])
@pytest.mark.parametrize("ruleset", sorted(load_rulesets()))
def test_every_outcome_is_certified(client: FlaskClient, path: str, ruleset: str) -> None:
    request = folded(ruleset=ruleset, **({"reason": "power cut"} if path == VOID else {}))
    outcome = ask(client, path, request)
    header, payload, signature = parts(outcome["certificate"])
    assert header == {
        "alg": "Ed25519",
        "kid": development_keys()["keys"][0]["kid"],
        "typ": "russian-poker-outcome+jws",
        "development": True,
    }
    assert payload == rfc8785.dumps(bare(outcome))
    assert len(signature) == 64
    assert list(outcome)[-1] == "certificate"
    assert outcome["engine"] == {"version": ENGINE_VERSION, "digest": ENGINE_DIGEST, "shuffle": SHUFFLE}
    assert outcome["ruleset"]["digest"] == load_rulesets()[ruleset].ruleset.digest


def test_a_bare_outcome_is_told_where_it_belongs(client: FlaskClient, settled: Document) -> None:
    for outcome in (settled, bare(settled)):
        problem = post(client, VERIFY, outcome).get_json()
        (error,) = problem["errors"]
        assert (problem["type"], error["pointer"]) == ("/problems/invalid-request", "/outcome")
        assert '{"outcome": …}' in error["detail"]


def test_a_view_is_not_certified(client: FlaskClient) -> None:
    assert "certificate" not in ask(client, STEP, folded())


def canonical(request: Document) -> Document:
    """The canonical request of a round in one open box, by its description."""
    box = {"blind": False, "bonus": 0, **request["boxes"][0]}
    deal = {"client_seed": "", "nonce": 0, **request["deal"]}
    return {**request, "boxes": [box], "deal": deal, "table": {"min_stake": 1, **request.get("table", {})}}


@pytest.mark.parametrize(
    "request_",
    [
        folded(),
        folded(context={}),
        folded(context={"b": [1], "a": "ё"}),
        folded(table={"max_payout": 5}),
        folded(
            boxes=[{"box": 3, "ante": 7, "bonus": 9, "player": "Eve"}], actions=[{"box": 3, "action": "fold"}]
        ),
    ],
    ids=repr,
)
def test_digest_and_id_are_those_of_the_canonical_request(client: FlaskClient, request_: Document) -> None:
    outcome = ask(client, SETTLE, request_)
    digest = hashlib.sha256(rfc8785.dumps(canonical(request_))).hexdigest()
    assert (outcome["request_digest"], outcome["outcome_id"]) == (f"sha256:{digest}", digest[:32])


SAME: list[Document] = [
    {"table": {}},
    {"table": {"min_stake": 1}},
    {"boxes": [{"box": 1, "ante": 100, "bonus": 0}]},
    {"boxes": [{"blind": False, "ante": 100, "box": 1}]},
    {"deal": {"server_seed": SEED, "client_seed": ""}},
    {"deal": {"nonce": 0, "server_seed": SEED.upper()}},
    {"deal": {"server_seed": SEED, "reveal": True}},
    {"deal": {"server_seed": SEED, "reveal": False}},
    {"deal": {"server_seed": SEED, "commitment": hashlib.sha256(bytes.fromhex(SEED)).hexdigest().upper()}},
]
OTHER: list[Document] = [
    {"ruleset": "trainer-1"},
    {"deal": {"server_seed": "0e" + SEED[2:]}},
    {"deal": {"server_seed": SEED, "client_seed": "a"}},
    {"deal": {"server_seed": SEED, "client_seed": " "}},
    {"deal": {"server_seed": SEED, "nonce": 1}},
    {"deal": {"server_seed": SEED, "beacon": {"source": "s", "value": "0" * 32}}},
    {"boxes": [{"box": 1, "ante": 101}]},
    {"boxes": [{"box": 1, "ante": 100, "bonus": 1}]},
    {"boxes": [{"box": 1, "ante": 100, "player": "a"}]},
    {"boxes": [{"box": 2, "ante": 100}], "actions": [{"box": 2, "action": "fold"}]},
    {
        "boxes": [{"box": 1, "ante": 100}, {"box": 2, "ante": 100}],
        "actions": [{"box": 1, "action": "fold"}, {"box": 2, "action": "fold"}],
    },
    {"actions": [{"box": 1, "action": "buy_sixth"}, {"box": 1, "action": "fold"}]},
    {"table": {"min_stake": 2}},
    {"table": {"max_stake": 10**12}},
    {"table": {"max_payout": 10**12}},
    {"context": {}},
    {"context": {"a": 1}},
    {"context": {"a": True}},
    {"context": {"a": "1"}},
    {"context": {"a": None}},
]


@pytest.mark.parametrize("members", SAME, ids=repr)
def test_defaults_spelled_out_are_the_same_round(client: FlaskClient, members: Document) -> None:
    one, other = ask(client, SETTLE, folded()), ask(client, SETTLE, folded(**members))
    assert one["outcome_id"] == other["outcome_id"]
    if "reveal" not in members.get("deal", {}) or members["deal"]["reveal"]:
        assert one == other, "to the last byte of the certificate"


def test_every_change_is_another_round(client: FlaskClient) -> None:
    ids = [ask(client, SETTLE, folded(**members))["outcome_id"] for members in ({}, *OTHER)]
    assert len(set(ids)) == len(ids)


def test_a_void_round_is_another_than_the_settled_one(client: FlaskClient) -> None:
    ids = [
        ask(client, SETTLE, folded())["outcome_id"],
        ask(client, VOID, folded(reason="power cut"))["outcome_id"],
        ask(client, VOID, folded(reason="power cut "))["outcome_id"],
        ask(client, VOID, folded(reason="power cut", actions=[]))["outcome_id"],
    ]
    assert len(set(ids)) == 4


def test_the_same_request_gets_the_same_certificate_at_any_time(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = post(client, SETTLE, example(context={"b": 1, "a": [2]}))
    monkeypatch.setattr("time.time", lambda: 4e9)
    reordered = dict(reversed(example(context={"a": [2], "b": 1}).items()))
    second = post(create_app().test_client(), SETTLE, reordered)
    assert first.get_json()["certificate"] == second.get_json()["certificate"]
    assert first.data == post(client, SETTLE, example(context={"b": 1, "a": [2]})).data


def test_two_processes_give_the_same_certificate(client: FlaskClient, tmp_path: Path) -> None:
    request = example(context={"ключ": ["b", "a"], "z": {}, "a": -1})
    certificates = {ask(client, SETTLE, request)["certificate"]}
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-m", "service.cli", "settle", "-"],
            input=json.dumps(request).encode(),
            env={
                "PATH": os.environ["PATH"],
                "PYTHONPATH": str(Path(service.__file__).parents[1]),
                "PYTHONHASHSEED": seed,
            },
            cwd=tmp_path,
            capture_output=True,
            check=True,
        )
        certificates.add(json.loads(run.stdout)["certificate"])
    assert len(certificates) == 1


def no_float(text: str) -> Any:
    raise AssertionError(f"{text} is no integer")


@given(contexts)
@suite
def test_a_payload_is_canonical_and_holds_no_float(client: FlaskClient, context: Document) -> None:
    outcome = ask(client, SETTLE, folded(context=context))
    _, payload, _ = parts(outcome["certificate"])
    assert payload == rfc8785.dumps(bare(outcome))
    shown = json.loads(payload, parse_float=no_float, parse_constant=no_float)
    assert shown["context"] == context
    verdict = verdict_on(client, outcome["certificate"])
    assert (verdict["valid"], codes(verdict)) == (True, {})


@pytest.mark.parametrize(
    ("written", "read"),
    [("5.0", 5), ("1e3", 1000), ("-0.0", 0), ("2.5e1", 25), ("9007199254740991.0", 2**53 - 1)],
)
def test_whole_numbers_become_integers_however_they_are_written(
    client: FlaskClient, written: str, read: int
) -> None:
    body = json.dumps(folded(context={"a": ["@"]})).replace('"@"', written)
    answer = client.post(SETTLE, data=body, content_type="application/json").get_json()
    assert f'"context":{{"a":[{read}]}}'.encode() in parts(answer["certificate"])[1]
    assert ask(client, SETTLE, folded(context={"a": [read]})) == answer


@pytest.mark.parametrize("number", ["5.5", "1e-3", "9007199254740992", "-9007199254740992", "1e300", "0.1"])
def test_other_numbers_are_refused_in_a_context(client: FlaskClient, number: str) -> None:
    body = json.dumps(folded(context={"a": ["@"]})).replace('"@"', number)
    answer = client.post(SETTLE, data=body, content_type="application/json")
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.get_json()["errors"]] == ["/context/a/0"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (SETTLE, folded(context={"a": "ё"})),
        (VOID, folded(reason="power cut")),
        (STEP, folded()),
        (VERIFY, {"certificate": "x"}),
        ("/v1/fairness/seeds", {"sealed": True}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_answers_carry_their_digest(client: FlaskClient, path: str, body: Document) -> None:
    answer = post(client, path, body)
    digest = base64.b64encode(hashlib.sha256(answer.data).digest()).decode()
    assert answer.headers["Content-Digest"] == f"sha-256=:{digest}:"


# Keys over HTTP.


def test_the_development_key_says_so_everywhere(client: FlaskClient, settled: Document) -> None:
    assert parts(settled["certificate"])[0]["development"] is True
    check = verdict_on(client, settled["certificate"])["checks"][0]
    assert "development key" in check["detail"]
    assert "proves nothing" in check["detail"]
    published = client.get("/.well-known/jwks.json").get_json()
    assert [key["development"] for key in published["keys"]] == [True]


def test_public_keys_are_served_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    file = rotated_keys(rotated_keys(new_keys()))
    file = revoked_keys(file, file["keys"][0]["kid"], "stolen")
    answer = client_with(monkeypatch, file).get("/.well-known/jwks.json")
    assert [(key["kty"], key["status"]) for key in answer.get_json()["keys"]] == [
        ("OKP", "revoked"),
        ("OKP", "retired"),
        ("OKP", "active"),
        ("OKP", "next"),
    ]
    assert answer.get_json()["keys"][0]["reason"] == "stolen"
    assert not any("d" in key or "k" in key for key in answer.get_json()["keys"])
    secrets = [key.get("d") or key.get("k") for key in file["keys"]]
    assert not any(secret in answer.text for secret in secrets if secret)
    assert answer.headers["Cache-Control"] == "public, max-age=300"


def test_an_old_certificate_is_valid_after_two_rotations_and_not_after_its_keys_revocation(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    file = new_keys()
    certificate = ask(client_with(monkeypatch, file), SETTLE, folded())["certificate"]
    assert "development" not in parts(certificate)[0]
    newer = certificate
    for status in ("active", "retired", "retired"):
        client = client_with(monkeypatch, file)
        verdict = verdict_on(client, certificate)
        assert verdict["valid"], verdict
        assert status in verdict["checks"][0]["detail"]
        newer = ask(client, SETTLE, folded())["certificate"]
        assert verdict_on(client, newer)["valid"]
        file = rotated_keys(file)
    revoked = revoked_keys(file, parts(certificate)[0]["kid"], "the safe was opened")
    verdict = verdict_on(client_with(monkeypatch, revoked), certificate)
    assert (verdict["valid"], codes(verdict)) == (False, {"signature": "revoked-key"})
    assert "the safe was opened" in verdict["checks"][0]["detail"]
    assert verdict_on(client_with(monkeypatch, revoked), newer)["valid"]


def test_a_certificate_of_another_house_is_of_an_unknown_key(
    client: FlaskClient, settled: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = client_with(monkeypatch, new_keys())
    assert codes(verdict_on(other, settled["certificate"])) == {"signature": "unknown-key"}
    certificate = ask(other, SETTLE, folded())["certificate"]
    assert codes(verdict_on(client, certificate)) == {"signature": "unknown-key"}


# Verdicts.


def test_a_certificate_is_verified_by_signature_and_recomputation(
    client: FlaskClient, settled: Document
) -> None:
    for shown in ({"certificate": settled["certificate"]}, {"outcome": settled}):
        verdict = ask(client, VERIFY, shown)
        assert (verdict["valid"], verdict["differences"]) == (True, [])
        assert [check["name"] for check in verdict["checks"]] == ALL_CHECKS
        assert all(check["passed"] and check["detail"] and "code" not in check for check in verdict["checks"])


def test_an_outcome_with_certificate_is_compared_with_the_request_as_well(
    client: FlaskClient, settled: Document
) -> None:
    request = folded(context={"round_id": "A-1"})
    assert ask(client, VERIFY, {"request": request, "outcome": settled})["valid"]
    verdict = ask(client, VERIFY, {"request": folded(), "outcome": settled})
    assert codes(verdict) == {"settlement": "other-settlement"}
    assert verdict["checks"][0]["passed"], "the certificate itself is genuine"


def test_an_outcome_without_certificate_is_recomputed(client: FlaskClient, settled: Document) -> None:
    verdict = ask(client, VERIFY, {"outcome": bare(settled)})
    assert verdict["valid"]
    assert [check["name"] for check in verdict["checks"]] == ALL_CHECKS[1:]


@pytest.mark.parametrize("other", ["context", "seed"])
def test_a_certificate_that_vouches_for_another_outcome(
    client: FlaskClient, settled: Document, other: str
) -> None:
    request = (
        folded(context={"round_id": "A-2"}) if other == "context" else folded(deal={"server_seed": "01" * 32})
    )
    certificate = ask(client, SETTLE, request)["certificate"]
    verdict = ask(client, VERIFY, {"outcome": {**settled, "certificate": certificate}})
    assert codes(verdict) == {"signature": "altered-outcome"}
    assert "vouches for another outcome" in verdict["checks"][0]["detail"]


def test_every_alteration_of_a_certified_outcome_is_found(client: FlaskClient, settled: Document) -> None:
    for pointer in pointers(bare(settled)):
        verdict = ask(client, VERIFY, {"outcome": put(settled, pointer, "altered")})
        assert codes(verdict)["signature"] == "altered-outcome", pointer
        assert not verdict["valid"]


def test_every_alteration_of_an_outcome_without_certificate_is_found(
    client: FlaskClient, settled: Document
) -> None:
    for pointer in pointers(bare(settled)):
        for value in ("altered", ...):
            verdict = ask(client, VERIFY, {"outcome": put(bare(settled), pointer, value)})
            assert not verdict["valid"], (pointer, value, verdict)


@pytest.mark.parametrize("value", ["5", 5, [], {}, "a.b.c", True], ids=repr)
def test_a_certificate_within_an_outcome_that_is_none(
    client: FlaskClient, settled: Document, value: Any
) -> None:
    verdict = ask(client, VERIFY, {"outcome": {**settled, "certificate": value}})
    assert codes(verdict) == {"signature": "malformed"}


def test_every_altered_character_is_refused(client: FlaskClient) -> None:
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    certificate = ask(client, VOID, folded(actions=[], reason="x"))["certificate"]
    assert verdict_on(client, certificate)["valid"]
    for place, character in enumerate(certificate):
        other = "A" if character == "." else alphabet[alphabet.index(character) ^ 1]
        verdict = verdict_on(client, certificate[:place] + other + certificate[place + 1 :])
        assert not verdict["valid"]
        assert list(codes(verdict)) == ["signature"]


def test_a_hidden_seed_is_needed_and_has_to_be_the_right_one(client: FlaskClient) -> None:
    outcome = ask(client, SETTLE, folded(deal={"server_seed": SEED, "reveal": False}))
    assert "server_seed" not in outcome["deal"]
    assert len(outcome["deal"]["deck"]) == outcome["deal"]["cards_used"] == 10
    assert SEED.encode() not in parts(outcome["certificate"])[1]
    for shown in ({"certificate": outcome["certificate"]}, {"outcome": outcome}):
        verdict = ask(client, VERIFY, shown)
        assert (verdict["valid"], codes(verdict)) == (False, {"deal": "seed-needed"})
        assert ask(client, VERIFY, {**shown, "server_seed": SEED.upper()})["valid"]
        wrong = ask(client, VERIFY, {**shown, "server_seed": "01" * 32})
        assert codes(wrong)["deal"] == "other-deal"
        assert not wrong["valid"]
        assert "/deal/commitment" in {difference["pointer"] for difference in wrong["differences"]}
        for seed in ("", "0f", "0x" + SEED, 5, None):
            assert post(client, VERIFY, {**shown, "server_seed": seed}).status_code == 422


# Payloads that the right key signed, and that are wrong all the same.


def signed(document: Any) -> str:
    return SIGN(rfc8785.dumps(document))


@pytest.mark.parametrize(
    ("pointer", "value", "expected"),
    [
        ("/engine/version", "0.9.0", {"engine": "other-engine"}),
        ("/engine/shuffle", "fisher-yates/0", {"engine": "other-engine"}),
        ("/engine", ..., {"engine": "other-engine"}),
        ("/ruleset/digest", "sha256:" + "0" * 64, {"ruleset": "other-ruleset"}),
        ("/ruleset/version", 2, {"ruleset": "other-ruleset"}),
        ("/ruleset/id", "casino-2", {"ruleset": "other-ruleset"}),
        ("/ruleset/id", "", {"request": "not-settled"}),
        ("/deal/commitment", "0" * 64, {"deal": "other-deal"}),
        ("/deal/cards_used", 11, {"deal": "other-deal"}),
        ("/deal/deck/51", "2c", {"deal": "other-deal"}),
        ("/deal/more", 1, {"deal": "other-deal"}),
        ("/totals/net", 5, {"settlement": "other-settlement"}),
        ("/boxes/0/bets/0/returned", 100, {"settlement": "other-settlement"}),
        ("/outcome_id", "0" * 32, {"settlement": "other-settlement"}),
        ("/request_digest", "sha256:" + "0" * 64, {"settlement": "other-settlement"}),
        ("/certified_by", "a laboratory", {"settlement": "other-settlement"}),
        ("/actions/0/action", "bet", {"request": "not-settled"}),
        ("/actions", [], {"request": "not-settled"}),
        ("/boxes", [], {"request": "not-settled"}),
        ("/status", "open", {"settlement": "other-settlement"}),
    ],
    ids=repr,
)
def test_what_is_wrong_is_told(
    client: FlaskClient, settled: Document, pointer: str, value: Any, expected: Document
) -> None:
    payload = put(bare(settled), pointer, value)
    for shown in ({"certificate": signed(payload)}, {"outcome": {**payload, "certificate": signed(payload)}}):
        verdict = ask(client, VERIFY, shown)
        assert not verdict["valid"]
        assert verdict["checks"][0] == {
            "name": "signature",
            "passed": True,
            "detail": verdict["checks"][0]["detail"],
        }
        assert codes(verdict) == expected, verdict


def test_another_build_of_the_same_engine_version_is_the_same_engine(
    client: FlaskClient, settled: Document
) -> None:
    """The version changes with any result; the digest with any byte of the files."""
    payload = put(bare(settled), "/engine/digest", "sha256:" + "0" * 64)
    verdict = verdict_on(client, signed(payload))
    assert (verdict["valid"], verdict["differences"]) == (True, [])


@given(
    contexts | st.dictionaries(st.sampled_from(["status", "deal", "boxes", "actions", "table"]), json_values)
)
@suite
def test_garbage_that_the_right_key_signed_gets_a_verdict(client: FlaskClient, garbage: Document) -> None:
    verdict = verdict_on(client, signed(garbage))
    assert not verdict["valid"]
    assert verdict["checks"][0]["passed"]


@given(st.data())
@suite
def test_an_outcome_altered_anywhere_by_the_right_key_gets_a_verdict(
    client: FlaskClient, settled: Document, data: st.DataObject
) -> None:
    outcome = bare(settled)
    pointer = data.draw(st.sampled_from([place for place in pointers(outcome) if place != "/engine/digest"]))
    altered = put(outcome, pointer, data.draw(json_values | st.just(...)))
    verdict = verdict_on(client, signed(altered))
    assert verdict["valid"] == same_but_for_the_digest(outcome, altered)


def same_but_for_the_digest(one: Any, other: Any) -> bool:
    """Equal to the byte, since Python would call 0, False and 0.0 equal."""
    engines = one.get("engine"), other.get("engine")
    if not all(isinstance(engine, dict) for engine in engines):
        return False
    texts = [
        rfc8785.dumps({**document, "engine": {**document["engine"], "digest": ""}})
        for document in (one, other)
    ]
    return texts[0] == texts[1]


@pytest.mark.parametrize("status", ["settled", "void", "open", None, [], {}], ids=repr)
def test_an_object_that_only_looks_like_an_outcome_is_not_valid(client: FlaskClient, status: Any) -> None:
    for payload in (
        {"status": status},
        {"status": status, "boxes": [], "reason": "x"},
        {"status": status, "boxes": {}, "reason": [[]], "deal": {"source": "seed"}},
        {"status": status, "boxes": [{"bets": []}], "reason": "x", "deal": {"source": "deck", "deck": []}},
        {"status": status, "boxes": "", "reason": "", "deal": "source"},
        {"status": status, "boxes": [{"box": 1, "bets": [{"stake": 1, "returned": 1}]}], "reason": "x"},
    ):
        verdict = verdict_on(client, signed(payload))
        assert verdict["checks"][0]["passed"]
        assert not verdict["valid"], payload


NESTED = ["/totals", "/totals/net", "/boxes", "/context", "/actions", "/deal/deck", "/status", "/new"]


@pytest.mark.parametrize("depth", [50, 240, 253, 254, 1000, 20_000])
def test_a_deeply_nested_payload_gets_a_verdict(client: FlaskClient, settled: Document, depth: int) -> None:
    for pointer in NESTED:
        text = rfc8785.dumps(put(bare(settled), pointer, "@")).replace(b'"@"', b"[" * depth + b"]" * depth)
        assert not verdict_on(client, SIGN(text))["valid"]


@pytest.mark.parametrize(
    "number",
    [
        "9007199254740992",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "1e300",
        "1.5",
        "-0.5",
    ],
)
def test_numbers_of_any_size_get_a_verdict(client: FlaskClient, settled: Document, number: str) -> None:
    """Signed or claimed, with the request or without."""
    text = rfc8785.dumps(put(bare(settled), "/totals/net", "@")).replace(b'"@"', number.encode())
    assert not verdict_on(client, SIGN(text))["valid"]


@pytest.mark.parametrize(
    "number",
    [
        "9007199254740992",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "1e300",
        "1" + "0" * 4000,
        "1.5",
        "-0.5",
    ],
    ids=lambda number: number[:21],
)
@pytest.mark.parametrize("with_request", [True, False])
def test_claimed_numbers_of_any_size_get_a_verdict(
    client: FlaskClient, settled: Document, number: str, with_request: bool
) -> None:
    body: Document = {"outcome": put(settled, "/totals/net", "@")}
    if with_request:
        body["request"] = folded(context={"round_id": "A-1"})
    answer = client.post(
        VERIFY, data=json.dumps(body).replace('"@"', number), content_type="application/json"
    )
    assert answer.status_code == 200, answer.text
    assert not answer.get_json()["valid"]


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"x",
        b"[]",
        b"1",
        b'{"a": 1}',
        b'{"b":1,"a":2}',
        b'{"a":1,"a":1}',
        b"\xff",
        b"{" * 50,
        b'{"a":1e999}',
    ],
    ids=repr,
)
def test_a_payload_that_is_not_canonical_gets_a_verdict(client: FlaskClient, payload: bytes) -> None:
    assert codes(verdict_on(client, SIGN(payload))) == {"signature": "not-canonical"}


# Whatever the service certifies, it verifies.


@pytest.mark.parametrize(
    "context",
    [
        json.dumps({"a": "x" * 60_000}),
        json.dumps({"a": "я" * 30_000}, ensure_ascii=False),
        json.dumps({"a": '"' * 30_000}),
        '{"a":[' + ",".join(["9e15"] * 12_000) + "]}",
        '{"a":' + "[" * 29 + "]" * 29 + "}",
        '{"a":' + "[" * 30 + "]" * 30 + "}",
    ],
    ids=["long", "Cyrillic", "escapes", "numbers that grow", "deep", "deepest"],
)
def test_the_largest_contexts_are_verified(client: FlaskClient, context: str) -> None:
    body = json.dumps(folded(context="@")).replace('"@"', context).encode()
    answer = client.post(SETTLE, data=body, content_type="application/json")
    if answer.status_code != 200:
        assert answer.status_code in {400, 413, 422}, "refused at once is fine too"
        return
    outcome = answer.get_json()
    for shown in ({"certificate": outcome["certificate"]}, {"outcome": outcome}):
        verdict = post(client, VERIFY, shown)
        assert verdict.status_code == 200, verdict.text
        assert verdict.get_json()["valid"]


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"certificate": ""},
        {"certificate": 5},
        {"certificate": None},
        {"certificate": []},
        {"certificate": "x", "outcome": {}},
        {"certificate": "x", "request": {}},
        {"certificate": "x", "more": 1},
        {"outcome": 5},
        {"outcome": None},
        {"request": folded()},
        [],
        "x",
        None,
    ],
    ids=repr,
)
def test_a_body_of_another_shape_is_refused(client: FlaskClient, body: Any) -> None:
    answer = post(client, VERIFY, body)
    assert (answer.status_code, answer.get_json()["type"]) == (422, "/problems/invalid-request")


def test_a_request_that_cannot_be_settled_is_a_problem_within_the_request(
    client: FlaskClient, settled: Document
) -> None:
    answer = post(client, VERIFY, {"request": folded(actions=[]), "outcome": settled})
    assert (answer.status_code, answer.get_json()["type"]) == (422, "/problems/round-incomplete")
    assert [error["pointer"] for error in answer.get_json()["errors"]] == ["/request/actions"]


@pytest.mark.parametrize("outcome", [{}, {"status": "settled"}, {"status": "void"}, {"a": [None]}], ids=repr)
def test_a_claim_that_is_no_outcome_gets_a_verdict(client: FlaskClient, outcome: Document) -> None:
    assert not ask(client, VERIFY, {"outcome": outcome})["valid"]
    assert not ask(client, VERIFY, {"outcome": outcome, "request": folded()})["valid"]
