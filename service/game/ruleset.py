"""A house's rules as frozen data (rule book, section 6): the engine branches on values, never on an id."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

from service.game.cards import FRESH_DECK
from service.game.hands import KINDS, Evaluation, Kind, evaluate

MAX_AMOUNT: Final = 10**12
"""Largest ante, bonus, insurance and table value, in minor units (rule book, preface)."""
MAX_OUTCOME: Final = 2**53 - 1
"""Largest amount that an outcome may show, in minor units: JSON readers keep it exact."""


MAX_BOXES: Final = 9
"""Most boxes that any ruleset can have: five cards each and for the dealer, of 52 (D4)."""


class MalformedRuleset(ValueError):
    """Parameters that no table could be run with."""


class Hand(NamedTuple):
    """A hand as a ruleset pays it: its strength, the combinations paid and the odds "to 1" on the bet."""

    strength: int
    main: Kind
    second: Kind | None
    odds: int


@dataclass(frozen=True, slots=True)
class Limits:
    """Stake limits in minor units (A8); None is no limit."""

    min_stake: int
    max_stake: int | None = None
    max_payout: int | None = None


@dataclass(frozen=True, slots=True)
class Bonus:
    """Odds of the bonus by main combination (S8), on the dealt five and with a sixth card bought.

    ``with_sixth`` is None where the dealt five cards always decide.
    """

    dealt: Mapping[Kind, int]
    with_sixth: Mapping[Kind, int] | None = None


@dataclass(frozen=True, slots=True)
class Insurance:
    """Terms of the insurance (A3, S7)."""

    threshold: Kind
    minimum: Literal["min_stake", "ante"]
    maximum: Literal["win", "half_win"]
    on_tie: Literal["lose", "return"]


@dataclass(frozen=True, slots=True)
class GamePurchase:
    """Terms of buying the dealer's game (A4, A5, S6)."""

    price: Literal["one_more_ante", "the_ante"]
    dealer_discards: Literal["highest", "lowest"]
    redraw_same_rank: bool
    failed_ante: Literal["paid", "returned", "lost"]


@dataclass(frozen=True)
class Ruleset:
    """One version of a house's rules. Raises ``MalformedRuleset`` where the parameters cannot go together.

    ``exchange`` is the least and the largest number of cards, None where no exchange is offered.
    ``bet_odds`` holds every kind but ``none``; ``own_rows`` the pairs of combinations that do not pay the
    sum of both. ``bonus``, ``insurance`` and ``game_purchase`` are None where the house does not offer them.
    """

    id: str
    version: int
    digest: str
    max_boxes: int
    open_boxes: Literal["all", "one", "one_per_player"]
    deal_order: Literal["one_by_one", "five_at_a_time"]
    exchange: tuple[int, int] | None
    sixth_card: bool
    blind_sixth: bool
    combinations: Literal[1, 2]
    ante_on_win: Literal["returned", "paid"]
    bet_odds: Mapping[Kind, int]
    own_rows: Mapping[tuple[Kind, Kind], int]
    bonus: Bonus | None
    insurance: Insurance | None
    game_purchase: GamePurchase | None
    limits: Limits

    def __post_init__(self) -> None:
        for fault in self._faults():
            raise MalformedRuleset(fault)

    def _faults(self) -> Iterator[str]:
        if self.limits.max_stake is not None and self.limits.min_stake > self.limits.max_stake:
            yield "limits.min_stake must not exceed limits.max_stake"
        if self.exchange and not 1 <= self.exchange[0] <= self.exchange[1]:
            yield "purchase.exchange_min must be from 1 to exchange_max; set both to 0 for no exchange"
        if self.blind_sixth and not (self.sixth_card and self.bonus):
            yield "purchase.blind_sixth needs a sixth card and a bonus (A6)"
        if self.bonus and not self.bonus.dealt:
            yield "bonus.dealt needs at least one kind; leave bonus out where there is none"
        if self.bonus and self.bonus.with_sixth is not None and not self.sixth_card:
            yield "bonus.with_sixth needs purchase.sixth_card"
        if self.own_rows and self.combinations == 1:
            yield "bet.own_rows needs bet.combinations = 2"
        terms = self.game_purchase
        if terms and (terms.price == "the_ante") != (terms.failed_ante == "lost"):
            yield "game_purchase.failed_ante is 'lost' where the price is 'the_ante', and only there (S6)"
        if self.cards_needed > len(FRESH_DECK):
            yield (
                f"boxes.maximum: a round could need {self.cards_needed} cards and the deck has 52 (D4);"
                " have fewer boxes or exchange fewer cards"
            )
        if self.largest_return > MAX_OUTCOME:
            yield (
                f"boxes.maximum: a round could return {self.largest_return} minor units, more than"
                f" {MAX_OUTCOME}; have fewer boxes or lower odds"
            )

    def game_price(self, ante: int) -> int:
        """What a game purchase adds to the stakes: one more ante, or 0 where the ante is the price (S6)."""
        return ante if self.game_purchase and self.game_purchase.price == "one_more_ante" else 0

    @property
    def cards_needed(self) -> int:
        """Most cards that one round can take from the deck (D4)."""
        per_box = 5 + max(self.exchange[1] if self.exchange else 0, self.sixth_card)
        draws = (4 if self.game_purchase.redraw_same_rank else 1) if self.game_purchase else 0
        return self.max_boxes * per_box + 5 + draws

    @property
    def largest_return(self) -> int:
        """Bound of what all boxes of a round can get back, every stake being at most ``MAX_AMOUNT``."""
        tables = (self.bonus.dealt, self.bonus.with_sixth or {}) if self.bonus else ()
        best_bonus = max((odds for table in tables for odds in table.values()), default=0)
        paid = (odds for (_, second), odds in self.odds_table.items() if self.combinations == 2 or not second)
        ante, bet, bonus, insurance = 2, 2 * (1 + max(paid)), 1 + best_bonus, 2
        return self.max_boxes * MAX_AMOUNT * (ante + bet + bonus + insurance)

    @cached_property
    def odds_table(self) -> Mapping[tuple[Kind, Kind | None], int]:
        """Odds on the bet for each main and second combination (S4): the ruleset's own row or the sum."""
        odds: dict[Kind, int] = {"none": 0, **self.bet_odds}
        table: dict[tuple[Kind, Kind | None], int] = {(main, None): odds[main] for main in KINDS}
        for main in KINDS:
            for second in KINDS:
                table[main, second] = self.own_rows.get((main, second), odds[main] + odds[second])
        return table

    def hand(self, cards: Sequence[int]) -> Hand:
        """Evaluate five or six cards and find the odds on the bet (C5, S4)."""
        return self.pay(evaluate(cards))

    def pay(self, evaluation: Evaluation) -> Hand:
        """The combinations that this ruleset pays of a hand evaluated, and their odds (S4)."""
        strength, main, second = evaluation
        if self.combinations == 1:
            second = None
        return Hand(strength, main, second, self.odds_table[main, second])
