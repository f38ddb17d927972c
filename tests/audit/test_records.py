"""What a recorded round is worth: the same as ``verify`` says, for every record and every place in it."""

import copy
import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.api.verification import verify_shown
from service.audit.records import MAX_LINE, UNKNOWN, Damage, Finding, Tally, audit_records
from service.audit.report import CODES, COLUMNS
from service.certificate.canonical import canonical_bytes
from service.certificate.differences import ABSENT, Difference
from service.game.documents import Document
from service.keys import new_keys, read_keys, revoked_keys, rotated_keys
from service.rounds import settle_request
from service.strict_json import parse_json
from service.verification import claim_of
from tests.api.calls import SEED, leaves, round_body
from tests.audit.archive import (
    KEYS,
    REGISTRY,
    altered_total,
    archive,
    certified,
    counts,
    hidden,
    line,
    outcomes,
    seeded,
    void,
)
from tests.conftest import Tally as Count
from tests.docs.guides import guide, table
from tests.support.vectors import load, settle_body

OTHER_BUILD = "sha256:" + "0" * 64


def audited(*lines: bytes, certificates: bool = True, keys: Any = KEYS.verifying) -> Tally:
    return audit_records(lines, REGISTRY, keys, certificates)


def codes(tally: Tally) -> list[str | None]:
    return [found.what.code for found in tally.findings if not isinstance(found.what, Difference)]


def differences(tally: Tally) -> list[Difference]:
    return [found.what for found in tally.findings if isinstance(found.what, Difference)]


def is_right(record: bytes, **options: Any) -> bool:
    tally = audited(record, **options)
    assert tally.lines == 1
    assert tally.rounds + len(tally.damages) == bool(record.strip())
    return bool(counts(tally)["equal"]) and not tally.findings


# Right records.


def test_what_the_service_answered_is_right() -> None:
    tally = audited(*map(line, outcomes()))
    assert (tally.lines, tally.findings, tally.damages) == (len(outcomes()), [], [])
    assert set(tally.counts) == set(REGISTRY)
    for id, counter in tally.counts.items():
        mine = [outcome for outcome in outcomes() if outcome["ruleset"]["id"] == id]
        assert counter["rounds"] == counter["equal"] == len(mine) > 20
        for name in ("staked", "returned", "net"):
            total = sum(outcome["totals"][name] for outcome in mine)
            assert counter[name] == counter[f"claimed_{name}"] == total


def test_a_record_may_come_in_any_form() -> None:
    outcome, secret, body = settle_request(seeded(), REGISTRY), hidden(), round_body()
    for document in (
        outcome,
        certified(outcome),
        {"outcome": outcome},
        {"outcome": certified(outcome)},
        {"request": body, "outcome": outcome},
        {"request": body, "outcome": certified(outcome)},
        {"certificate": certified(outcome)["certificate"]},
        {"certificate": certified(secret)["certificate"], "server_seed": SEED},
        {"outcome": secret, "server_seed": SEED},
        {"outcome": certified(secret), "server_seed": SEED.upper()},
        certified(void()),
        {"certificate": certified(void())["certificate"]},
        {"outcome": void(), "server_seed": SEED},
    ):
        assert is_right(line(document)), document
        # As other programs write it.
        assert is_right(json.dumps(document, sort_keys=True).encode())
        assert is_right(b"\t" + json.dumps(document, indent=1).replace("\n", " ").encode() + b" \r")


def test_numbers_may_be_spelt_in_other_ways() -> None:
    outcome = settle_request(seeded(nonce=5), REGISTRY)
    text = line(outcome).decode()
    for number in ("5.0", "5e0", "50e-1"):
        assert is_right(text.replace('"nonce":5,', f'"nonce":{number},').encode())
    assert not is_right(text.replace('"nonce":5,', '"nonce":5.5,').encode())


def test_another_build_of_the_same_version_is_right() -> None:
    outcome = copy.deepcopy(outcomes()[0])
    outcome["engine"]["digest"] = OTHER_BUILD
    assert is_right(line(outcome))
    assert is_right(line(certified(outcome)))
    assert is_right(json.dumps(outcome).encode())
    outcome["engine"]["version"] = "0.9.0"
    tally = audited(line(outcome))
    assert codes(tally) == ["other-engine"]
    assert [difference.pointer for difference in differences(tally)] == ["/engine/version", "/engine/digest"]


# Wrong records.


def other_values(value: Any) -> list[Any]:
    """Values of the same and of another type, none equal to this one in JSON."""
    if isinstance(value, bool):
        return [not value, int(value)]
    if isinstance(value, int):
        return [value + 1, value + 0.5, str(value)]
    return [0, [value]] if value is None else [value + "x", None]


