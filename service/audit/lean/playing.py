"""Playing a round that was read (D2, D3, A1 to A9); what the rules do not allow is not confirmed."""

from typing import Final

import numpy as np

from service.audit.lean.layout import (
    ALL_OPEN,
    BET,
    BUY_GAME,
    BUY_SIXTH,
    EXCHANGE,
    FOLD,
    INSURE,
    NONE,
    ONE_OPEN,
    ONE_OPEN_PER_PLAYER,
    TAKE_ANTE,
    UNLIMITED,
    Bytes,
    Numbers,
    Record,
    inner,
    same,
)
from service.game.hands import FIVE_SUITED, FLUSH, GAME_FLOOR, KEYS, RANK_BITS, SIX_SUITED
from service.game.ruleset import MAX_AMOUNT

_KEYS: Final = np.array(KEYS)
_FIVE_SUITED: Final = np.array(sorted(FIVE_SUITED))
_SIX_SUITED: Final = np.array(sorted(SIX_SUITED))


@inner()
def stakes_fit(line: Bytes, round: Record, tables: Record) -> bool:
    """Whether the table takes these boxes and stakes (D2, A8, A9)."""
    rules = tables.rulesets[round.ruleset]
    if not (_is_limit(round.min_stake) and _is_limit(round.max_stake) and _is_limit(round.max_payout)):
        return False
    previous = opened = 0
    for place in range(round.box_count):
        box = round.boxes[place]
        if not previous < box.number <= rules.max_boxes or not _box_fits(round, box, rules):
            return False
        previous = box.number
        opened += 1 - box.blind
        for other in range(place):
            if rules.open_boxes == ONE_OPEN_PER_PLAYER and _both_open(line, round.boxes[other], box):
                return False
    return bool(opened <= 1 or rules.open_boxes != ONE_OPEN)


@inner()
def _is_limit(limit: int) -> bool:
    return bool(limit == UNLIMITED or 1 <= limit <= MAX_AMOUNT)


@inner()
def _box_fits(round: Record, box: Record, rules: Record) -> bool:
    least, most = round.min_stake, min(round.max_stake, MAX_AMOUNT)
    if box.bonus != 0 and (rules.bonus == 0 or not least <= box.bonus <= most):
        return False
    if box.player == box.player_end or (box.blind != 0 and rules.open_boxes == ALL_OPEN):
        return False
    return bool(least <= box.ante <= most)


@inner()
def _both_open(line: Bytes, one: Record, other: Record) -> bool:
    """Whether two boxes are of one player, who looks at the cards of both."""
    if one.blind != 0 or other.blind != 0 or one.player < 0 or other.player < 0:
        return False
    return same(line[one.player : one.player_end], line[other.player : other.player_end])


@inner()
def place_of(cards: Numbers, tables: Record) -> int:
    """Where the tables have a hand, -1 for six cards with a flush."""
    whole = 0
    for card in cards:
        whole += _KEYS[card]
    ranks = whole & ((1 << RANK_BITS) - 1)
    for suited in _FIVE_SUITED if cards.size == 5 else _SIX_SUITED:
        if whole >> RANK_BITS == suited:
            if cards.size == 6:
                return NONE
            ranks |= FLUSH
    return int(np.searchsorted(tables.places[:], ranks))


@inner()
def played(round: Record, tables: Record) -> bool:
    """Deal and take every action; whether all were legal and none is missing."""
    rules = tables.rulesets[round.ruleset]
    _deal(round, rules, tables)
    for place in range(round.box_count):
        if round.boxes[place].blind == 0 and not _decided(round, round.boxes[place], rules, tables):
            return False
    if rules.game_purchase != 0 and tables.strengths[round.shown] < GAME_FLOOR:
        for place in range(round.box_count):
            if round.boxes[place].folded == 0 and not _chosen(round, round.boxes[place]):
                return False
        _draw_for_dealer(round, rules, tables)
    return bool(round.done == round.action_count)


