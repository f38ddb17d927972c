"""What the code says of its request bodies and ruleset files, as schemas to hold against the contract's."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import marshmallow
from marshmallow import fields

from service.certificate.canonical import MAX_INTEGER
from service.fields import Cards, Choice, Flag, Text, Whole
from service.game.cards import RANKS, SUITS
from service.schemas import AnyObject, BeaconValue, Context, Hex256, Items, OneOf, Printable, Record
from tests.contract.document import Schema, resolve

CARD: Final[Schema] = {
    "type": "string",
    "pattern": f"^[{RANKS}][{SUITS}]$",
    "minLength": 2,
    "maxLength": 2,
}
HEX_256: Final[Schema] = {
    "type": "string",
    "pattern": "^[0-9A-Fa-f]{64}$",
    "minLength": 64,
    "maxLength": 64,
}
BEACON_VALUE: Final[Schema] = {
    "type": "string",
    "pattern": "^[0-9A-Fa-f]{32,128}$",
    "minLength": 32,
    "maxLength": 128,
}
PRINTABLE: Final[Schema] = {"pattern": "^[ -~]+$"}
CONTEXT_VALUE: Final[Schema] = {
    "multipleOf": 1,
    "minimum": -MAX_INTEGER,
    "maximum": MAX_INTEGER,
    "if": {"type": "array", "items": {}},
    "then": {"items": "itself"},
    "else": {"additionalProperties": "itself"},
}
CONTEXT: Final[Schema] = {"type": "object", "additionalProperties": CONTEXT_VALUE}


# The contract's schemas without their words.


def stated(schema: Any, within: str = "") -> Any:
    """A schema of the contract: references followed, lists without an order sorted, words left out.

    ``within`` is the component that is being followed; where it names itself, ``itself`` stands for it.
    """
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref", within)
    if "$ref" in schema and reference == within:
        return "itself"
    plain = {}
    for name, value in resolve(schema).items():
        if name not in _WORDS:
            plain[name] = _STATED.get(name, _as_it_is)(value, reference)
    if plain.get("minItems") == 0:
        del plain["minItems"]
    return plain


def _as_it_is(value: Any, within: str) -> Any:
    return value


def _without_order(value: Any, within: str) -> Any:
    return sorted(value, key=str) if isinstance(value, list) else value


def _by_name(value: Mapping[str, Any], within: str) -> Schema:
    return {name: stated(inner, within) for name, inner in value.items()}


def _several(value: Iterable[Any], within: str) -> list[Schema]:
    return _unordered(stated(one, within) for one in value)


_WORDS: Final = {"description", "default", "x-open"}
_STATED: Final[Mapping[str, Callable[[Any, str], Any]]] = {
    "required": _without_order,
    "type": _without_order,
    "enum": _without_order,
    "items": stated,
    "additionalProperties": stated,
    "propertyNames": stated,
    "if": stated,
    "then": stated,
    "else": stated,
    "properties": _by_name,
    "oneOf": _several,
}


# The same of the code's fields.


def demanded(field: Any) -> Schema:
    """What a field demands. Raises ``TypeError`` for a kind of field that is new here."""
    for kind, schema in _DEMANDED.items():
        if isinstance(field, kind):
            return schema(field)
    raise TypeError(f"{type(field)} is new: say what it demands")


def demanded_file(file: marshmallow.Schema) -> Schema:
    """What a whole ruleset file demands; unknown members are refused, and null stands for nothing."""
    assert file.unknown == "raise"
    nullable = [name for name, field in file.fields.items() if field.allow_none]
    assert not nullable, f"null is taken for {', '.join(nullable)}, of which the contract says nothing"
    return _object(file.fields)


def demanded_bodies(bodies: Iterable[Record]) -> Schema:
    """What a request demands whose body has one of several shapes; with a single one, what that demands."""
    schemas = _unordered(map(demanded, bodies))
    return schemas[0] if len(schemas) == 1 else {"oneOf": schemas}


def _object(members: Mapping[str, Any]) -> Schema:
    schema: Schema = {"type": "object", "additionalProperties": False}
    if members:
        schema["properties"] = {name: demanded(field) for name, field in members.items()}
    if required := sorted(name for name, field in members.items() if field.required):
        schema["required"] = required
    return schema


def _text(field: Text) -> Schema:
    bounds = {"minLength": field.minimum or None, "maxLength": field.maximum}
    return {"type": "string", **{name: bound for name, bound in bounds.items() if bound is not None}}


def _whole(field: Whole) -> Schema:
    wide = {"format": "int64"} if field.maximum >= 2**31 else {}
    return {"type": "integer", **wide, "minimum": field.minimum, "maximum": field.maximum}


def _choice(field: Choice) -> Schema:
    kind = "integer" if all(isinstance(value, int) for value in field.values) else "string"
    return {"type": kind, "enum": sorted(field.values, key=str)}


def _one_of(field: OneOf) -> Schema:
    shapes = {id(shape): shape for shape in field.shapes.values()}
    return {"oneOf": _unordered(demanded(shape) for shape in shapes.values())}


def _array(items: Schema, minimum: int, maximum: int) -> Schema:
    schema: Schema = {"type": "array", "maxItems": maximum, "items": items}
    return schema | ({"minItems": minimum} if minimum else {})


def _unordered(schemas: Iterable[Schema]) -> list[Schema]:
    return sorted(schemas, key=lambda schema: json.dumps(schema, sort_keys=True))


_DEMANDED: Final[Mapping[type, Callable[[Any], Schema]]] = {
    Hex256: lambda field: HEX_256,
    BeaconValue: lambda field: BEACON_VALUE,
    Printable: lambda field: _text(field) | PRINTABLE,
    Text: _text,
    Whole: _whole,
    Flag: lambda field: {"type": "boolean"},
    Choice: _choice,
    Cards: lambda field: _array(CARD, field.minimum, field.maximum) | {"uniqueItems": True},
    Record: lambda field: _object(field.members),
    OneOf: _one_of,
    Items: lambda field: _array(demanded(field.item), field.minimum, field.maximum),
    Context: lambda field: CONTEXT,
    AnyObject: lambda field: {"type": "object"},
    fields.Nested: lambda field: demanded_file(field.schema),
    fields.List: lambda field: {"type": "array", "items": demanded(field.inner)},
}