def put(document: Document, pointer: str, value: Any) -> Document:
    copied = copy.deepcopy(document)
    *path, last = pointer.split("/")[1:]
    place: Any = copied
    for step in path:
        place = place[int(step)] if isinstance(place, list) else place[step]
    place[int(last) if isinstance(place, list) else last] = value
    return copied


def shown(verdict: Document) -> tuple[list[str], list[Document]]:
    """A verdict of ``verify`` as codes and differences."""
    failed = [check["code"] for check in verdict["checks"] if not check["passed"]]
    return failed, verdict["differences"]


def told(tally: Tally) -> tuple[list[str | None], list[Document]]:
    documents = [
        {name: value for name, value in difference._asdict().items() if value is not ABSENT}
        for difference in differences(tally)
    ]
    return codes(tally), documents[:20]


@pytest.mark.parametrize("place", [0, 31, 63, 95, 127])
def test_every_leaf_altered_is_found_as_verify_finds_it(place: int, tally: Count) -> None:
    outcome = outcomes()[place]
    altered = 0
    for pointer, value in leaves(outcome):
        for other in other_values(value):
            claim = put(outcome, pointer, other)
            for record in (claim, {"outcome": certified(outcome) | claim}) if altered % 7 == 0 else (claim,):
                found = audited(line(record))
                verdict = verify_shown(json.loads(line(claim_of(record))), REGISTRY, KEYS)
                assert told(found) == shown(verdict), pointer
                assert not verdict["valid"]
                assert counts(found)["differing"] == 1
                altered += 1
    assert altered > 200
    tally("audit: altered places of recorded rounds, each found as verify finds it", altered)


def test_beside_its_request_a_difference_has_exactly_its_pointer() -> None:
    outcome = outcomes()[0]
    request = settle_body(load("rounds.jsonl")[0])
    for pointer, value in leaves(outcome):
        other = other_values(value)[0]
        found = audited(line({"request": request, "outcome": put(outcome, pointer, other)}))
        assert differences(found) == [Difference(pointer, other, value)]
        (finding,) = (one for one in found.findings if isinstance(one.what, Difference))
        claimed = other if pointer == "/outcome_id" else outcome["outcome_id"]
        assert finding.outcome_id == claimed
        assert counts(found)["differences"] == counts(found)["differing"] == 1


def test_members_too_many_and_missing_are_differences() -> None:
    outcome = outcomes()[0]
    found = audited(line({**outcome, "extra": 1}))
    assert differences(found) == [Difference("/extra", 1, ABSENT)]
    found = audited(line({name: value for name, value in outcome.items() if name != "totals"}))
    assert differences(found) == [Difference("/totals", ABSENT, outcome["totals"])]
    assert counts(found)["staked"] == outcome["totals"]["staked"]
    assert counts(found)["claimed_staked"] == 0


def test_both_sums_are_told_where_amounts_differ() -> None:
    outcome = outcomes()[0]
    total = counts(audited(line(altered_total(outcome))))
    assert total["claimed_net"] == total["net"] + 1 == outcome["totals"]["net"] + 1
    beyond = json.dumps(outcome).replace(f'"net": {outcome["totals"]["net"]}}}}}', '"net": 1e300}}')
    assert counts(audited(beyond.encode()))["claimed_net"] == 0


def test_a_round_that_cannot_be_settled_is_told() -> None:
    outcome = copy.deepcopy(outcomes()[0])
    outcome["actions"] = outcome["actions"][:-1]
    body = settle_body(load("rounds.jsonl")[0]) | {"actions": outcome["actions"]}
    for document in (outcome, {"request": body, "outcome": outcomes()[0]}):
        tally = audited(line(document))
        assert codes(tally) == ["not-settled"]
        assert counts(tally)["differing"] == 1
        assert counts(tally)["claimed_staked"] == outcomes()[0]["totals"]["staked"]


@pytest.mark.parametrize("id", ["casino-2", "", 5, None, [], {}])
def test_rounds_of_unknown_rulesets_are_counted_apart(id: Any) -> None:
    outcome = put(outcomes()[0], "/ruleset/id", id)
    tally = audited(line(outcome))
    assert list(tally.counts) == [UNKNOWN]
    assert counts(tally)["differing"] == 1
    assert UNKNOWN not in REGISTRY
    assert list(audited(line({**outcome, "ruleset": id})).counts) == [UNKNOWN]


# Rounds that cannot be checked.


