"""Every vector over HTTP: facts of the rule book that another program computed."""

import pytest

from tests.api.calls import DECK, EVALUATE, Api, without
from tests.conftest import Tally
from tests.support.vectors import load, observed, settle_body


def test_decks(api: Api, tally: Tally) -> None:
    vectors = load("decks.json")
    for vector in vectors:
        seeds = {name: vector[name] for name in ("server_seed", "client_seed", "nonce")}
        answer = api.ask(DECK, seeds)
        assert {name: answer[name] for name in seeds} == seeds
        assert answer["commitment"] == vector["commitment"]
        assert " ".join(answer["deck"]) == vector["deck"]
        assert answer["bytes_used"] == vector["bytes_used"]
        rejected = [[draw["i"], draw["rejected"]] for draw in answer["draws"] if draw["rejected"]]
        assert rejected == vector["rejected"]
    tally("vectors: decks over HTTP", len(vectors))
    assert len(vectors) == 12


def test_hands(api: Api, tally: Tally) -> None:
    vectors = load("hands.json")
    for vector in vectors:
        assert set(vector["bet_odds"]) == {"trainer", "online", "casino"}
        for name, odds in vector["bet_odds"].items():
            answer = api.ask(EVALUATE, {"ruleset": f"{name}-1", "cards": vector["cards"].split()})
            second = None if name == "trainer" else vector["second"]
            assert (answer["main"], answer["second"], answer["odds"]) == (vector["main"], second, odds)
            assert answer["cards"] == vector["cards"].split()
    tally("vectors: hands over HTTP", len(vectors))
    assert len(vectors) == 36


@pytest.mark.parametrize(("name", "count"), [("rounds.jsonl", 360), ("rigged.jsonl", 330)])
def test_rounds(name: str, count: int, api: Api, tally: Tally) -> None:
    vectors = load(name)
    for vector in vectors:
        body = settle_body(vector)
        outcome = api.settle(body)
        assert observed(outcome) == vector["expect"], vector
        deal = outcome["deal"]
        if "deck" in vector:
            assert without(deal, "cards_used") == {"source": "deck", "deck": vector["deck"]}
        else:
            assert body["deal"].items() <= deal.items()
            assert deal["source"] == "seed"
        assert outcome["ruleset"]["id"] == f"{vector['ruleset']}-1"
        assert outcome["actions"] == vector["actions"]
        assert vector.get("table", {}).items() <= outcome["table"].items()
    tally(f"vectors: {name} over HTTP", len(vectors))
    assert len(vectors) == count
