"""From a request to its answer: ruleset, deck, replay, settlement or view. The one way through the house."""

import re
from itertools import islice
from typing import Final, NamedTuple

from service.certificate.canonical import digest
from service.certificate.differences import Difference, differences
from service.fairness import SHUFFLE
from service.fairness.deal import DeckDeal, SeedDeal
from service.fairness.sealing import SealedDeal, Sealer
from service.game import ENGINE_VERSION
from service.game.documents import (
    Document,
    action_document,
    limits_document,
    settled_document,
    view_document,
    void_document,
    voided,
)
from service.game.round import Action, Round, replay
from service.game.ruleset import Ruleset
from service.game.stakes import BoxStake, Table
from service.integrity import ENGINE_DIGEST
from service.registry import PublishedRuleset, Registry

ENGINE: Final = {"version": ENGINE_VERSION, "digest": ENGINE_DIGEST, "shuffle": SHUFFLE}
"""Which engine made an outcome."""


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


def unsealed(request: RoundRequest, sealer: Sealer) -> RoundRequest:
    """The request with its server seed in the clear, should it have come sealed. Raises ``RefusedSeal``."""
    deal: object = request.deal
    return request._replace(deal=deal.open(sealer)) if isinstance(deal, SealedDeal) else request


def replay_request(request: RoundRequest, registry: Registry) -> Round:
    """The state that the request's actions lead to.

    Raises ``UnknownRuleset``, ``CommitmentMismatch``, ``IllegalBoxes``, ``OutsideLimits``, ``IllegalAction``.
    """
    ruleset = find_ruleset(registry, request.ruleset).ruleset
    return replay(ruleset, request.boxes, request.deal.deck(), request.actions, request.table)


def settle_request(request: RoundRequest, registry: Registry) -> Document:
    """The outcome of a complete round. Raises what ``replay_request`` raises and ``UnfinishedRound``."""
    state = replay_request(request, registry)
    deal = request.deal.revealed(state.deck, state.cards_used)
    return _outcome("settled", request, state, deal, settled_document(state))


def void_request(request: RoundRequest, reason: str, registry: Registry) -> Document:
    """The outcome of a round that is broken off: all stakes returned, no card shown.

    Raises what ``replay_request`` raises; the round may stand anywhere, its end included.
    """
    state = replay_request(request, registry)
    return _outcome("void", request, state, request.deal.document(), void_document(state), reason=reason)


def view_request(request: RoundRequest, registry: Registry) -> Document:
    """What may be seen after the actions so far, and what is legal next (A10)."""
    return view_document(replay_request(request, registry))


def _outcome(
    status: str, request: RoundRequest, state: Round, deal: Document, result: Document, **members: str
) -> Document:
    outcome: Document = {
        "status": status,
        **members,
        "ruleset": ruleset_identity(state.ruleset),
        "engine": ENGINE,
        "deal": deal,
        "table": limits_document(state.limits),
        "actions": [action_document(action) for action in request.actions],
        **result,
    }
    if request.context is not None:
        outcome["context"] = request.context
    request_digest = digest(canonical_request(outcome, request.deal.secret()))
    return {
        "outcome_id": request_digest.removeprefix("sha256:")[:32],
        "request_digest": request_digest,
        **outcome,
    }


def canonical_request(outcome: Document, secret: Document) -> Document:
    """The request behind an outcome with every default spelled out; equal rounds have equal ones.

    ``secret`` is the member of ``deal`` from which the deck follows: ``server_seed`` in hex, or ``deck``.
    How much an outcome reveals is no part of the round, so ``reveal`` and ``commitment`` are left out.
    """
    deal = {
        name: outcome["deal"][name] for name in ("client_seed", "nonce", "beacon") if name in outcome["deal"]
    }
    request: Document = {
        "ruleset": outcome["ruleset"]["id"],
        "deal": {**secret, **deal},
        "table": outcome["table"],
        "boxes": [
            {**_head(box), "ante": stakes["ante"], "bonus": stakes.get("bonus", 0)}
            for box in outcome["boxes"]
            for stakes in (_stakes(box),)
        ],
        "actions": outcome["actions"],
    }
    if outcome["status"] == "void":
        request["reason"] = outcome["reason"]
    return {**request, "context": outcome["context"]} if "context" in outcome else request


