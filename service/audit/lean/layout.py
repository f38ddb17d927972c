"""What the compiled functions share: how they are compiled, their names for things, the layout of records."""

from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
from numba import njit
from numpy.typing import NDArray

from service.game.ruleset import MAX_BOXES

Bytes: TypeAlias = NDArray[np.uint8]
Numbers: TypeAlias = NDArray[np.int64]
Words: TypeAlias = NDArray[np.uint32]
Text: TypeAlias = bytes | Bytes
Records: TypeAlias = NDArray[np.void]
Record: TypeAlias = Any
"""An element of a structured array."""

compiled: Final = partial(njit, boundscheck=True, error_model="numpy")
inner: Final = partial(compiled, no_cpython_wrapper=True, no_cfunc_wrapper=True)
"""Compiles what only compiled code calls, in half of the time."""
unchecked: Final = partial(inner, boundscheck=False)
"""For loops that can only meet the bounds of their own slices: without checks many bytes go at a time."""

EXCHANGE, BUY_SIXTH, INSURE, BET, FOLD, TAKE_ANTE, BUY_GAME = range(7)
WIN, LOSE, PUSH, NO_GAME, FOLDED = range(5)
SHOWN_NO_GAME, SHOWN_HIGHER, SHOWN_LOWER, SHOWN_EQUAL = range(4)
ALL_OPEN, ONE_OPEN, ONE_OPEN_PER_PLAYER = range(3)
NONE: Final = -1
UNLIMITED: Final = 2**62
MOST_ACTIONS: Final = 64
_ROOM: Final = 2**15
"""Bytes in which any outcome of so many actions finds room."""


def _record(numbers: str, *others: tuple[Any, ...]) -> np.dtype[np.void]:
    """A record of numbers, by name, and of other members."""
    return np.dtype([*((name, np.int64) for name in numbers.split()), *others], align=True)


def ruleset_type(kinds: int, pairs: int) -> np.dtype[np.void]:
    """A ruleset in numbers: texts and rows by their numbers, tables by kind or by pair of combinations."""
    sizes = {"opening": kinds, "bonus_rows": (kinds, 2), "insurance_rows": 4, "purchase_rows": 2}
    sizes |= {"ante_rows": (FOLDED + 1, 2), "bet_rows": (FOLDED, 2)}
    sizes |= dict.fromkeys(("won_rows", "paid", "odds"), pairs)
    return _record(
        "head id max_stake max_payout max_boxes open_boxes five_at_a_time exchange_min exchange_max"
        " sixth_card bonus bonus_with_sixth insurance_floor insurance_from_ante insurance_wins"
        " game_purchase game_price discards_lowest redraw_same_rank game_purchase_row",
        *((name, np.int64, size) for name, size in sizes.items()),
    )


_CARDS: Final = (np.int64, 6)
_BOX: Final = _record(
    "number blind player player_end ante bonus size dealt_pair bonus_won purchase insurance folded bought",
    ("dealt", *_CARDS),
    ("hand", *_CARDS),
)
_ACTION: Final = _record("box name amount count", ("cards", *_CARDS))
_ROUND: Final = _record(
    "at ruleset build client_seed client_seed_end nonce min_stake max_stake max_payout box_count action_count"
    " done used draws shown met staked returned",
    *((name, *_CARDS) for name in ("dealer", "final", "discarded", "drawn")),
    ("deck", np.int64, 52),
    ("boxes", _BOX, MAX_BOXES),
    ("actions", _ACTION, MOST_ACTIONS),
    *((name, np.uint8, 32) for name in ("server_seed", "digest", "key", "value")),
    ("message", np.uint8, 512),
    ("written", np.uint8, _ROOM),
    *((name, np.uint32, 8) for name in ("state", "inner", "outer")),
    ("words", np.uint32, 64),
)


def room() -> Records:
    """Room for a round, used again for each line."""
    return np.zeros(1, _ROUND)


@inner()
def text(tables: Record, number: int) -> Bytes:
    """One of the texts of the tables."""
    texts: Bytes = tables.texts[tables.starts[number] : tables.starts[number + 1]]
    return texts


@unchecked()
def copy(out: Bytes, at: int, text: Text) -> int:
    """Write a text, as far as there is room; the place behind it."""
    part = out[at : at + len(text)]
    for place in range(part.size):
        part[place] = text[place]
    return at + len(text)


@unchecked()
def same(one: Bytes, other: Bytes) -> bool:
    """Whether two texts are the same."""
    if one.size != other.size:
        return False
    different = np.uint8(0)
    for place in range(one.size):  # to the end in any case
        different |= one[place] ^ other[place]
    return bool(different == 0)