def test_a_hidden_seed_is_needed() -> None:
    outcome = hidden()
    for document in (outcome, certified(outcome), {"certificate": certified(outcome)["certificate"]}):
        tally = audited(line(document))
        assert codes(tally) == ["seed-needed"]
        assert counts(tally)["unchecked"] == 1
    wrong = audited(line({"outcome": outcome, "server_seed": "01" * 32}))
    assert "other-deal" in codes(wrong)
    # Where the round reveals its own, another one has no say, but has to be one.
    assert is_right(line({"outcome": outcomes()[0], "server_seed": SEED}))
    for seed in ("01" * 31, 5):
        assert audited(line({"outcome": outcomes()[0], "server_seed": seed})).damages


def test_a_sealed_seed_is_not_opened() -> None:
    body = round_body(deal={"sealed_seed": KEYS.sealer.seal(bytes.fromhex(SEED))})
    tally = audited(line({"request": body, "outcome": settle_request(seeded(), REGISTRY)}))
    assert codes(tally) == ["seed-needed"]
    assert counts(tally)["unchecked"] == 1


def test_a_void_round_without_certificate_proves_nothing() -> None:
    tally = audited(line(void()))
    assert codes(tally) == ["no-certificate"]
    assert (counts(tally)["void"], counts(tally)["unchecked"]) == (1, 1)
    assert counts(tally)["certificates"] == 0
    assert not is_right(line(certified(void())), certificates=False)
    assert "other-settlement" in codes(audited(line(certified(altered_total(void())))))


# Certificates.


def test_certificates_are_counted_by_what_they_are_worth() -> None:
    outcome = outcomes()[0]
    signed = certified(outcome)
    header, payload, signature = signed["certificate"].split(".")
    other = certified(outcomes()[1])["certificate"]
    broken = f"{header}.{payload}.{signature[:-4]}AAAA"
    for certificate, code in (
        (broken, "bad-signature"),
        (other, "altered-outcome"),
        ("x", "malformed"),
        (5, "malformed"),
        (f"{header}.{payload}.{signature}=", "bad-signature"),
        (KEYS.signer.sign(b'{"a": 1}'), "not-canonical"),
    ):
        tally = audited(line({**outcome, "certificate": certificate}))
        assert codes(tally) == [code]
        assert counts(tally)["equal"] == counts(tally)["certificates"] == counts(tally)[code] == 1
        assert counts(tally)["certificates_valid"] == 0
        assert is_right(line({**outcome, "certificate": certificate}), certificates=False)
    right = counts(audited(line(signed)))
    assert right["certificates"] == right["certificates_valid"] == 1
    unseen = counts(audited(line(signed), certificates=False))
    assert unseen["certificates"] == 0
    assert is_right(line({**outcome, "certificate": None}))


def test_a_certificate_alone_is_read_by_its_signature() -> None:
    certificate = certified(outcomes()[0])["certificate"]
    for certificates in (True, False):
        total = counts(audited(line({"certificate": certificate}), certificates=certificates))
        assert total["equal"] == total["certificates_valid"] == 1
        tally = audited(line({"certificate": certificate[:-4] + "AAAA"}), certificates=certificates)
        assert codes(tally) == ["bad-signature"]
        assert list(tally.counts) == [UNKNOWN]
        assert counts(tally)["unchecked"] == 1
    altered = KEYS.signer.sign(canonical_bytes(altered_total(outcomes()[0])))
    tally = audited(line({"certificate": altered}))
    assert [difference.pointer for difference in differences(tally)] == ["/totals/net"]
    assert counts(tally)["certificates_valid"] == 1


def test_keys_decide() -> None:
    signed = line(certified(outcomes()[0]))
    assert codes(audited(signed, keys=read_keys(new_keys()).verifying)) == ["unknown-key"]
    file = new_keys()
    kid = read_keys(file).jwks()["keys"][0]["kid"]
    mine = read_keys(file).signer.sign(canonical_bytes(outcomes()[0]))
    record = line({**outcomes()[0], "certificate": mine})
    file = rotated_keys(file)
    assert is_right(record, keys=read_keys(file).verifying)
    revoked = read_keys(revoked_keys(file, kid, "the safe was opened")).verifying
    assert codes(audited(record, keys=revoked)) == ["revoked-key"]


# Damaged lines.


