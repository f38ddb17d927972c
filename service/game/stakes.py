"""What is staked before the deal, and whether the table takes it (clauses D2, A8, A9)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from service.game.ruleset import MAX_AMOUNT, Limits, Ruleset


class BoxStake(NamedTuple):
    """One box before the deal: its number, stakes in minor units and who plays it (A9).

    ``player`` None is a player of the box's own.
    """

    number: int
    ante: int
    bonus: int = 0
    blind: bool = False
    player: str | None = None


class Table(NamedTuple):
    """A table's own limits in minor units; None leaves the ruleset's in force (A8)."""

    min_stake: int | None = None
    max_stake: int | None = None
    max_payout: int | None = None


class Fault(NamedTuple):
    """One thing that is wrong in what was staked: where, a code for programs, an explanation for people."""

    path: tuple[str | int, ...]
    code: str
    detail: str


class RefusedStakes(ValueError):
    """Boxes or stakes that the table does not take; ``faults`` names all of them."""

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(fault.detail for fault in faults))
        self.faults = tuple(faults)


class IllegalBoxes(RefusedStakes):
    """Box numbers, blind boxes or a bonus that the ruleset does not have (D2, A9)."""


class OutsideLimits(RefusedStakes):
    """Stakes outside the limits in force (A8)."""


_NO_LIMITS: Final = Table()


def effective_limits(ruleset: Ruleset, table: Table) -> Limits:
    """The ruleset's limits, each replaced by the table's where given (A8).

    Raises ``OutsideLimits`` where the minimum stake would exceed the maximum.
    """
    own = ruleset.limits
    limits = (
        own
        if table == _NO_LIMITS
        else Limits(
            own.min_stake if table.min_stake is None else table.min_stake,
            own.max_stake if table.max_stake is None else table.max_stake,
            own.max_payout if table.max_payout is None else table.max_payout,
        )
    )
    if limits.max_stake is not None and limits.min_stake > limits.max_stake:
        name = "max_stake" if table.min_stake is None else "min_stake"
        detail = (
            f"the minimum stake {limits.min_stake} exceeds the maximum stake {limits.max_stake};"
            f" the table's limits replace those of {ruleset.id} one by one"
        )
        raise OutsideLimits([Fault(("table", name), "min-above-max", detail)])
    return limits


def check_stakes(ruleset: Ruleset, limits: Limits, boxes: Sequence[BoxStake]) -> None:
    """Refuse boxes that the ruleset does not have (``IllegalBoxes``), then stakes (``OutsideLimits``)."""
    if faults := [*_box_faults(ruleset, boxes), *_openness_faults(ruleset, boxes)]:
        raise IllegalBoxes(faults)
    if faults := list(_limit_faults(limits, boxes)):
        raise OutsideLimits(faults)


def _box_faults(ruleset: Ruleset, boxes: Sequence[BoxStake]) -> Iterator[Fault]:
    previous = 0
    for index, box in enumerate(boxes):
        if box.number > ruleset.max_boxes:
            detail = f"{ruleset.id} has boxes 1 to {ruleset.max_boxes}; got {box.number} (D2)"
            yield Fault(("boxes", index, "box"), "no-such-box", detail)
        if box.number <= previous:
            detail = f"boxes are listed once each in ascending number; {box.number} follows {previous} (D2)"
            yield Fault(("boxes", index, "box"), "box-order", detail)
        if box.bonus and not ruleset.bonus:
            detail = f"{ruleset.id} offers no bonus; leave the member out"
            yield Fault(("boxes", index, "bonus"), "no-bonus", detail)
        previous = box.number


def _openness_faults(ruleset: Ruleset, boxes: Sequence[BoxStake]) -> Iterator[Fault]:
    open_boxes = [(index, box) for index, box in enumerate(boxes) if not box.blind]
    match ruleset.open_boxes:
        case "all":
            for index, box in enumerate(boxes):
                if box.blind:
                    yield Fault(
                        ("boxes", index, "blind"), "no-blind-boxes", f"{ruleset.id} has no blind boxes (A9)"
                    )
        case "one":
            for index, box in open_boxes[1:]:
                detail = f"{ruleset.id} allows one open box in a round; make box {box.number} blind (A9)"
                yield Fault(("boxes", index, "blind"), "too-many-open-boxes", detail)
        case "one_per_player":
            seen: Counter[str] = Counter()
            for index, box in open_boxes:
                if box.player is not None and seen[box.player]:
                    detail = (
                        f"{ruleset.id} allows each player one open box; make box {box.number} blind"
                        " or give it another player (A9)"
                    )
                    yield Fault(("boxes", index, "blind"), "too-many-open-boxes", detail)
                elif box.player is not None:
                    seen[box.player] += 1


def _limit_faults(limits: Limits, boxes: Sequence[BoxStake]) -> Iterator[Fault]:
    top = MAX_AMOUNT if limits.max_stake is None else limits.max_stake
    for index, box in enumerate(boxes):
        for name, amount in (("ante", box.ante), ("bonus", box.bonus)):
            if name == "bonus" and amount == 0:
                continue
            if amount < limits.min_stake:
                detail = f"the {name} {amount} is below the minimum stake {limits.min_stake} (A8)"
                yield Fault(("boxes", index, name), "below-min-stake", detail)
            elif amount > top:
                detail = f"the {name} {amount} is above the maximum stake {top} (A8)"
                yield Fault(("boxes", index, name), "above-max-stake", detail)