@inner()
def _deal(round: Record, rules: Record, tables: Record) -> None:
    hands = round.box_count + 1
    next_hand, next_card = (5, 1) if rules.five_at_a_time != 0 else (1, hands)
    for place in range(round.box_count):
        box = round.boxes[place]
        for card in range(5):
            box.dealt[card] = box.hand[card] = round.deck[next_hand * place + next_card * card]
        box.dealt_pair = tables.pairs[place_of(box.dealt[:5], tables)]
        box.bonus_won = box.bonus > 0 and rules.opening[tables.mains[box.dealt_pair]] != 0
        box.size, box.purchase, box.insurance, box.folded, box.bought = 5, NONE, 0, 0, 0
    for card in range(5):
        round.dealer[card] = round.final[card] = round.deck[next_hand * round.box_count + next_card * card]
    round.shown = round.met = place_of(round.dealer[:5], tables)
    round.used = 5 * hands
    round.draws = round.done = 0


@inner()
def _decided(round: Record, box: Record, rules: Record, tables: Record) -> bool:
    """Take the actions of a box up to its bet or fold."""
    while round.done < round.action_count:
        action = round.actions[round.done]
        round.done += 1
        if action.box != box.number:
            return False
        untouched = box.purchase < 0 and box.insurance == 0
        if action.name == EXCHANGE:
            if not untouched or box.bonus_won != 0 or not _exchanged(round, box, rules, action):
                return False
        elif action.name == BUY_SIXTH:
            if not untouched or rules.sixth_card == 0:
                return False
            box.purchase, box.size, box.hand[5] = BUY_SIXTH, 6, _drawn(round)
        elif action.name == INSURE:
            if not _insurable(round, box, rules, tables, action.amount):
                return False
            box.insurance = action.amount
        else:
            box.folded = action.name == FOLD
            return bool(action.name == BET or (action.name == FOLD and box.insurance == 0))
    return False


@inner()
def _drawn(round: Record) -> int:
    round.used += 1
    return int(round.deck[round.used - 1])


@inner()
def _exchanged(round: Record, box: Record, rules: Record, action: Record) -> bool:
    """Exchange cards (A2): the kept ones stay in order, the new ones follow."""
    if not rules.exchange_min <= action.count <= rules.exchange_max:
        return False
    kept = 0
    for place in range(5):
        stays = True
        for named in range(action.count):
            stays = stays and action.cards[named] != box.dealt[place]
        if stays:
            box.hand[kept] = box.dealt[place]
            kept += 1
    if kept + action.count != 5:  # a card that the box does not hold, or one named twice
        return False
    for place in range(kept, 5):
        box.hand[place] = _drawn(round)
    box.purchase = EXCHANGE
    return True


@inner()
def _insurable(round: Record, box: Record, rules: Record, tables: Record, amount: int) -> bool:
    """Whether a box may insure for so much (A3, A6)."""
    place = place_of(box.hand[: 5 if box.bonus_won != 0 else box.size], tables)
    if box.insurance != 0 or rules.insurance_floor < 0 or place < 0:
        return False
    win = rules.insurance_wins * box.ante * rules.odds[tables.pairs[place]]
    least = box.ante if rules.insurance_from_ante != 0 else round.min_stake
    most = min(win, MAX_AMOUNT, round.max_payout)
    return bool(tables.strengths[place] >= rules.insurance_floor and least <= amount <= most)


@inner()
def _chosen(round: Record, box: Record) -> bool:
    """Take what a box that bet decides on a dealer without game (A4)."""
    if round.done == round.action_count:
        return False
    action = round.actions[round.done]
    round.done += 1
    box.bought = action.name == BUY_GAME
    return bool(action.box == box.number and (action.name == TAKE_ANTE or action.name == BUY_GAME))


@inner()
def _draw_for_dealer(round: Record, rules: Record, tables: Record) -> None:
    """Exchange the dealer's card if any box bought his game (A5)."""
    bought = 0
    for place in range(round.box_count):
        bought += round.boxes[place].bought
    if bought == 0:
        return
    out = 0
    for place in range(1, 5):
        higher = (round.dealer[place] >> 2) - (round.dealer[out] >> 2)
        if (higher < 0) if rules.discards_lowest != 0 else (higher > 0):
            out = place
    again = True
    while again:
        before, drawn = round.final[out], _drawn(round)
        round.discarded[round.draws], round.drawn[round.draws], round.final[out] = before, drawn, drawn
        round.draws += 1
        round.met = place_of(round.final[:5], tables)
        again = rules.redraw_same_rank != 0 and drawn >> 2 == before >> 2
        again = again and tables.strengths[round.met] < GAME_FLOOR