@pytest.mark.parametrize(
    "damaged",
    [
        b"{",
        b'{"status": "settled"',
        b"x",
        b"[]",
        b"5",
        b"null",
        b'"status"',
        b"{}",
        b'{"a": 1}',
        b'{"outcome": 5}',
        b'{"certificate": 5}',
        b'{"certificate": "x", "more": 1}',
        b'{"request": {}, "outcome": {}}',
        b"\xff",
        b'{"status": "\xff"}',
        b'{"status": NaN}',
        b'{"status": 1e999}',
        b'{"status": "\\ud800"}',
        b'{"a":' * 40 + b"1" + b"}" * 40,
        b'{"status": "' + b"x" * MAX_LINE + b'"}',
        b" " * (MAX_LINE + 1),  # of a longer line this may be the beginning
        b"\x0b" + line(outcomes()[0]) + b"\x0c",
        line({"outcome": outcomes()[0], "server_seed": None}),
    ],
    ids=lambda line: line[:20],
)
def test_a_damaged_line_is_reported_and_the_rest_goes_on(damaged: bytes) -> None:
    right = line(outcomes()[0])
    tally = audited(right, b"", damaged, right)
    assert tally.lines == 4
    assert counts(tally)["rounds"] == counts(tally)["equal"] == 2
    assert not tally.findings
    ((number, why),) = tally.damages
    assert number == 3
    assert len(why) > 5


def test_a_name_that_stands_twice_is_damage() -> None:
    text = line(outcomes()[0]).decode()
    alone = line({"certificate": certified(outcomes()[0])["certificate"]}).decode()
    for twice in (
        text.replace('"status":"settled"', '"status":"settled","status":"settled"'),
        text.replace('"nonce":', '"nonce":99,"nonce":'),
        text[:-1] + ',"totals":{}}',
        alone[:-1] + f',"certificate":{alone.partition(":")[2]}',
    ):
        assert twice != text
        assert [damage.line for damage in audited(twice.encode()).damages] == [1]


def test_objects_that_only_look_like_outcomes_are_told() -> None:
    for document in (
        {"status": 5},
        {"status": "settled"},
        {"status": "void"},
        {"status": "settled", "deal": []},
    ):
        tally = audited(line(document))
        assert counts(tally)["equal"] == 0
        assert codes(tally)


@given(st.data())
def test_any_bytes_get_an_answer_and_none_passes_that_says_something_else(data: st.DataObject) -> None:
    outcome = outcomes()[data.draw(st.sampled_from([0, 40, 80, 120]))]
    text = bytearray(line(data.draw(st.sampled_from([outcome, certified(outcome), {"outcome": outcome}]))))
    where = data.draw(st.integers(0, len(text) - 1))
    text[where : where + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    if is_right(bytes(text)):
        read = claim_of(parse_json(bytes(text)))["outcome"]
        read.pop("certificate", None)
        read["engine"]["digest"] = outcome["engine"]["digest"]
        assert read == outcome


# Adding up.


def joined(first: Tally, second: Tally) -> Tally:
    """What both come to, one after the other."""
    total: dict[str, Counter[str]] = {}
    for tally in (first, second):
        for ruleset, counter in tally.counts.items():
            total.setdefault(ruleset, Counter()).update(counter)
    return Tally(
        first.lines + second.lines,
        total,
        [*first.findings, *(Finding(first.lines + one.line, *one[1:]) for one in second.findings)],
        [*first.damages, *(Damage(first.lines + one.line, one.why) for one in second.damages)],
    )


@pytest.fixture(scope="module")
def whole() -> tuple[list[bytes], Tally, list[Tally]]:
    lines = archive()
    return lines, audited(*lines), [audited(line) for line in lines]


def test_the_archive_of_the_tests_has_something_of_everything(
    whole: tuple[list[bytes], Tally, list[Tally]],
) -> None:
    _, tally, _ = whole
    total = counts(tally)
    for name in ("equal", "differing", "unchecked", "void", "certificates", "certificates_valid"):
        assert total[name], name
    assert total["rounds"] == total["equal"] + total["differing"] + total["unchecked"]
    assert total["differences"] == len(differences(tally)) > 5
    assert sum(total[code] for code in CODES) == len(codes(tally)) > 5
    assert len(tally.damages) == 4
    assert set(total) <= set(COLUMNS)


@given(st.data())
def test_parts_add_up_to_the_whole(
    whole: tuple[list[bytes], Tally, list[Tally]], data: st.DataObject
) -> None:
    lines, tally, singly = whole
    cut = data.draw(st.integers(0, len(lines)))
    parts = [singly[0]._replace(lines=0, counts={}, findings=[], damages=[])] * 2
    for place, one in enumerate(singly):
        parts[place >= cut] = joined(parts[place >= cut], one)
    assert joined(*parts) == tally


def test_the_codes_are_those_of_a_verdict() -> None:
    rows = table(guide("certificates.md"), "check", "code", "what is wrong")
    assert sorted(CODES) == sorted(code.strip("`") for _, code, _ in rows)
