"""``POST /v1/rounds/verify``: a claimed outcome against what the request really gives.

Most claims here are plain ones, without certificate; test_certificates.py has more about those with one.
"""

import copy
from collections.abc import Iterator
from typing import Any

import pytest

from tests.api.calls import (
    SEED,
    SETTLE,
    VERIFY,
    Api,
    Document,
    act,
    leaves,
    plain,
    rigged,
    round_body,
    without,
)
from tests.support.vectors import load, settle_body

CHECKS = ["ruleset", "engine", "deal", "settlement"]
"""The checks of a plain claim; a certificate is checked before them."""
BUILD, OTHER_BUILD = "/engine/digest", "sha256:" + "0" * 64
"""The one place where an outcome may differ and be valid: other files, but the same version."""


def example() -> Document:
    """Two boxes, every kind of action but folding, and a context."""
    return round_body(
        deal=rigged("Ah Ac As 9c 2d", "2c 4d 6h 8s Tc", "Kh Jd 7s 4c 2h", then="Kd 5s Ks 7d"),
        table={"min_stake": 10, "max_payout": 5_000_000},
        boxes=[
            {"box": 1, "ante": 100, "bonus": 25, "player": "Eve"},
            {"box": 2, "ante": 100, "blind": True},
        ],
        actions=act("1 exchange 9c 2d", "1 insure 200", "1 bet", "1 buy_game", "2 take_ante"),
        context={"round_id": "A-1", "tags": ["x", 1, True, None]},
    )


@pytest.fixture(scope="module")
def certified(api: Api) -> Document:
    return api.settle(example())


@pytest.fixture(scope="module")
def settled(certified: Document) -> Document:
    return plain(certified)


def failed(verdict: Document) -> dict[str, str]:
    """The codes of the checks that failed."""
    assert all(("code" in check) != check["passed"] for check in verdict["checks"])
    return {check["name"]: check["code"] for check in verdict["checks"] if not check["passed"]}


def passed(verdict: Document) -> dict[str, bool]:
    return {check["name"]: check["passed"] for check in verdict["checks"]}


def part_of(pointer: str) -> str:
    first = pointer.split("/")[1]
    return first if first in CHECKS else "settlement"


def put(document: Document, pointer: str, value: Any) -> Document:
    """A copy of the document with another value at the pointer."""
    copied = copy.deepcopy(document)
    *path, last = pointer.split("/")[1:]
    place: Any = copied
    for step in path:
        place = place[int(step)] if isinstance(place, list) else place[step]
    place[int(last) if isinstance(place, list) else last] = value
    return copied


def test_a_true_claim_is_valid(api: Api, settled: Document) -> None:
    verdict = api.verify(example(), settled)
    assert (verdict["valid"], verdict["differences"]) == (True, [])
    assert list(passed(verdict).items()) == [(name, True) for name in CHECKS]
    assert all(check["detail"] for check in verdict["checks"])


def test_a_claim_that_lacks_only_its_certificate_is_valid(
    api: Api, settled: Document, certified: Document
) -> None:
    verdict = api.verify(example(), certified)
    assert (verdict["valid"], verdict["differences"]) == (True, [])
    assert list(passed(verdict).items()) == [(name, True) for name in ("signature", *CHECKS)]
    bare = api.verify(example(), settled)
    assert (bare["valid"], bare["checks"]) == (True, verdict["checks"][1:])
    assert api.verify(example(), settled | {"certificate": None}) == bare


def test_a_claim_says_of_itself_what_it_answers(api: Api, settled: Document, certified: Document) -> None:
    for outcome in (settled, certified):
        alone = api.ask(VERIFY, {"outcome": outcome})
        assert alone == api.verify(example(), outcome)
        assert alone["valid"] is True
    assert api.ask(VERIFY, {"certificate": certified["certificate"]}) == api.verify(example(), certified)


def test_every_third_vector_verifies(api: Api) -> None:
    for vector in (load("rounds.jsonl") + load("rigged.jsonl"))[::3]:
        body = settle_body(vector)
        outcome = api.settle(body)
        for shown in (
            {"request": body, "outcome": outcome},
            {"request": body, "outcome": plain(outcome)},
            {"outcome": outcome},
            {"outcome": plain(outcome)},
            {"certificate": outcome["certificate"]},
        ):
            assert api.ask(VERIFY, shown)["valid"] is True


