"""Writing an outcome again, after the request in its canonical form, whose digest is the outcome's id."""

from typing import Final

import numpy as np

from service.audit.lean.layout import (
    BUY_SIXTH,
    EXCHANGE,
    FOLDED,
    INSURE,
    LOSE,
    NO_GAME,
    PUSH,
    SHOWN_EQUAL,
    SHOWN_HIGHER,
    SHOWN_LOWER,
    SHOWN_NO_GAME,
    UNLIMITED,
    WIN,
    Bytes,
    Numbers,
    Record,
    Text,
    copy,
    inner,
    same,
    text,
)
from service.audit.lean.playing import place_of
from service.audit.lean.shuffling import sha256
from service.game.cards import CODES
from service.game.hands import GAME_FLOOR

_CODES: Final = np.array([list(code.encode()) for code in CODES], np.uint8)
_DIGITS: Final = b"0123456789abcdef"
_ZERO: Final = _DIGITS[0]


@inner()
def _put(round: Record, text: Text) -> None:
    round.at = copy(round.written[:], round.at, text)


@inner()
def _put_number(round: Record, text: Text, number: int) -> None:
    """Write a text and a number behind it."""
    _put(round, text)
    if number < 0:
        _put(round, b"-")
    rest, size = abs(number), 1
    while rest >= 10:
        rest //= 10
        size += 1
    rest = abs(number)
    for place in range(size):
        round.written[round.at + size - 1 - place] = _ZERO + rest % 10
        rest //= 10
    round.at += size


@inner()
def _put_hex(round: Record, text: Text, value: Bytes) -> None:
    _put(round, text)
    for byte in value:
        round.written[round.at] = _DIGITS[byte >> 4]
        round.written[round.at + 1] = _DIGITS[byte & 15]
        round.at += 2


@inner()
def _put_cards(round: Record, text: Text, cards: Numbers) -> None:
    """Write a text and the codes of some cards behind it."""
    _put(round, text)
    for place in range(cards.size):
        _put(round, b',"' if place else b'"')
        _put(round, _CODES[cards[place]])
        _put(round, b'"')


@inner()
def _put_truth(round: Record, text: Text, value: bool) -> None:
    _put(round, text)
    _put(round, b"true" if value else b"false")


@inner()
def _put_player(line: Bytes, round: Record, box: Record) -> None:
    if box.player >= 0:
        _put(round, b',"player":"')
        _put(round, line[box.player : box.player_end])
        _put(round, b'"')


@inner()
def _put_seeds(line: Bytes, round: Record) -> None:
    _put(round, b'"client_seed":"')
    _put(round, line[round.client_seed : round.client_seed_end])
    _put_number(round, b'","nonce":', round.nonce)
    _put_hex(round, b',"server_seed":"', round.server_seed[:])
    _put(round, b'"')


@inner()
def _write_request(line: Bytes, round: Record, rules: Record, tables: Record) -> None:
    round.at = 0
    _put(round, b'{"actions":[')
    for place in range(round.action_count):
        action = round.actions[place]
        _put(round, b',{"action":"' if place else b'{"action":"')
        _put(round, text(tables, tables.actions[action.name]))
        _put(round, b'"')
        if action.name == INSURE:
            _put_number(round, b',"amount":', action.amount)
        _put_number(round, b',"box":', action.box)
        _put_discard(round, action)
        _put(round, b"}")
    _put(round, b'],"boxes":[')
    for place in range(round.box_count):
        box = round.boxes[place]
        _put_number(round, b',{"ante":' if place else b'{"ante":', box.ante)
        _put_truth(round, b',"blind":', box.blind != 0)
        _put_number(round, b',"bonus":', box.bonus)
        _put_number(round, b',"box":', box.number)
        _put_player(line, round, box)
        _put(round, b"}")
    _put(round, b'],"deal":{')
    _put_seeds(line, round)
    _put(round, b'},"ruleset":"')
    _put(round, text(tables, rules.id))
    _put(round, b'","table":{')
    if round.max_payout != UNLIMITED:
        _put_number(round, b'"max_payout":', round.max_payout)
        _put(round, b",")
    if round.max_stake != UNLIMITED:
        _put_number(round, b'"max_stake":', round.max_stake)
        _put(round, b",")
    _put_number(round, b'"min_stake":', round.min_stake)
    _put(round, b"}}")


@inner()
def _put_discard(round: Record, action: Record) -> None:
    if action.name == EXCHANGE:
        _put_cards(round, b',"discard":[', action.cards[: action.count])
        _put(round, b"]")


@inner()
def written_again(line: Bytes, round: Record, tables: Record) -> bool:
    """Write the outcome, add up its totals, and compare."""
    rules = tables.rulesets[round.ruleset]
    _write_request(line, round, rules, tables)
    sha256(round, round.written[:], round.at, round.digest[:])
    round.at = 0
    _put_hex(round, b'{"outcome_id":"', round.digest[:16])
    _put_hex(round, b'","request_digest":"sha256:', round.digest[:])
    _put(round, text(tables, rules.head))
    _put(round, line[round.build : round.build + 64])
    copy(round.message[:], 0, round.server_seed[:])
    sha256(round, round.message[:], 32, round.digest[:])
    _put_hex(round, text(tables, tables.shuffle), round.digest[:])
    _put(round, b'",')
    _put_seeds(line, round)
    _put_cards(round, b',"deck":[', round.deck[:])
    _put_number(round, b'],"cards_used":', round.used)
    _put_number(round, b'},"table":{"min_stake":', round.min_stake)
    if round.max_stake != UNLIMITED:
        _put_number(round, b',"max_stake":', round.max_stake)
    if round.max_payout != UNLIMITED:
        _put_number(round, b',"max_payout":', round.max_payout)
    _put(round, b'},"actions":[')
    for place in range(round.action_count):
        action = round.actions[place]
        _put_number(round, b',{"box":' if place else b'{"box":', action.box)
        _put(round, b',"action":"')
        _put(round, text(tables, tables.actions[action.name]))
        _put(round, b'"')
        _put_discard(round, action)
        if action.name == INSURE:
            _put_number(round, b',"amount":', action.amount)
        _put(round, b"}")
    _write_dealer(round, tables)
    round.staked = round.returned = 0
    for place in range(round.box_count):
        if place:
            _put(round, b",")
        if not _box_written(line, round, round.boxes[place], rules, tables):
            return False
    _put_sums(round, b'],"totals":{"staked":', round.staked, round.returned)
    _put(round, b"}")
    return same(line, round.written[: round.at])


