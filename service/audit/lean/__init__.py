"""The lean path of an audit: plain records confirmed by machine code that numba compiles as the audit begins.

A line is read, its round played and written again, and the round is confirmed where the bytes are the same.
So nothing passes that this code would not write itself; that it writes what the engine answers is for
``tests/audit/test_lean.py`` to show. What is rare (a beacon, a context, a hidden seed, six cards with a
flush, a capped bet) or wrong in any way is not confirmed, and left to the engine.

Odds, limits, combinations and the words of every stake come in ``tables`` made of the engine's own answers.
``reading``, ``shuffling``, ``playing`` and ``writing`` are the steps, ``layout`` is what they share. A round
is one record, which every function gets and changes.
"""

from collections.abc import Sequence

import numpy as np

from service.audit.lean.layout import NONE, Bytes, Numbers, Records, compiled, room
from service.audit.lean.playing import played, stakes_fit
from service.audit.lean.reading import read
from service.audit.lean.shuffling import shuffled
from service.audit.lean.tables import Tables
from service.audit.lean.writing import written_again
from service.audit.records import Confirmed
from service.registry import Registry


class Confirmer:
    """Confirms recorded rounds under the rulesets of a registry, as ``records.Lean`` does."""

    def __init__(self, registry: Registry) -> None:
        self._ids = list(registry)
        self._tables = Tables().of([published.ruleset for published in registry.values()])
        self._room = room()
        self([b""])  # which compiles

    def __call__(self, lines: Sequence[bytes]) -> list[Confirmed | None]:
        """What is confirmed of each line, None where the engine has to look at it."""
        joined, ends = np.frombuffer(b"".join(lines), np.uint8), np.cumsum([*map(len, lines)], dtype=np.int64)
        rulesets, staked, returned = np.empty((3, len(lines)), np.int64)
        _confirm(joined, ends, self._tables, self._room, rulesets, staked, returned)
        found = zip(rulesets.tolist(), staked.tolist(), returned.tolist(), strict=True)
        return [Confirmed(self._ids[id], stake, back) if id >= 0 else None for id, stake, back in found]


@compiled()
def _confirm(
    lines: Bytes,
    ends: Numbers,
    all_tables: Records,
    rounds: Records,
    rulesets: Numbers,
    staked: Numbers,
    returned: Numbers,
) -> None:
    """Look at lines that stand one behind the other: the ruleset of each or -1, its stakes, what came back.

    ``all_tables`` and ``rounds`` have one element each.
    """
    tables, round = all_tables[0], rounds[0]
    start = 0
    for place in range(ends.size):
        line = lines[start : ends[place]]
        start = ends[place]
        right = read(line, round, tables) and stakes_fit(line, round, tables) and shuffled(line, round)
        right = right and played(round, tables) and written_again(line, round, tables)
        rulesets[place] = round.ruleset if right else NONE
        staked[place], returned[place] = round.staked, round.returned