def restated_void(outcome: Document, registry: Registry) -> Document:
    """What a void outcome must look like, going by the ruleset that it names and the stakes that it returns.

    Raises ``UnknownRuleset``.
    """
    ruleset = find_ruleset(registry, outcome["ruleset"]["id"]).ruleset
    own = ("outcome_id", "request_digest", "status", "reason", "deal", "table", "actions")
    context = {"context": outcome["context"]} if "context" in outcome else {}
    return {
        **{name: outcome[name] for name in own},
        "ruleset": ruleset_identity(ruleset),
        "engine": ENGINE,
        **voided((_head(box), _stakes(box)) for box in outcome["boxes"]),
        **context,
    }


def _head(box: Document) -> Document:
    return {name: box[name] for name in ("box", "blind", "player") if name in box}


def _stakes(box: Document) -> dict[str, int]:
    return {bet["name"]: bet["stake"] for bet in box["bets"]}


def ruleset_identity(ruleset: Ruleset) -> Document:
    """How an outcome names its ruleset."""
    return {"id": ruleset.id, "version": ruleset.version, "digest": ruleset.digest}


class Check(NamedTuple):
    """One part of a verdict. ``code`` says in one word why it failed, None where it passed."""

    name: str
    code: str | None
    detail: str


def compare_outcome(claimed: Document, computed: Document) -> tuple[list[Check], list[Difference]]:
    """A check for each part of an outcome that somebody claims, and every difference.

    An engine of the same version but of other files counts as the same: the version changes with any result.
    Beyond ``_MAX_COMPARED`` differences the comparison ends and no check passes any more.
    """
    found: dict[str, list[Difference]] = {part: [] for part, *_ in _PARTS}
    first = list(islice(differences(claimed, computed), _MAX_COMPARED))
    for difference in first:
        part = next(part for part, prefix, *_ in _PARTS if f"{difference.pointer}/".startswith(f"{prefix}/"))
        found[part].append(difference)
    if all(map(_is_other_build, found["engine"])):
        found["engine"] = []
    complete = len(first) < _MAX_COMPARED
    checks = [
        Check(part, None, right) if complete and not found[part] else Check(part, code, wrong)
        for part, _, code, right, wrong in _PARTS
    ]
    return checks, [difference for part in found.values() for difference in part]


def _is_other_build(difference: Difference) -> bool:
    return difference.pointer == "/engine/digest" and names_a_build(difference.claimed)


def names_a_build(digest: object) -> bool:
    """Whether an engine's digest reads like one, of whatever files."""
    return bool(_DIGEST.fullmatch(str(digest)))


_DIGEST: Final = re.compile(r"sha256:[0-9a-f]{64}")
_MAX_COMPARED: Final = 500
_PARTS: Final = (
    (
        "ruleset",
        "/ruleset",
        "other-ruleset",
        "the ruleset is the published one",
        "the outcome names another ruleset, or another content of it, than is published here",
    ),
    (
        "engine",
        "/engine",
        "other-engine",
        f"the outcome was made by engine {ENGINE_VERSION}, as this recomputation",
        f"the outcome was made by another engine than {ENGINE_VERSION}; recompute it with that version",
    ),
    (
        "deal",
        "/deal",
        "other-deal",
        "seeds, commitment and deck are as computed",
        "the seeds, the commitment or the deck are not those that were computed",
    ),
    (
        "settlement",
        "",
        "other-settlement",
        "cards, evaluations and stakes are as computed",
        "cards, evaluations or stakes are not those that were computed",
    ),
)
