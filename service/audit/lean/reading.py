"""Reading a line as far as it says what was asked for; what follows from that is computed, not read.

``at`` is the place in the line, -1 once something else stands there than expected. A wrong place does no
harm, since all is written again and compared.
"""

from typing import Final

import numpy as np

from service.audit.lean.layout import (
    EXCHANGE,
    INSURE,
    MOST_ACTIONS,
    NONE,
    Bytes,
    Numbers,
    Record,
    Text,
    inner,
    text,
)
from service.fairness.shuffle import MAX_CLIENT_SEED_BYTES, MAX_NONCE
from service.game.cards import RANKS, SUITS
from service.game.ruleset import MAX_BOXES

_MOST_PLAYER: Final = 64
_MOST_DIGITS: Final = 16
"""Digits of the largest number that an outcome can show."""
_DECK_BYTES: Final = len('"2c",') * 52 - 1
_QUOTE, _CLOSE, _BACKSLASH, _ZERO, _NINE, _BLANK, _TILDE = b'"]\\09 ~'


def _places(alphabet: str) -> Numbers:
    """The place of each byte in an alphabet, -1 for those that it does not have."""
    return np.array([alphabet.find(chr(byte)) for byte in range(256)])


_RANK_OF: Final = _places(RANKS)
_SUIT_OF: Final = _places(SUITS)
_DIGIT_OF: Final = _places("0123456789abcdef")


@inner()
def _skips(line: Bytes, round: Record, text: Text) -> bool:
    """Pass over a text if it stands next."""
    at = round.at
    if at < 0 or at + len(text) > line.size:
        return False
    for place in range(len(text)):
        if line[at + place] != text[place]:
            return False
    round.at = at + len(text)
    return True


@inner()
def _expect(line: Bytes, round: Record, text: Text) -> None:
    if not _skips(line, round, text):
        round.at = NONE


@inner()
def _find(line: Bytes, round: Record, text: Text) -> None:
    """Pass over the next occurrence of a text."""
    first = round.at
    while 0 <= first < line.size:
        if line[first] == text[0]:
            round.at = first
            if _skips(line, round, text):
                return
        first += 1
    round.at = NONE


@inner()
def _next_is(line: Bytes, round: Record, character: int) -> bool:
    return bool(0 <= round.at < line.size and line[round.at] == character)


@inner()
def _read_number(line: Bytes, round: Record, text: Text) -> int:
    """A number without a sign that stands behind a text."""
    _expect(line, round, text)
    first, value = round.at, 0
    while 0 <= round.at < line.size and _ZERO <= line[round.at] <= _NINE:
        value = 10 * value + line[round.at] - _ZERO
        round.at += 1
    if not 0 < round.at - first <= _MOST_DIGITS:
        round.at = NONE
    return value


@inner()
def _read_text(line: Bytes, round: Record, text: Text, most: int) -> int:
    """Where a text of ASCII characters begins that stands behind another one; it ends before a quote."""
    _expect(line, round, text)
    first = round.at
    while 0 <= round.at < line.size and line[round.at] != _QUOTE:
        if not _BLANK <= line[round.at] <= _TILDE or line[round.at] == _BACKSLASH or round.at - first == most:
            round.at = NONE
            break
        round.at += 1
    return int(first)


@inner()
def _read_hex(line: Bytes, round: Record, text: Text, value: Bytes) -> None:
    """Bytes in hex that stand behind a text."""
    _expect(line, round, text)
    first = round.at
    if first < 0 or first + 2 * value.size > line.size:
        round.at = NONE
        return
    round.at += 2 * value.size
    for place in range(value.size):
        high, low = _DIGIT_OF[line[first + 2 * place]], _DIGIT_OF[line[first + 2 * place + 1]]
        if high < 0 or low < 0:
            round.at = NONE
        value[place] = 16 * high + low


