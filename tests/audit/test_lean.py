"""The lean path: it confirms what the engine answers and nothing else, and leaves it little to do."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from service.audit import RefusedAudit, runner
from service.audit.lean import Confirmer, tables
from service.audit.records import MAX_LINE, Confirmed, audit_records
from service.audit.runner import audit
from service.audit.terms import terms
from service.certificate.canonical import canonical_bytes
from service.fairness import shuffle
from service.fairness.deal import Beacon, SeedDeal
from service.game import hands, settlement
from service.game import round as rounds
from service.game.cards import parse_cards, suit
from service.game.documents import Document
from service.game.hands import KINDS, evaluate
from service.game.round import Action, IllegalAction
from service.game.ruleset import Ruleset
from service.game.stakes import BoxStake, Table
from service.registry import Registry, load_rulesets
from service.rounds import RoundRequest, canonical_request, settle_request
from tests.audit.archive import KEYS, altered_total, archive, certified, counts, line, results, write
from tests.audit.forgeries import any_limits, daring_action, other_rules, spoilt
from tests.conftest import Tally
from tests.support import rulesets
from tests.support.random_rounds import Played, random_action, random_round

ROUNDS: Final = 1200
GENEROUS: Final = rulesets.changed(
    rulesets.document(),
    {
        "id": "generous-1",
        "insurance.threshold.value": "ace_king",
        "insurance.minimum.value": "ante",
        "insurance.maximum.value": "half_win",
        "bonus.dealt.pair": {"value": 1, "basis": "printed"},
        "bonus.dealt.ace_king": {"value": 2, "basis": "printed"},
    },
)
"""Insurances and blind sixth cards all the time."""
CLIENT_SEEDS: Final = ("", "benchmark", "a b ~!#[]{}", "0" * 128)


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Registry:
    """The built-in rulesets, and houses that differ from them in everything."""
    folder = tmp_path_factory.mktemp("rulesets")
    for house in (rulesets.CARIBBEAN, rulesets.OASIS, rulesets.LUNAR, GENEROUS):
        rulesets.write(folder, house)
    return load_rulesets(folder)


@pytest.fixture(scope="module")
def confirmer(registry: Registry) -> Confirmer:
    return Confirmer(registry)


def rounds_from_seeds(ruleset: Ruleset, count: int, label: str) -> Iterator[tuple[SeedDeal, Played, Random]]:
    """So many rounds with random seeds, boxes, stakes, tables and decisions."""
    for number in range(count):
        random = Random(f"lean {label} {ruleset.id} {number}")
        nonce = random.choice([0, random.randrange(1000), 2**53 - 1])
        deal = SeedDeal(random.randbytes(32), random.choice(CLIENT_SEEDS), nonce)
        yield deal, random_round(ruleset, random, deal.deck()), random


def requested(deal: SeedDeal, played: Played) -> RoundRequest:
    return RoundRequest(played.ruleset.id, deal, played.stakes, played.actions, played.table)


def random_requests(registry: Registry, count: int, label: str = "") -> Iterator[RoundRequest]:
    """So many rounds under each ruleset."""
    for published in registry.values():
        for deal, played, _ in rounds_from_seeds(published.ruleset, count, label):
            yield requested(deal, played)


def played_on(
    ruleset: Ruleset, id: str, deal: SeedDeal, stakes: tuple[BoxStake, ...], table: Table, random: Random
) -> RoundRequest:
    """A round from these stakes on, with random decisions."""
    state, actions = rounds.start(ruleset, stakes, deal.deck(), table), list[Action]()
    while state.phase != "settled":
        actions.append(random_action(state, random))
        state = rounds.apply(state, actions[-1])
    return RoundRequest(id, deal, stakes, tuple(actions), table)


def left_to_the_engine(outcome: Document) -> bool:
    """Whether a plain outcome has what the lean path does not look at."""
    for box in outcome["boxes"]:
        suits = Counter(map(suit, parse_cards(box["hand"])))
        if len(box["hand"]) == 6 and max(suits.values()) > 4:
            return True
        if any("capped" in bet["reason"] for bet in box["bets"]):
            return True
    return False


@pytest.fixture(scope="module")
def requests(registry: Registry) -> Sequence[RoundRequest]:
    return list(random_requests(registry, ROUNDS))


# What is right is confirmed.


def test_what_the_engine_answers_is_confirmed(
    registry: Registry, confirmer: Confirmer, requests: Sequence[RoundRequest], tally: Tally
) -> None:
    outcomes = [settle_request(request, registry) for request in requests]
    confirmed = confirmer([*map(line, outcomes)])
    assert confirmed == [None if left_to_the_engine(outcome) else told(outcome) for outcome in outcomes]
    assert confirmed.count(None) < len(outcomes) / 10  # many of these tables have a low maximum payout
    tally("rounds confirmed by the lean path", len(outcomes) - confirmed.count(None))


def told(outcome: Document) -> Confirmed:
    return Confirmed(outcome["ruleset"]["id"], outcome["totals"]["staked"], outcome["totals"]["returned"])


def test_rare_hands_are_confirmed(registry: Registry, confirmer: Confirmer) -> None:
    seen: Counter[str] = Counter()
    outcomes = []
    for nonce in range(40_000):
        deal = SeedDeal(bytes(32), "", nonce)
        deck = deal.deck()
        kinds = [evaluate(deck[place:10:2]).main for place in range(2)]
        wanted = [
            kind for kind in kinds if KINDS.index(kind) > KINDS.index("three_of_a_kind") and seen[kind] < 40
        ]
        if not wanted:
            continue
        seen.update(wanted)
        for id in ("trainer-1", "online-1", "casino-1"):
            stakes, random = (BoxStake(1, 100, 25),), Random(f"{id} {nonce}")
            request = played_on(registry[id].ruleset, id, deal, stakes, Table(), random)
            outcomes.append(settle_request(request, registry))
    assert set(seen) == {"straight", "flush", "full_house", "four_of_a_kind", "straight_flush"}
    confirmed = confirmer([*map(line, outcomes)])
    assert confirmed == [None if left_to_the_engine(outcome) else told(outcome) for outcome in outcomes]


def test_another_build_of_the_same_version_is_confirmed(registry: Registry, confirmer: Confirmer) -> None:
    outcome = settle_request(next(random_requests(registry, 1)), registry)
    outcome["engine"] = {**outcome["engine"], "digest": "sha256:" + "0" * 64}
    assert confirmer([line(outcome)]) == [told(outcome)]


# What is not plain is left to the engine.


def test_what_is_rare_or_not_plain_is_left(registry: Registry, confirmer: Confirmer) -> None:
    request = next(random_requests(registry, 1))
    assert isinstance(request.deal, SeedDeal)
    plain = settle_request(request, registry)
    deals = (
        request.deal._replace(beacon=Beacon("drand", "0f" * 32)),
        request.deal._replace(reveal=False),
        request.deal._replace(client_seed="ö"),
        request.deal._replace(client_seed='"'),
        request.deal._replace(client_seed="\\"),
        request.deal._replace(client_seed="\t"),
    )
    lines = [
        line(settle_request(request._replace(context={"round": 1}), registry)),
        line(certified(plain)),  # certificates are looked at before
        line({"outcome": plain}),
        json.dumps(plain).encode(),
        line(plain) + b" ",
        line(plain) + b"\r",
        b"",
        b"{}",
        b"\xff",
    ]
    for deal in deals:
        ruleset = registry[request.ruleset].ruleset
        played = played_on(ruleset, request.ruleset, deal, request.boxes, request.table, Random(0))
        lines.append(line(settle_request(played, registry)))
    assert confirmer(lines) == [None] * len(lines)
    assert confirmer([]) == []


# What is wrong is not confirmed.


def is_right(record: bytes, registry: Registry) -> bool:
    counted = audit_records([record], registry, KEYS.verifying, True)
    return bool(not counted.findings and not counted.damages and counted.rounds)


def test_no_altered_byte_is_confirmed(registry: Registry, confirmer: Confirmer, tally: Tally) -> None:
    random = Random("bytes")
    for request in random_requests(registry, 6, "bytes"):
        record = line(settle_request(request, registry))
        altered = []
        for place, byte in enumerate(record):
            other = random.choice([digit for digit in b'0123456789abcdefAKc"}-' if digit != byte])
            altered.append(record[:place] + bytes([other]) + record[place + 1 :])
            altered.append(record[:place] + record[place + 1 :])
            altered.append(record[:place] + bytes([byte]) + record[place:])
        confirmed = [record for record, right in zip(altered, confirmer(altered), strict=True) if right]
        tally("altered records that the lean path did not confirm", len(altered) - len(confirmed))
        # Another digest of the engine is that of another build, and a byte twice may be the same text.
        assert all(is_right(record, registry) for record in confirmed)
        assert len(confirmed) < len(altered) * 0.05


def test_no_cut_or_random_line_leads_beyond_its_end(registry: Registry, confirmer: Confirmer) -> None:
    random = Random("cut")
    record = line(settle_request(next(random_requests(registry, 1)), registry))
    cut = [record[:size] for size in range(len(record))]
    pieces = [bytes(random.choices(record, k=random.randrange(200))) for _ in range(300)]
    spliced = [
        record[: random.randrange(len(record))] + piece + record[random.randrange(len(record)) :]
        for piece in pieces
    ]
    long = [
        record.replace(b'"client_seed":"', b'"client_seed":"' + b"a" * 40_000),
        record.replace(b'"nonce":', b'"nonce":' + b"1" * 400),
        record.replace(b'"actions":[', b'"actions":[' + b'{"box":1,"action":"bet"},' * 500),
        record.replace(b'"boxes":[', b'"boxes":[' + record.partition(b'"boxes":[')[2] * 50),
    ]
    for lines in (cut, pieces, spliced, long):
        assert confirmer(lines) == [None] * len(lines)


def none_is_confirmed(lines: Sequence[bytes], registry: Registry, confirmer: Confirmer, least: int) -> None:
    """No line is confirmed that is not right; so many of them are wrong."""
    wrong = [line for line in lines if not is_right(line, registry)]
    assert len(wrong) >= least
    assert confirmer(wrong) == [None] * len(wrong)


def test_nothing_is_confirmed_that_was_played_by_other_rules(
    registry: Registry, confirmer: Confirmer
) -> None:
    lines = []
    for id, published in registry.items():
        for number, other in enumerate(other_rules(published.ruleset)):
            changed = {**registry, id: published._replace(ruleset=other)}
            for deal, played, _ in rounds_from_seeds(other, 12, f"other {number}"):
                lines.append(line(settle_request(requested(deal, played), changed)))
    none_is_confirmed(lines, registry, confirmer, 500)


def test_nothing_is_confirmed_that_was_played_against_the_rules(
    registry: Registry, confirmer: Confirmer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outcomes of an engine that lets every action pass, so that all else in them fits together."""
    lines = []
    with monkeypatch.context() as patch:
        patch.setattr(rounds, "_fault", lambda *_: None)
        for id, published in registry.items():
            count = 3000 if id == GENEROUS["id"] else 500
            for deal, first, random in rounds_from_seeds(published.ruleset, count, "daring"):
                state, actions = first.states[0], list[Action]()
                with suppress(ValueError):  # seven cards in a hand
                    while state.phase != "settled" and len(actions) < 40:
                        choose = daring_action if random.random() < 0.4 else random_action
                        actions.append(choose(state, random))
                        state = rounds.apply(state, actions[-1])
                    request = requested(deal, first._replace(actions=tuple(actions)))
                    lines.append(line(settle_request(request, registry)))
    none_is_confirmed(lines, registry, confirmer, 1000)