def other_values(value: Any) -> Iterator[Any]:
    """Values of the same and of other types, none equal to this one in JSON."""
    if isinstance(value, bool):
        yield from (not value, int(value), str(value))
    elif isinstance(value, int):
        yield from (value + 1, -value - 1, value + 0.5, str(value), None)
    elif value is None:
        yield from (False, 0, "", [])
    else:
        yield from (value + "x", value.swapcase(), None, [value], 1)


def test_any_single_change_is_found_where_it_was_made(
    api: Api, settled: Document, certified: Document
) -> None:
    changes = [(pointer, value, other) for pointer, value in leaves(settled) for other in other_values(value)]
    assert len(changes) > 500
    for pointer, value, other in changes:
        if other == value and type(other) is type(value):
            continue  # a text without letters has no other case
        claim = put(settled, pointer, other)
        verdict = api.verify(example(), claim)
        assert verdict["differences"] == [{"pointer": pointer, "claimed": other, "computed": value}]
        assert verdict["valid"] is False
        assert passed(verdict) == {name: name != part_of(pointer) for name in CHECKS}
        # The certificate vouches for every place; the rest is as without it.
        signed = api.verify(example(), {**claim, "certificate": certified["certificate"]})
        assert signed["valid"] is False
        assert failed(signed)["signature"] == "altered-outcome"
        assert signed["checks"][0]["detail"].endswith(pointer)
        assert (signed["checks"][1:], signed["differences"]) == (verdict["checks"], verdict["differences"])


def test_another_build_of_the_engine_is_the_same_engine_and_another_version_is_not(
    api: Api, settled: Document, certified: Document
) -> None:
    other_build = put(settled, BUILD, OTHER_BUILD)
    for shown in ({"request": example(), "outcome": other_build}, {"outcome": other_build}):
        verdict = api.ask(VERIFY, shown)
        assert (verdict["valid"], verdict["differences"]) == (True, [])
        assert passed(verdict) == dict.fromkeys(CHECKS, True)
    # A certificate vouches for the build as well.
    signed = api.verify(example(), {**other_build, "certificate": certified["certificate"]})
    assert failed(signed) == {"signature": "altered-outcome"}

    newer = put(settled, "/engine/version", "999.0.0")
    for claim, pointers in (
        (newer, ["/engine/version"]),
        (put(newer, BUILD, OTHER_BUILD), ["/engine/version", BUILD]),
        (put(other_build, "/engine/shuffle", "fisher-yates/0"), [BUILD, "/engine/shuffle"]),
        (put(other_build, "/engine/digests", "x"), [BUILD, "/engine/digests"]),
        (put(settled, BUILD, "sha256:0"), [BUILD]),
        (put(settled, BUILD, OTHER_BUILD + "\n"), [BUILD]),
        ({**settled, "engine": without(settled["engine"], "digest")}, [BUILD]),
    ):
        verdict = api.verify(example(), claim)
        assert failed(verdict) == {"engine": "other-engine"}
        assert [difference["pointer"] for difference in verdict["differences"]] == pointers
        assert verdict["valid"] is False


def test_numbers_are_compared_by_value(api: Api, settled: Document) -> None:
    for pointer, value in leaves(settled):
        if type(value) is int:
            assert api.verify(example(), put(settled, pointer, float(value)))["valid"] is True


@pytest.mark.parametrize("number", ["1e300", "18446744073709551616", "-9223372036854775809", "1e19", "0.1"])
@pytest.mark.parametrize("pointer", ["/totals/net", "/context/round_id", "/status", "/boxes/0/bets/1/odds"])
def test_a_claimed_number_may_be_of_any_size(number: str, pointer: str, api: Api, settled: Document) -> None:
    claim = put(settled, pointer, float(number) if "." in number or "e" in number else int(number))
    verdict = api.verify(example(), claim)
    assert [difference["pointer"] for difference in verdict["differences"]] == [pointer]
    assert float(verdict["differences"][0]["claimed"]) == float(number)


def test_a_missing_member_has_only_a_computed_value(api: Api, settled: Document) -> None:
    for name in settled:
        verdict = api.verify(example(), without(settled, name))
        assert verdict["differences"] == [{"pointer": f"/{name}", "computed": settled[name]}]


@pytest.mark.parametrize("name", ["extra", "dealers", "a/b~c", "rulesets", "Status", "_schema"])
def test_a_surplus_member_has_only_a_claimed_value(name: str, api: Api, settled: Document) -> None:
    verdict = api.verify(example(), settled | {name: {"a": [1]}})
    pointer = "/" + name.replace("~", "~0").replace("/", "~1")
    assert verdict["differences"] == [{"pointer": pointer, "claimed": {"a": [1]}}]
    assert passed(verdict) == {"ruleset": True, "engine": True, "deal": True, "settlement": False}