@inner()
def _put_sums(round: Record, text: Text, staked: int, returned: int) -> None:
    _put_number(round, text, staked)
    _put_number(round, b',"returned":', returned)
    _put_number(round, b',"net":', returned - staked)
    _put(round, b"}")


@inner()
def _write_dealer(round: Record, tables: Record) -> None:
    _put_cards(round, b'],"dealer":{"dealt":[', round.dealer[:5])
    _put_worth(round, b'],"kind":', b',"qualifies":', round.shown, tables)
    _put(round, b',"draws":[')
    for place in range(round.draws):
        if place:
            _put(round, b",")
        _put_cards(round, b'{"discarded":', round.discarded[place : place + 1])
        _put_cards(round, b',"drawn":', round.drawn[place : place + 1])
        _put(round, b"}")
    _put_cards(round, b'],"final":[', round.final[:5])
    _put_worth(round, b'],"final_kind":', b',"final_qualifies":', round.met, tables)
    _put(round, b'},"boxes":[')


@inner()
def _put_worth(round: Record, kind: Text, qualifies: Text, place: int, tables: Record) -> None:
    _put(round, kind)
    _put(round, text(tables, tables.kinds[tables.mains[tables.pairs[place]]]))
    _put_truth(round, qualifies, tables.strengths[place] >= GAME_FLOOR)


@inner()
def _box_written(line: Bytes, round: Record, box: Record, rules: Record, tables: Record) -> bool:
    """Write a box with its stakes settled (S1 to S9)."""
    place = place_of(box.hand[: box.size], tables)
    if place < 0:
        return False
    strength, paid = tables.strengths[place], rules.paid[tables.pairs[place]]
    shown = tables.strengths[round.shown]
    result = _result(box, strength, tables.strengths[round.met] if box.bought != 0 else shown)
    if result == WIN and 2 * box.ante * rules.odds[paid] > round.max_payout:
        return False
    _put_number(round, b'{"box":', box.number)
    _put_truth(round, b',"blind":', box.blind != 0)
    _put_player(line, round, box)
    _put_cards(round, b',"dealt":[', box.dealt[:5])
    _put_cards(round, b'],"hand":[', box.hand[: box.size])
    _put(round, b"],")
    _put(round, text(tables, tables.combinations[paid]))
    _put_number(round, b',"odds":', rules.odds[paid])
    _put(round, b',"result":"')
    _put(round, text(tables, tables.results[result]))
    _put(round, b'","bets":[')
    staked, returned = round.staked, round.returned
    _put_bet(round, tables, rules.ante_rows[result, box.bought], box.ante)
    if box.folded == 0:
        row = rules.won_rows[paid] if result == WIN else rules.bet_rows[result, box.bought]
        _put_bet(round, tables, row, 2 * box.ante)
    if box.bonus != 0:
        sixth = rules.bonus_with_sixth != 0 and box.purchase == BUY_SIXTH
        main = tables.mains[tables.pairs[place] if sixth else box.dealt_pair]
        _put_bet(round, tables, rules.bonus_rows[main, 1 if sixth else 0], box.bonus)
    if box.insurance != 0:
        _put_bet(round, tables, rules.insurance_rows[_insured(strength, shown)], box.insurance)
    if box.purchase >= 0:
        _put_bet(round, tables, rules.purchase_rows[box.purchase], box.ante)
    if box.bought != 0 and rules.game_price != 0:
        _put_bet(round, tables, rules.game_purchase_row, box.ante)
    _put_sums(round, b'],"staked":', round.staked - staked, round.returned - returned)
    return True


@inner()
def _result(box: Record, strength: int, met: int) -> int:
    """What a box's round came to (S9)."""
    if box.folded != 0:
        return FOLDED
    if met < GAME_FLOOR:
        return NO_GAME
    return PUSH if strength == met else WIN if strength > met else LOSE


@inner()
def _insured(strength: int, shown: int) -> int:
    """What an insurance came to (S7)."""
    if shown < GAME_FLOOR:
        return SHOWN_NO_GAME
    return SHOWN_EQUAL if strength == shown else SHOWN_LOWER if strength > shown else SHOWN_HIGHER


@inner()
def _put_bet(round: Record, tables: Record, row: int, stake: int) -> None:
    """Write a stake by the row that settles it, and add it up."""
    returned, words = tables.multiples[row] * stake, tables.words[row]
    _put_number(round, text(tables, words), stake)
    _put_number(round, b',"returned":', returned)
    _put_number(round, b',"net":', returned - stake)
    _put_number(round, text(tables, words + 1), stake)
    _put(round, text(tables, words + 2))
    round.staked += stake
    round.returned += returned