def test_nothing_is_confirmed_that_nobody_may_ask_for(
    registry: Registry, confirmer: Confirmer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outcomes of an engine that takes any stakes, limits and seeds."""
    lines = []
    with monkeypatch.context() as patch:
        patch.setattr(rounds, "check_stakes", lambda *_: None)
        patch.setattr(rounds, "effective_limits", any_limits)
        patch.setattr(shuffle, "MAX_NONCE", 2**60)
        patch.setattr(shuffle, "MAX_CLIENT_SEED_BYTES", 500)
        for number, request in enumerate(random_requests(registry, 600, "spoilt")):
            random, ruleset = Random(f"spoilt {number}"), registry[request.ruleset].ruleset
            assert isinstance(request.deal, SeedDeal)
            stakes, table, deal = spoilt(request.boxes, request.table, request.deal, random)
            if len(stakes) * 10 + 9 <= 52:
                played = played_on(ruleset, request.ruleset, deal, stakes, table, random)
                lines.append(line(settle_request(played, registry)))
    none_is_confirmed(lines, registry, confirmer, 1500)


def test_nothing_is_confirmed_that_is_paid_beyond_the_maximum(
    registry: Registry, confirmer: Confirmer, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = []
    pay = settlement._won_bet
    for request in random_requests(registry, 150, "cap"):
        fair = settle_request(request._replace(table=request.table._replace(max_payout=10**12)), registry)
        wins = [bet["net"] for box in fair["boxes"] for bet in box["bets"] if bet["name"] == "bet"]
        with monkeypatch.context() as patch:
            patch.setattr(settlement, "_won_bet", lambda stake, hand, _: pay(stake, hand, None))
            for most in {max(wins, default=0) - 1, max(wins, default=0) // 2}:
                if most > 0:
                    capped = request._replace(table=request.table._replace(max_payout=most))
                    with suppress(IllegalAction):  # an insurance that is too much now
                        lines.append(line(settle_request(capped, registry)))
    none_is_confirmed(lines, registry, confirmer, 100)


def test_nothing_is_confirmed_whose_six_cards_hide_a_flush(
    registry: Registry,
    confirmer: Confirmer,
    requests: Sequence[RoundRequest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = []
    with monkeypatch.context() as patch:
        patch.setattr(hands, "SIX_SUITED", set())
        for request in requests:
            with suppress(IllegalAction):  # an insurance of the flush
                outcome = settle_request(request, registry)
                lines += [line(outcome)] * left_to_the_engine(outcome)
    none_is_confirmed(lines, registry, confirmer, 10)


@pytest.mark.parametrize("text", [rb"\u0061nn", b"\x01nn", b"\xffnn", rb"a\/b"])
def test_nothing_is_confirmed_whose_texts_are_not_plain(
    text: bytes, registry: Registry, confirmer: Confirmer
) -> None:
    """Forged so that the digest is that of the bytes as they stand there."""
    deal, stakes = SeedDeal(bytes(32), "SEED"), (BoxStake(1, 100, player="PLAYER"),)
    outcome = settle_request(RoundRequest("casino-1", deal, stakes, (Action(1, "fold"),)), registry)
    asked = canonical_bytes(canonical_request(outcome, deal.secret()))
    for plain in (b"PLAYER", b"SEED"):
        digest = sha256(asked.replace(plain, text)).hexdigest()
        forged = (
            line(outcome)
            .replace(plain, text)
            .replace(outcome["request_digest"][7:].encode(), digest.encode())
        )
        forged = forged.replace(outcome["outcome_id"].encode(), digest[:32].encode())
        none_is_confirmed([forged], registry, confirmer, 1)


def test_nothing_is_confirmed_whose_sums_or_words_are_wrong(registry: Registry, confirmer: Confirmer) -> None:
    for request in islice(random_requests(registry, 2, "sums"), 12):
        outcome = settle_request(request, registry)
        record = line(outcome)
        altered = [
            line(altered_total(outcome)),
            record.replace(b"lost", b"LOST"),
            record.replace(b"true", b"1"),
        ]
        lines = [one for one in altered if one != record]
        assert confirmer(lines) == [None] * len(lines)


# The audit says the same with it as without.


@pytest.mark.parametrize("certificates", [True, False])
def test_an_audit_says_the_same(registry: Registry, confirmer: Confirmer, certificates: bool) -> None:
    outcomes = [settle_request(request, registry) for request in random_requests(registry, 20, "same")]
    plain = [*map(line, outcomes)]
    signed = [line(certified(outcome)) for outcome in outcomes]
    rows = [json.dumps(json.loads(record), indent=1).encode() for record in plain[:5]]  # a row may hold lines
    forged = [
        line({**outcomes[0], "certificate": certified(outcomes[1])["certificate"]}),
        line({**altered_total(outcomes[0]), "certificate": certified(outcomes[0])["certificate"]}),
        *(
            signed[2].replace(b',"certificate":"', b',"certificate":"' + more)
            for more in (b"A", b" ", b'"', b"\\n")
        ),
        *(
            signed[2].replace(b'"}', more)
            for more in (b'."}', b'\xc3\xa4"}', b'\xff"}', b'","a":"b"}', b'"}"}', b'"')
        ),
        signed[2].replace(b',"certificate":"', b',"certificate":""}') + signed[3],
        line({**outcomes[4], "certificate": ""}),
        line({**outcomes[4], "certificate": None}),
        plain[5][:-1] + b',"certificate":"' + b"a" * (MAX_LINE - len(plain[5]) - 16) + b'"}',
    ]
    assert len(forged[-1]) == MAX_LINE + 1
    records = [*archive(), *plain, *signed, *forged, b"\n", *rows, plain[0] + b"\n" + plain[1], *plain]
    told = audit_records(records, registry, KEYS.verifying, certificates)
    lean = audit_records(records, registry, KEYS.verifying, certificates, confirmer)
    assert lean == told
    assert counts(told)["equal"] > 400


@pytest.mark.parametrize("certificates", [True, False])
def test_the_engine_has_little_to_do(
    registry: Registry, confirmer: Confirmer, certificates: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr("service.audit.records._confirmed")
    outcomes = [settle_request(request, registry) for request in random_requests(registry, 10, "little")]
    plain = [outcome for outcome in outcomes if not left_to_the_engine(outcome)]
    records = [*map(line, plain), *(line(certified(outcome)) for outcome in plain)]
    tally = audit_records(records, registry, KEYS.verifying, certificates, confirmer)
    total = counts(tally)
    assert total["equal"] == 2 * len(plain) > 80
    assert total["certificates"] == total["certificates_valid"] == (len(plain) if certificates else 0)


def test_an_audit_writes_the_same(registry: Registry, confirmer: Confirmer, tmp_path: Path) -> None:
    lines = [line(settle_request(request, registry)) for request in random_requests(registry, 20, "files")]
    name = write(tmp_path / "records", [*lines[:50], *archive(), *lines[50:]])
    told = []
    for lean in (False, True):
        folder = tmp_path / str(lean)
        summary = audit([name], registry, KEYS.verifying, output=folder, lean=lean, size=50_000)
        told.append((summary, results(folder)))
    assert told[0] == told[1]
    assert told[0][0]["total"]["equal"] > 100


def test_an_audit_begun_without_it_goes_on_with_it(
    registry: Registry, confirmer: Confirmer, tmp_path: Path
) -> None:
    name = write(tmp_path / "records", archive())
    first = audit([name], registry, KEYS.verifying, output=tmp_path / "o", lean=False)
    assert audit([name], registry, KEYS.verifying, output=tmp_path / "o", lean=True, resume=True) == first


@pytest.mark.parametrize(
    ("size", "suffix", "installed", "taken"),
    [
        (10, "", True, True),
        (9, "", True, False),
        (9, ".gz", True, True),
        (1, ".gz", True, False),
        (10, "", False, False),
    ],
)
def test_it_is_taken_where_it_pays(
    size: int, suffix: str, installed: bool, taken: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "LEAN_FROM", 10)
    if not installed:
        monkeypatch.setattr(runner, "find_spec", lambda _: None)
    path = tmp_path / f"records{suffix}"
    path.write_bytes(b"x" * size)
    asked: list[bool] = []

    def refused(*given: Any) -> None:
        asked.append(given[-1])
        raise RefusedAudit("enough is known")

    monkeypatch.setattr(runner, "terms", refused)
    with pytest.raises(RefusedAudit, match="enough"):
        audit([str(path)], {}, {}, output=tmp_path / "o")
    with pytest.raises(RefusedAudit, match="enough"):
        audit([str(path)], {}, {}, output=tmp_path / "o", scheduler="tcp://127.0.0.1:8786")
    assert asked == [taken, False]


def test_it_needs_numba(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.audit.find_spec", lambda _: None)
    name = write(tmp_path / "records", archive())
    with pytest.raises(RefusedAudit, match=r"needs numba, which is not installed: pip install '\.\[audit\]'"):
        audit([name], load_rulesets(), KEYS.verifying, output=tmp_path / "o", lean=True)
    assert not (tmp_path / "o").exists()
    with pytest.raises(RefusedAudit, match="needs numba"):  # a worker of a cluster
        terms(load_rulesets(), KEYS.verifying, certificates=True, lean=True).auditor()


def test_the_hands_that_stand_for_their_kinds_are_of_them() -> None:
    assert {kind: evaluate(parse_cards(cards.split())).main for kind, cards in tables._FIVES.items()} == {
        kind: kind for kind in KINDS
    }


def test_a_row_stands_for_its_stake_wherever_it_is_said(registry: Registry) -> None:
    """Each way to settle a stake names it once in its words, so that any other stake can stand there."""
    for published in registry.values():
        build = tables.Tables()
        build.of([published.ruleset])
        for words in build._words:
            before, _, after = (build._texts[words + step].decode() for step in range(3))
            assert str(tables._STAKE) not in before + after
