"""The rules in tables that the compiled functions play by: every odd, limit and word asked of the engine."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, get_args

import numpy as np
import orjson
from numpy.typing import NDArray

from service.audit.lean.layout import FOLDED, NONE, UNLIMITED, Records, ruleset_type
from service.fairness import SHUFFLE
from service.game.cards import FRESH_DECK, parse_cards
from service.game.hands import GAME_FLOOR, KINDS, OF_FIVE, OF_SIX, STRENGTH_FLOORS, Evaluation, Kind, evaluate
from service.game.round import ActionName, BetName, Box
from service.game.ruleset import Ruleset
from service.game.settlement import Meeting, Result, SettledBet, settled_bet
from service.game.stakes import BoxStake
from service.rounds import ENGINE, ruleset_identity

_HANDS: Final = {**OF_FIVE, **OF_SIX}
_PAIRS: Final = sorted({(hand.main, hand.second) for hand in _HANDS.values()}, key=str)
"""Main and second combination of every hand but six cards with a flush."""
_RESULTS: Final[tuple[Result, ...]] = get_args(Result)
_STAKE: Final = 10**9 + 7
"""A stake that stands out in what is said of it."""
_SHUFFLE: Final = f'","shuffle":"{SHUFFLE}"}},"deal":{{"source":"seed","commitment":"'
_FIVES: Final[dict[Kind, str]] = {
    "none": "2c 3d 5h 7s 9c",
    "ace_king": "Ac Kd 5h 7s 9c",
    "pair": "2c 2d 5h 7s 9c",
    "two_pair": "2c 2d 5h 5s 9c",
    "three_of_a_kind": "2c 2d 2h 7s 9c",
    "straight": "2c 3d 4h 5s 6c",
    "flush": "2c 3c 5c 7c 9c",
    "full_house": "2c 2d 2h 7s 7c",
    "four_of_a_kind": "2c 2d 2h 2s 9c",
    "straight_flush": "2c 3c 4c 5c 6c",
    "royal_flush": "Tc Jc Qc Kc Ac",
}
"""A hand of each kind."""


class Tables:
    """The tables of some rulesets, and the texts and rows that they are made of."""

    def __init__(self) -> None:
        self._texts: list[bytes] = []
        self._multiples: list[int] = []
        self._words: list[int] = []

    def of(self, rulesets: Sequence[Ruleset]) -> Records:
        """One record with everything."""
        by_ruleset = np.zeros(len(rulesets), ruleset_type(len(KINDS), len(_PAIRS)))
        for record, ruleset in zip(by_ruleset, rulesets, strict=True):
            for name, value in {**self._rules(ruleset), **self._rows(ruleset)}.items():
                record[name] = value
        places = sorted(_HANDS)
        numbers = {
            "shuffle": self._text(_SHUFFLE),
            "actions": [self._text(name) for name in get_args(ActionName)],
            "results": [self._text(result) for result in _RESULTS],
            "kinds": [self._text(_json(kind)) for kind in KINDS],
            "combinations": [
                self._text(_json({"main": main, "second": second})[1:-1]) for main, second in _PAIRS
            ],
            "mains": [KINDS.index(main) for main, _ in _PAIRS],
            "places": places,
            "strengths": [_HANDS[place].strength for place in places],
            "pairs": [_PAIRS.index((_HANDS[place].main, _HANDS[place].second)) for place in places],
            "multiples": self._multiples,
            "words": self._words,
        }
        arrays: dict[str, NDArray[Any]] = {
            name: np.array(values, np.int64) for name, values in numbers.items()
        }
        arrays["starts"] = np.cumsum([0, *map(len, self._texts)], dtype=np.int64)
        arrays["texts"] = np.frombuffer(b"".join(self._texts), np.uint8)
        arrays["rulesets"] = by_ruleset
        layout = [(name, array.dtype, array.shape) for name, array in arrays.items()]
        tables = np.zeros(1, np.dtype(layout, align=True))
        for name, array in arrays.items():
            tables[0][name] = array
        return tables

    def _text(self, text: str) -> int:
        self._texts.append(text.encode())
        return len(self._texts) - 1

    def _rules(self, ruleset: Ruleset) -> dict[str, Any]:
        """What a ruleset allows and pays."""
        insurance, bonus, game = ruleset.insurance, ruleset.bonus, ruleset.game_purchase
        least, most = ruleset.exchange or (1, 0)
        paid = [ruleset.pay(Evaluation(0, *pair)) for pair in _PAIRS]
        return {
            "head": self._text(_head(ruleset)),
            "id": self._text(ruleset.id),
            "max_stake": ruleset.limits.max_stake or UNLIMITED,
            "max_payout": ruleset.limits.max_payout or UNLIMITED,
            "max_boxes": ruleset.max_boxes,
            "open_boxes": ("all", "one", "one_per_player").index(ruleset.open_boxes),
            "five_at_a_time": ruleset.deal_order == "five_at_a_time",
            "exchange_min": least,
            "exchange_max": most,
            "sixth_card": ruleset.sixth_card,
            "bonus": bonus is not None,
            "bonus_with_sixth": bonus is not None and bonus.with_sixth is not None,
            "opening": [bonus is not None and ruleset.blind_sixth and kind in bonus.dealt for kind in KINDS],
            "insurance_floor": STRENGTH_FLOORS[insurance.threshold] if insurance else NONE,
            "insurance_from_ante": insurance is not None and insurance.minimum == "ante",
            "insurance_wins": 2 if insurance and insurance.maximum == "win" else 1,
            "game_purchase": game is not None,
            "game_price": ruleset.game_price(1),
            "discards_lowest": game is not None and game.dealer_discards == "lowest",
            "redraw_same_rank": game is not None and game.redraw_same_rank,
            "paid": [_PAIRS.index((hand.main, hand.second)) for hand in paid],
            "odds": [hand.odds for hand in paid],
        }

    def _rows(self, ruleset: Ruleset) -> dict[str, Any]:
        """Every way in which a stake can be settled."""

        def row(name: BetName, **facts: Any) -> int:
            return self._row(settled_bet(name, _STAKE, _meeting(ruleset, **facts)))

        def by_result(name: BetName, results: Iterable[Result]) -> list[list[int]]:
            return [
                [row(name, result=result, bought=bought) for bought in (False, True)] for result in results
            ]

        strengths = ((GAME_FLOOR - 1, 0), (GAME_FLOOR + 1, GAME_FLOOR), (GAME_FLOOR, GAME_FLOOR + 1))
        insured = (*strengths, (GAME_FLOOR, GAME_FLOOR))
        return {
            "ante_rows": by_result("ante", _RESULTS),
            "bet_rows": by_result("bet", _RESULTS[:FOLDED]),
            "won_rows": [row("bet", pair=pair) for pair in _PAIRS],
            "bonus_rows": [
                [row("bonus", dealt=kind, sixth=sixth) for sixth in (False, True)] for kind in KINDS
            ],
            "insurance_rows": [
                row("insurance", shown=shown, strength=strength) for shown, strength in insured
            ],
            "purchase_rows": [row("purchase", sixth=sixth) for sixth in (False, True)],
            "game_purchase_row": row("game_purchase"),
        }

    def _row(self, bet: SettledBet) -> int:
        """A way to settle a stake, from how it settles ``_STAKE``."""
        told = _json({name: bet[name] for name in ("name", "stake", "returned", "net")})[:-1]
        before, after = _json(bet).removeprefix(told).split(str(_STAKE))
        comma = "" if bet["name"] == "ante" else ","  # the ante is the first
        self._words.append(self._text(f'{comma}{{"name":"{bet["name"]}","stake":'))
        self._text(before)
        self._text(after)
        self._multiples.append(bet["returned"] // _STAKE)
        return len(self._words) - 1


def _meeting(
    ruleset: Ruleset,
    *,
    result: Result = "win",
    bought: bool = False,
    pair: tuple[Kind, Kind | None] = ("none", None),
    strength: int = 0,
    shown: int = 0,
    dealt: Kind = "none",
    sixth: bool = False,
) -> Meeting:
    """A box that faces the dealer, of which what is not given does not matter."""
    five = parse_cards(_FIVES[dealt].split())
    more = next(card for card in FRESH_DECK if card not in five and evaluate((*five, card)).main == dealt)
    hand = (*five, more) if sixth else five
    box = Box(BoxStake(1, _STAKE), five, hand, False, "buy_sixth" if sixth else "exchange")
    purchase = ruleset.game_purchase if bought else None
    paid = ruleset.pay(Evaluation(strength, *pair))
    return Meeting(ruleset, None, box, paid, Evaluation(shown, "none", None), purchase, result)


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


def _head(ruleset: Ruleset) -> str:
    """What stands in an outcome between the digest of the request and that of the engine."""
    head = _json({"status": "settled", "ruleset": ruleset_identity(ruleset), "engine": ENGINE})
    return '",' + head[1:].partition(ENGINE["digest"].removeprefix("sha256:"))[0]
