"""From a request to its answer: ruleset, deck, replay, settlement or view. The one way through the house."""

from typing import Final, NamedTuple

from service.certificate.differences import ABSENT, differences
from service.fairness import SHUFFLE
from service.fairness.deal import DeckDeal, SeedDeal
from service.game.documents import Document, outcome_document, view_document
from service.game.round import Action, Round, replay
from service.game.stakes import BoxStake, Table
from service.registry import PublishedRuleset, Registry


class UnknownRuleset(LookupError):
    """An id that no ruleset has."""

    def __init__(self, id: str, registry: Registry) -> None:
        super().__init__(f"there is no ruleset {id!r}; known are {', '.join(registry)}")


class RoundRequest(NamedTuple):
    """One round as a caller asks for it."""

    ruleset: str
    deal: SeedDeal | DeckDeal
    boxes: tuple[BoxStake, ...]
    actions: tuple[Action, ...]
    table: Table = Table()
    context: Document | None = None


def find_ruleset(registry: Registry, id: str) -> PublishedRuleset:
    """The ruleset with this id. Raises ``UnknownRuleset``."""
    if id not in registry:
        raise UnknownRuleset(id, registry)
    return registry[id]


def replay_request(request: RoundRequest, registry: Registry) -> Round:
    """The state that the request's actions lead to.

    Raises ``UnknownRuleset``, ``CommitmentMismatch``, ``IllegalBoxes``, ``OutsideLimits``, ``IllegalAction``.
    """
    ruleset = find_ruleset(registry, request.ruleset).ruleset
    return replay(ruleset, request.boxes, request.deal.deck(), request.actions, request.table)


def settle_request(request: RoundRequest, registry: Registry) -> Document:
    """The outcome of a complete round. Raises what ``replay_request`` raises and ``UnfinishedRound``."""
    state = replay_request(request, registry)
    deal = request.deal.document(state.deck, state.cards_used)
    return outcome_document(state, request.actions, deal, SHUFFLE, request.context)


def view_request(request: RoundRequest, registry: Registry) -> Document:
    """What may be seen after the actions so far, and what is legal next (A10)."""
    return view_document(replay_request(request, registry))


MAX_DIFFERENCES: Final = 20
"""Most differences that a verdict lists."""
_CHECKS: Final = (
    ("ruleset", "/ruleset", "the ruleset and its digest"),
    ("engine", "/engine", "the engine and the shuffle"),
    ("deal", "/deal", "the seeds, the commitment and the deck"),
    ("settlement", "", "the cards, the evaluations and every stake"),
)


def verify_request(request: RoundRequest, claimed: Document, registry: Registry) -> Document:
    """Recompute a round and compare an outcome that somebody claims for it.

    The verdict has one check for each part of an outcome and the first differences by JSON pointer. Raises
    what ``settle_request`` raises.
    """
    found: dict[str, list[Document]] = {name: [] for name, _, _ in _CHECKS}
    for difference in differences(claimed, settle_request(request, registry)):
        part = next(name for name, prefix, _ in _CHECKS if f"{difference.pointer}/".startswith(f"{prefix}/"))
        found[part].append(
            {name: value for name, value in difference._asdict().items() if value is not ABSENT}
        )
    return {
        "valid": not any(found.values()),
        "checks": [
            {
                "name": name,
                "passed": not found[name],
                "detail": f"{what} {'differ' if found[name] else 'are as computed'}",
            }
            for name, _, what in _CHECKS
        ],
        "differences": [difference for part in found.values() for difference in part][:MAX_DIFFERENCES],
    }
