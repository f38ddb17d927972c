"""The rulesets that this process knows: TOML files read once, checked strictly, found by id.

The files beside this module are always loaded; those in the folder that ``RULESETS_DIR`` names come on top.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from marshmallow import Schema, ValidationError, fields, validates_schema

from service.certificate.canonical import digest
from service.fields import Choice, Flag, Text, Value, Whole, wrong
from service.game.hands import KINDS
from service.game.ruleset import (
    MAX_AMOUNT,
    MAX_BOXES,
    Bonus,
    GamePurchase,
    Insurance,
    Limits,
    MalformedRuleset,
    Ruleset,
)

BUILT_IN: Final = Path(__file__).parent / "rulesets"


class PublishedRuleset(NamedTuple):
    """A ruleset for the engine together with the document that is published: tables, decisions, texts."""

    ruleset: Ruleset
    document: Mapping[str, Any]


Registry = Mapping[str, PublishedRuleset]


def configured_rulesets() -> Registry:
    """All rulesets of this deployment, as ``load_rulesets`` reads them from ``RULESETS_DIR``."""
    folder = os.environ.get("RULESETS_DIR")
    return load_rulesets(Path(folder) if folder else None)


def load_rulesets(extra: Path | None = None) -> Registry:
    """All rulesets by id: the built-in ones and those in the folder ``extra``.

    Raises ``MalformedRuleset`` naming file and key for whatever is wrong in a file, and for an id that two
    files claim.
    """
    registry: dict[str, PublishedRuleset] = {}
    for path in _files(extra):
        published = load_ruleset(path)
        if published.ruleset.id in registry:
            raise MalformedRuleset(f"{path}: id: {published.ruleset.id} is already published by another file")
        registry[published.ruleset.id] = published
    return registry


def _files(extra: Path | None) -> Iterator[Path]:
    yield from sorted(BUILT_IN.glob("*.toml"))
    if extra is not None:
        if not extra.is_dir():
            raise MalformedRuleset(f"RULESETS_DIR: {extra} is not a folder")
        yield from sorted(extra.glob("*.toml"))


def load_ruleset(path: Path) -> PublishedRuleset:
    """Read one TOML file. Raises ``MalformedRuleset`` naming the file and every key that is wrong."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        _RULESET.load(document)
        if document["id"] != path.stem:
            raise MalformedRuleset(f"id: must be the file's name, {path.stem}; got {document['id']}")
        content_digest = digest(document)
        ruleset = _build(document, content_digest)
    except ValidationError as error:
        raise MalformedRuleset("\n".join(f"{path}: {line}" for line in _lines(error.messages))) from None
    except (OSError, ValueError, RecursionError) as error:
        raise MalformedRuleset(f"{path}: {error}") from None
    return PublishedRuleset(ruleset, {**document, "digest": content_digest})


def _lines(messages: Any, key: str = "") -> Iterator[str]:
    """``key.key: message`` for each of marshmallow's nested messages."""
    if isinstance(messages, dict):
        for name, inner in messages.items():
            yield from _lines(inner, key if name == "_schema" else f"{key}.{name}".lstrip("."))
    else:
        for message in messages:
            yield f"{key}: {message}"


def _build(document: Mapping[str, Any], content_digest: str) -> Ruleset:
    values = _values(document)
    bet, purchase, bonus = values["bet"], values["purchase"], values.get("bonus")
    exchange = purchase["exchange_min"], purchase["exchange_max"]
    return Ruleset(
        id=document["id"],
        version=document["version"],
        digest=content_digest,
        max_boxes=values["boxes"]["maximum"],
        open_boxes=values["boxes"]["open"],
        deal_order=values["deal"]["order"],
        exchange=exchange if exchange != (0, 0) else None,
        sixth_card=purchase["sixth_card"],
        blind_sixth=purchase["blind_sixth"],
        combinations=bet["combinations"],
        ante_on_win=bet["ante_on_win"],
        bet_odds=bet["odds"],
        own_rows={_PAIRS[row]: odds for row, odds in bet.get("own_rows", {}).items()},
        bonus=Bonus(**bonus) if bonus else None,
        insurance=Insurance(**values["insurance"]) if "insurance" in values else None,
        game_purchase=GamePurchase(**values["game_purchase"]) if "game_purchase" in values else None,
        limits=Limits(**values["limits"]),
    )


def _values(document: Any) -> Any:
    """The document with each row replaced by its value."""
    if not isinstance(document, dict):
        return document
    if "basis" in document:
        return document["value"]
    return {name: _values(inner) for name, inner in document.items()}


# The shape of a ruleset file. Every parameter is a row: its value, and whether the house's text prints it
# or a decision of the rule book's section 8, stated in the same file, assumes it.