def test_arrays_are_compared_place_by_place(api: Api, settled: Document) -> None:
    longer = put(settled, "/boxes/0/hand", [*settled["boxes"][0]["hand"], "3d"])
    assert api.verify(example(), longer)["differences"] == [{"pointer": "/boxes/0/hand/5", "claimed": "3d"}]
    shorter = put(settled, "/boxes/0/hand", settled["boxes"][0]["hand"][:4])
    (difference,) = api.verify(example(), shorter)["differences"]
    assert difference == {"pointer": "/boxes/0/hand/4", "computed": settled["boxes"][0]["hand"][4]}


@pytest.mark.parametrize("claim", [{}, {"outcome": {}}, {"status": "void"}])
def test_a_claim_of_nothing_is_not_valid(claim: Document, api: Api, settled: Document) -> None:
    verdict = api.verify(example(), claim)
    assert verdict["valid"] is False
    assert passed(verdict) == dict.fromkeys(CHECKS, False)


def test_no_check_passes_for_what_was_not_compared(api: Api, settled: Document) -> None:
    """A deck of 52 differences uses up what is listed; the wrong total behind it is wrong all the same."""
    claim = put(settled, "/deal/deck", list(reversed(settled["deal"]["deck"])))
    claim = put(claim, "/totals/net", 10**6)
    verdict = api.verify(example(), claim)
    assert verdict["valid"] is False
    assert 1 <= len(verdict["differences"]) <= 20
    assert passed(verdict) == {"ruleset": True, "engine": True, "deal": False, "settlement": False}


def test_differences_beyond_counting_spoil_every_check(api: Api, settled: Document) -> None:
    for surplus, checks in ((100, ["settlement"]), (5000, CHECKS)):
        verdict = api.verify(example(), settled | {f"surplus{number}": 1 for number in range(surplus)})
        assert verdict["valid"] is False
        assert len(verdict["differences"]) == 20
        assert list(failed(verdict)) == checks


def test_a_dealer_is_no_part_of_the_deal(api: Api, settled: Document) -> None:
    verdict = api.verify(example(), put(settled, "/dealer/final_kind", "flush"))
    assert passed(verdict) == {"ruleset": True, "engine": True, "deal": True, "settlement": False}


def test_a_claim_of_another_round_is_not_valid(api: Api) -> None:
    mine, other = (round_body(deal={"server_seed": SEED, "nonce": nonce}) for nonce in (1, 2))
    assert api.verify(mine, api.settle(mine))["valid"] is True
    genuine = api.settle(other)
    verdict = api.verify(mine, genuine)
    assert (verdict["valid"], passed(verdict)["signature"]) == (False, True)
    assert failed(verdict) == failed(api.verify(mine, plain(genuine)))
    assert {"deal", "settlement"} <= set(failed(verdict))


def test_a_certificate_of_another_round_vouches_for_nothing_here(api: Api, settled: Document) -> None:
    other = api.settle(example() | {"context": {"round_id": "A-2"}})
    verdict = api.verify(example(), {**settled, "certificate": other["certificate"]})
    assert failed(verdict) == {"signature": "altered-outcome"}
    assert (verdict["valid"], verdict["differences"]) == (False, [])


def test_a_broken_certificate_spoils_a_true_claim(api: Api, settled: Document, certified: Document) -> None:
    header, payload, signature = certified["certificate"].split(".")
    broken = {
        f"{header}.{payload}": "malformed",
        f"{header}.{payload}.{signature[::-1]}": "bad-signature",
        f"{payload}.{header}.{signature}": "malformed",
        "": "malformed",
    }
    for certificate, code in broken.items():
        verdict = api.verify(example(), {**settled, "certificate": certificate})
        assert failed(verdict) == {"signature": code}
        assert verdict["valid"] is False