@inner()
def read(line: Bytes, round: Record, tables: Record) -> bool:
    """Read the round that an outcome speaks of; whether there is one."""
    round.at = 0
    _read_hex(line, round, b'{"outcome_id":"', round.digest[:16])
    _read_hex(line, round, b'","request_digest":"sha256:', round.digest[:])
    round.ruleset = NONE
    for ruleset in range(tables.rulesets.size):
        if _skips(line, round, text(tables, tables.rulesets[ruleset].head)):
            round.ruleset = ruleset
            break
    round.build = round.at
    _read_hex(line, round, b"", round.digest[:])
    _read_hex(line, round, text(tables, tables.shuffle), round.digest[:])
    round.client_seed = _read_text(line, round, b'","client_seed":"', MAX_CLIENT_SEED_BYTES)
    round.client_seed_end = round.at
    round.nonce = _read_number(line, round, b'","nonce":')
    _read_hex(line, round, b',"server_seed":"', round.server_seed[:])
    _expect(line, round, b'","deck":[')
    if round.at < 0 or round.ruleset < 0 or round.nonce > MAX_NONCE:
        return False
    round.at += _DECK_BYTES
    _read_number(line, round, b'],"cards_used":')
    _read_limits(line, round, tables.rulesets[round.ruleset])
    _read_actions(line, round, tables)
    _read_boxes(line, round)
    return bool(round.at > 0)


@inner()
def _read_limits(line: Bytes, round: Record, rules: Record) -> None:
    """The limits in force: the table's, or the ruleset's where it has none (A8)."""
    round.min_stake = _read_number(line, round, b'},"table":{"min_stake":')
    round.max_stake, round.max_payout = rules.max_stake, rules.max_payout
    if _skips(line, round, b',"max_stake":'):
        round.max_stake = _read_number(line, round, b"")
    if _skips(line, round, b',"max_payout":'):
        round.max_payout = _read_number(line, round, b"")


@inner()
def _read_actions(line: Bytes, round: Record, tables: Record) -> None:
    _expect(line, round, b'},"actions":[')
    round.action_count = 0
    while round.at > 0 and not _next_is(line, round, _CLOSE) and round.action_count < MOST_ACTIONS:
        if round.action_count:
            _expect(line, round, b",")
        _read_action(line, round, round.actions[round.action_count], tables)
        round.action_count += 1


@inner()
def _read_action(line: Bytes, round: Record, action: Record, tables: Record) -> None:
    action.box = _read_number(line, round, b'{"box":')
    _expect(line, round, b',"action":"')
    action.name = action.count = 0
    while action.name < tables.actions.size and not _skips(
        line, round, text(tables, tables.actions[action.name])
    ):
        action.name += 1
    _expect(line, round, b'"')
    if action.name == EXCHANGE:
        _expect(line, round, b',"discard":[')
        while round.at > 0 and not _next_is(line, round, _CLOSE) and action.count < 6:
            _expect(line, round, b',"' if action.count else b'"')
            action.cards[action.count] = _read_card(line, round)
            _expect(line, round, b'"')
            action.count += 1
        _expect(line, round, b"]")
    elif action.name == INSURE:
        action.amount = _read_number(line, round, b',"amount":')
    _expect(line, round, b"}")


@inner()
def _read_card(line: Bytes, round: Record) -> int:
    if round.at < 0 or round.at + 2 > line.size:
        return NONE
    rank, suit = _RANK_OF[line[round.at]], _SUIT_OF[line[round.at + 1]]
    round.at = round.at + 2 if rank >= 0 and suit >= 0 else NONE
    return int(4 * rank + suit)


@inner()
def _read_boxes(line: Bytes, round: Record) -> None:
    """The boxes with their stakes; the ante is the first of a box's bets, the bonus one of the others."""
    _find(line, round, b'},"boxes":[')
    round.box_count = 0
    while round.at > 0 and round.box_count < MAX_BOXES:
        box = round.boxes[round.box_count]
        box.number = _read_number(line, round, b'{"box":')
        box.blind = _skips(line, round, b',"blind":true')
        if not box.blind:
            _expect(line, round, b',"blind":false')
        box.player, box.player_end = NONE, 0
        if _skips(line, round, b',"player":"'):
            box.player = _read_text(line, round, b"", _MOST_PLAYER)
            box.player_end = round.at
        _find(line, round, b'"bets":[')
        box.ante = _read_number(line, round, b'{"name":"ante","stake":')
        start = round.at
        _find(line, round, b'}],"staked":')
        end = round.at
        if end < 0:
            return
        round.at = start
        _find(line[:end], round, b'{"name":"bonus","stake":')
        box.bonus = _read_number(line, round, b"") if round.at > 0 else 0
        round.at = end
        _find(line, round, b"}")
        round.box_count += 1
        if not _skips(line, round, b","):
            return