_PAIRS: Final = {
    f"{main}+{second}": (main, second) for place, main in enumerate(KINDS) for second in KINDS[1 : place + 1]
}
_ID: Final = re.compile(r"[a-z][a-z0-9-]{0,47}-(?P<version>[1-9][0-9]{0,5})")


class _Row(Schema):
    basis = Choice(("printed", "assumed"), required=True)
    decision = Text(1, 16)

    @validates_schema(skip_on_field_errors=True)
    def _decision_goes_with_assumed(self, row: dict[str, Any], **_: Any) -> None:
        if ("decision" in row) != (row["basis"] == "assumed"):
            raise wrong("decision", "an assumed row names the decision behind it, a printed one does not")


def _row(value: Value, *, required: bool = True) -> fields.Nested:
    value.required = True
    return fields.Nested(_Row.from_dict({"value": value}), required=required)


def _section(rows: Mapping[str, Any], *, required: bool = True) -> fields.Nested:
    return fields.Nested(Schema.from_dict(dict(rows)), required=required)


def _odds(kinds: tuple[str, ...] = KINDS[1:], *, required: bool) -> dict[str, fields.Nested]:
    return {kind: _row(Whole(1, 10_000), required=required) for kind in kinds}


def _texts(maximum: int) -> fields.Nested:
    return _section({language: Text(1, maximum, required=True) for language in ("en", "ru")})


class _RulesetFile(Schema):
    id = Text(3, 64, required=True)
    version = Whole(1, 999_999, required=True)
    title = _texts(200)
    summary = _texts(20_000)
    source = _texts(2_000)
    boxes = _section(
        {"maximum": _row(Whole(1, MAX_BOXES)), "open": _row(Choice(("all", "one", "one_per_player")))}
    )
    deal = _section({"order": _row(Choice(("one_by_one", "five_at_a_time")))})
    purchase = _section(
        {
            "exchange_min": _row(Whole(0, 5)),
            "exchange_max": _row(Whole(0, 5)),
            "sixth_card": _row(Flag()),
            "blind_sixth": _row(Flag()),
        }
    )
    bet = _section(
        {
            "combinations": _row(Choice((1, 2))),
            "ante_on_win": _row(Choice(("returned", "paid"))),
            "odds": _section(_odds(required=True)),
            "own_rows": _section(_odds(tuple(_PAIRS), required=False), required=False),
        }
    )
    bonus = _section(
        {
            "dealt": _section(_odds(required=False)),
            "with_sixth": _section(_odds(required=False), required=False),
        },
        required=False,
    )
    insurance = _section(
        {
            "threshold": _row(Choice(KINDS[1:])),
            "minimum": _row(Choice(("min_stake", "ante"))),
            "maximum": _row(Choice(("win", "half_win"))),
            "on_tie": _row(Choice(("lose", "return"))),
        },
        required=False,
    )
    game_purchase = _section(
        {
            "price": _row(Choice(("one_more_ante", "the_ante"))),
            "dealer_discards": _row(Choice(("highest", "lowest"))),
            "redraw_same_rank": _row(Flag()),
            "failed_ante": _row(Choice(("paid", "returned", "lost"))),
        },
        required=False,
    )
    limits = _section(
        {
            "min_stake": _row(Whole(1, MAX_AMOUNT)),
            "max_stake": _row(Whole(1, MAX_AMOUNT), required=False),
            "max_payout": _row(Whole(1, MAX_AMOUNT), required=False),
        }
    )
    decisions = fields.List(
        _section(
            {
                "id": Text(1, 16, required=True),
                **{lang: Text(1, 4_000, required=True) for lang in ("en", "ru")},
            }
        ),
        required=True,
    )

    @validates_schema(skip_on_field_errors=True)
    def _parts_agree(self, document: dict[str, Any], **_: Any) -> None:
        id, version = document["id"], document["version"]
        match = _ID.fullmatch(id)
        if not match:
            raise ValidationError("a name in lower case, a hyphen and the version, such as casino-1", "id")
        if int(match["version"]) != version:
            raise ValidationError(f"the id {id} ends in another version than {version}", "version")
        stated = [decision["id"] for decision in document["decisions"]]
        if len(set(stated)) != len(stated):
            raise ValidationError("a decision is stated twice", "decisions")
        if missing := sorted(set(_decisions_named(document)) - set(stated)):
            raise ValidationError(f"rows name {', '.join(missing)}, which is not stated here", "decisions")


_RULESET: Final = _RulesetFile()


def _decisions_named(document: Any) -> Iterator[str]:
    if isinstance(document, dict):
        if "basis" in document and "decision" in document:
            yield document["decision"]
        for inner in document.values():
            yield from _decisions_named(inner)