def test_a_claim_without_the_seed_is_verified_against_a_request_that_hides_it(api: Api) -> None:
    hidden = round_body(deal={"server_seed": SEED, "reveal": False})
    outcome = api.settle(hidden)
    assert api.verify(hidden, outcome)["valid"] is True
    assert api.verify(hidden, plain(outcome))["valid"] is True
    for shown in (outcome, plain(outcome)):
        verdict = api.ask(VERIFY, {"outcome": shown})
        assert (verdict["valid"], failed(verdict)) == (False, {"deal": "seed-needed"})
        assert api.ask(VERIFY, {"outcome": shown, "server_seed": SEED})["valid"] is True
        wrong = api.ask(VERIFY, {"outcome": shown, "server_seed": "ab" * 32})
        assert (wrong["valid"], failed(wrong)["deal"]) == (False, "other-deal")
    revealed = put(plain(outcome), "/deal/server_seed", SEED)
    assert api.verify(hidden, revealed)["differences"] == [{"pointer": "/deal/server_seed", "claimed": SEED}]


def test_the_same_claim_gives_the_same_bytes(api: Api, settled: Document) -> None:
    body = {"request": example(), "outcome": put(settled, "/totals/net", 0)}
    assert api.post(VERIFY, body).data == api.post(VERIFY, body).data


# Requests that cannot be verified.


@pytest.mark.parametrize(
    ("change", "slug"),
    [
        ({"ruleset": "casino"}, "unknown-ruleset"),
        ({"boxes": [{"box": 7, "ante": 100}]}, "invalid-request"),
        ({"boxes": [{"box": 1, "ante": "100"}]}, "invalid-request"),
        ({"boxes": [{"box": 1, "ante": 1}], "table": {"min_stake": 5}}, "limits"),
        ({"actions": act("1 take_ante")}, "illegal-action"),
        ({"actions": []}, "round-incomplete"),
        ({"deal": {"server_seed": SEED, "commitment": "0" * 64}}, "commitment-mismatch"),
        ({"actions": [{"box": 1, "action": "bett"}]}, "invalid-request"),
    ],
)
def test_a_request_that_settle_refuses_is_refused_alike(change: Document, slug: str, api: Api) -> None:
    body = round_body() | change
    plain = api.refused(SETTLE, body, slug)
    within = api.refused(VERIFY, {"request": body, "outcome": {}}, slug)
    assert within["errors"] == [
        {**error, "pointer": f"/request{error['pointer']}"} for error in plain["errors"]
    ]
    assert without(within, "errors", "detail") == without(plain, "errors", "detail")


@pytest.mark.parametrize(
    ("body", "pointer", "told"),
    [
        ({}, "/outcome", "is required"),
        ({"server_seed": SEED}, "/outcome", "is required"),
        ({"request": round_body()}, "/outcome", "is required"),
        ({"outcome": {}, "server_seed": SEED[1:]}, "/server_seed", "must be 64 hex digits; got 63"),
        ({"outcome": {}, "server_seed": None}, "/server_seed", "must not be null"),
        ({"outcome": {}, "certificat": "x"}, "/certificat", "is not known"),
        ({"certificate": "x", "outcome": {}}, "/outcome", "is not known"),
        ({"certificate": "x", "request": round_body()}, "/request", "is not known"),
        ({"certificate": "x", "server_seed": "0x" + SEED}, "/server_seed", "drop the 0x"),
        ({"certificate": ""}, "/certificate", "characters"),
        ({"certificate": ["x"]}, "/certificate", "must be a text; got an array"),
        ({"certificate": None}, "/certificate", "must be a text; got null"),
        ({"request": None, "outcome": {}}, "/request", "must not be null"),
        ({"request": round_body(), "outcome": None}, "/outcome", "null"),
        ({"request": 5, "outcome": {}}, "/request", "must be an object; got a number"),
        ({"request": [], "outcome": {}}, "/request", "must be an object; got an array"),
        ({"request": round_body(), "outcome": "x"}, "/outcome", "must be an object; got a text"),
        ({"request": round_body(), "outcome": {}, "outcomes": {}}, "/outcomes", "did you mean outcome?"),
        (
            {"request": round_body() | {"rulset": 1}, "outcome": {}},
            "/request/rulset",
            "'rulset' is not known; did you mean ruleset?",
        ),
        (
            {"request": round_body() | {"xyz": 1}, "outcome": {}},
            "/request/xyz",
            "known here: ruleset, deal, table, boxes, actions, context",
        ),
        (
            {"request": round_body(boxes=[{"box": 1, "ante": 5, "anti": 5}]), "outcome": {}},
            "/request/boxes/0/anti",
            "did you mean ante?",
        ),
    ],
)
def test_a_misshapen_body_is_refused(body: Document, pointer: str, told: str, api: Api) -> None:
    faults = api.faults(VERIFY, body)
    assert list(faults) == [pointer]
    assert told in faults[pointer]
