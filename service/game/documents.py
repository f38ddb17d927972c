"""A round as plain data, the way callers read it: what it came to, or the view of one under way.

Documents hold text, integers, lists and None only; cards leave as codes, amounts in minor units.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from service.game.cards import CODES, card_codes
from service.game.hands import GAME_FLOOR, evaluate, kickers, main_and_second
from service.game.round import Action, Box, LegalAction, Round
from service.game.ruleset import Limits, Ruleset
from service.game.settlement import SettledBox, settle

Document = dict[str, Any]


def settled_document(state: Round) -> Document:
    """What a finished round came to: the dealer, the boxes, the totals. Raises ``UnfinishedRound`` before."""
    boxes = [_settled_box(settled) for settled in settle(state)]
    return {"dealer": _dealer(state), "boxes": boxes, "totals": _totals(boxes)}


def void_document(state: Round) -> Document:
    """A round broken off where it stands: every stake made so far comes back whole."""
    return voided((_box_head(box), state.stakes(box)) for box in state.boxes)


def voided(boxes: Iterable[tuple[Document, Mapping[Any, int]]]) -> Document:
    """Boxes and totals of a void round, from each box's head and its stakes by name."""
    documents: list[Document] = []
    for head, stakes in boxes:
        bets = [
            {
                "name": name,
                "stake": stake,
                "returned": stake,
                "net": 0,
                "reason": f"{name.replace('_', ' ')} {stake} returns: the round is void",
            }
            for name, stake in stakes.items()
        ]
        staked = sum(stakes.values())
        documents.append({**head, "bets": bets, "staked": staked, "returned": staked, "net": 0})
    return {"boxes": documents, "totals": _totals(documents)}


def view_document(state: Round) -> Document:
    """What may be seen of a round now, and what the box in turn may do (A10)."""
    return {
        "phase": state.phase,
        "box": state.boxes[state.turn].stake.number if state.turn >= 0 else None,
        "legal": [legal_document(legal) for legal in state.legal_actions()],
        "boxes": [_box_view(state, place) for place in range(len(state.boxes))],
        "dealer": {
            "up_card": CODES[state.dealer[-1]],
            **({} if state.phase == "decisions" else _dealer(state)),
        },
    }


def hand_document(ruleset: Ruleset, cards: Sequence[int]) -> Document:
    """Five or six cards as the ruleset pays them: combinations, cores, kickers and odds (C2 to C5)."""
    hand = ruleset.hand(cards)
    main, second = main_and_second(cards)
    return {
        "cards": card_codes(cards),
        "main": hand.main,
        "main_core": card_codes(main.core) if main else [],
        "second": hand.second,
        "second_core": card_codes(second.core) if second and hand.second else [],
        "kickers": card_codes(kickers(cards, main)),
        "odds": hand.odds,
        "has_game": hand.strength >= GAME_FLOOR,
    }


def legal_document(legal: LegalAction) -> Document:
    """One legal action with its price and bounds."""
    document: Document = {"action": legal.name}
    if legal.price is not None:
        document["price"] = legal.price
    if legal.cards:
        document["min_cards"], document["max_cards"] = legal.cards
    if legal.amounts:
        document["min_amount"], document["max_amount"] = legal.amounts
    return document


def action_document(action: Action) -> Document:
    """One action as a request writes it."""
    document: Document = {"box": action.box, "action": action.name}
    if action.name == "exchange":
        document["discard"] = card_codes(action.discard)
    elif action.name == "insure":
        document["amount"] = action.amount
    return document


def limits_document(limits: Limits) -> Document:
    """The limits in force; one that is not set is left out."""
    return {name: value for name in _LIMITS if (value := getattr(limits, name)) is not None}


def _totals(boxes: Sequence[Document]) -> Document:
    return {name: sum([box[name] for box in boxes]) for name in ("staked", "returned", "net")}


_LIMITS: Final = ("min_stake", "max_stake", "max_payout")


def _dealer(state: Round) -> Document:
    shown = evaluate(state.dealer)
    final = evaluate(state.dealer_final) if state.draws else shown
    return {
        "dealt": card_codes(state.dealer),
        "kind": shown.main,
        "qualifies": shown.strength >= GAME_FLOOR,
        "draws": [{"discarded": CODES[draw.discarded], "drawn": CODES[draw.drawn]} for draw in state.draws],
        "final": card_codes(state.dealer_final),
        "final_kind": final.main,
        "final_qualifies": final.strength >= GAME_FLOOR,
    }


def _box_head(box: Box) -> Document:
    head: Document = {"box": box.stake.number, "blind": box.stake.blind}
    if box.stake.player is not None:
        head["player"] = box.stake.player
    return head


def _settled_box(settled: SettledBox) -> Document:
    box, hand, result, bets, staked, returned = settled
    return {
        **_box_head(box),
        "dealt": card_codes(box.dealt),
        "hand": card_codes(box.hand),
        "main": hand.main,
        "second": hand.second,
        "odds": hand.odds,
        "result": result,
        "bets": bets,
        "staked": staked,
        "returned": returned,
        "net": returned - staked,
    }


def _box_view(state: Round, place: int) -> Document:
    box = state.boxes[place]
    stakes = state.stakes(box)
    seen = state.seen_hand(box) if state.is_open(place) else ()
    hand = state.ruleset.hand(seen) if seen else None
    return {
        **_box_head(box),
        "dealt": card_codes(box.dealt) if seen else [],
        "hand": card_codes(seen),
        "hidden_cards": len(box.hand) - len(seen),
        "main": hand.main if hand else None,
        "second": hand.second if hand else None,
        "odds": hand.odds if hand else None,
        "choice": box.choice,
        "dealer_choice": box.dealer_choice,
        "stakes": stakes,
        "staked": sum(stakes.values()),
    }
