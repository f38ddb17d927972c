"""Bodies that differ from a valid one in exactly one place."""

from collections.abc import Iterator
from functools import reduce
from typing import Any, Final, NamedTuple

from service.game.cards import CODES
from tests.contract.document import Schema, pointer_to, resolve, validator

Path = tuple[str | int, ...]
Place = tuple[Path, Any, Schema, bool]
"""Where a value stands, the value, its schema, and whether its neighbours depend on it."""

_ANY: Final[tuple[Any, ...]] = (None, True, False, 0, 1, -1, 0.5, "", "0", "x", [], {}, [0], [[]], {"a": 0})
_INTEGERS: Final = (2**31, 2**53, 2**63, 2**64, -(2**64), 10**30, 1e300, -0.0, 1e-7)
_NEW_MEMBERS: Final = (
    *("unknown", "", "__proto__", "a/b~c", "_schema", "n" * 100, "n" * 101, "\uffff", "\U00010000"),
    # Members that other objects have.
    *(
        "request",
        "ruleset",
        "deck",
        "nonce",
        "table",
        "box",
        "blind",
        "player",
        "action",
        "discard",
        "amount",
        "reason",
        "sealed_seed",
        "server_seed",
        "beacon",
        "outcome",
        "certificate",
    ),
)
_SHOWN: Final = (0, 25, 51)
"""Places of a deck that are mutated; the others are no different."""


class Mutant(NamedTuple):
    """A body, the JSON pointer of the one place that was changed, and whether faults may show beside it.

    They may where the place decides what is expected of its neighbours: the shape of an object, a card that
    has to be different from all others.
    """

    body: Any
    pointer: str
    entangled: bool

    def explains(self, pointer: str) -> bool:
        """Whether a fault at this pointer is about the changed place or its parent."""
        parent = self.pointer.rpartition("/")[0]
        within = f"{parent}/" if self.entangled else f"{self.pointer}/"
        return pointer in (self.pointer, parent) or pointer.startswith(within)


def mutants(body: Any, schema: Schema) -> Iterator[Mutant]:
    """Every mutant of a valid body; those that happen to equal it are left out."""
    for path, value, expected, entangled in _places(body, schema, (), False):
        for other in _others(value, expected):
            if type(other) is not type(value) or other != value:
                yield Mutant(_replaced(body, path, other), _pointer(path), entangled)
        if isinstance(value, dict):
            yield from _changed_members(body, path, value, expected)


def _places(value: Any, schema: Schema, path: Path, entangled: bool) -> Iterator[Place]:
    schema = resolve(schema)
    yield path, value, schema, entangled
    one_of = "oneOf" in schema
    schema = _shape(value, schema)
    if isinstance(value, dict):
        for name, inner in value.items():
            expected = schema.get("properties", {}).get(name, schema.get("additionalProperties", {}))
            yield from _places(inner, expected, (*path, name), one_of)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            if len(value) != len(CODES) or index in _SHOWN:
                yield from _places(inner, schema.get("items", {}), (*path, index), "uniqueItems" in schema)


def _shape(value: Any, schema: Schema) -> Schema:
    """The shape that a value has, where a schema offers several."""
    for one in schema.get("oneOf", ()):
        if validator(one).is_valid(value):
            shape: Schema = resolve(one)
            return shape
    if "if" in schema:
        return {**schema, **schema["then" if validator(schema["if"]).is_valid(value) else "else"]}
    return schema


def _others(value: Any, schema: Schema) -> Iterator[Any]:
    """What could stand in the place of a value."""
    yield from _ANY
    yield [value]
    yield {"a": value}
    yield str(value)
    match value:
        case bool():
            yield int(value)
        case int():
            yield from _other_integers(value, schema)
        case str():
            yield from _other_texts(value, schema)
        case list():
            yield from _other_lists(value, schema)


def _other_integers(value: int, schema: Schema) -> Iterator[Any]:
    yield from _INTEGERS
    yield from (float(value), value + 0.5, -value, value + 1)
    for bound in (schema.get("minimum"), schema.get("maximum")):
        if bound is not None:
            yield from (bound - 1, bound, bound + 1, float(bound), bound + 0.5 if abs(bound) < 2**52 else 0.5)


def _other_texts(value: str, schema: Schema) -> Iterator[str]:
    yield from (f"{value}\n", f"\n{value}", f" {value}", f"{value} ", f"{value}\0", f"0x{value}", f"{value}x")
    yield from (value.upper(), value.lower(), value.swapcase(), value[:-1], value[1:], value[::-1], value * 2)
    # A digit, a letter and a K that are none, as far as ASCII goes.
    yield from (value[:-1] + odd for odd in ("\u0663", "\uff21", "\u212a", "\n", "g", "\U0001f0a1"))
    yield from (value.replace("s", "\u017f"), value.replace("T", "10"))
    for bound in (schema.get("minLength", 0), schema.get("maxLength", 0)):
        letters = ("x", "0", "\u00e9", "\U0001d7d9") if bound < 10_000 else ("x", "0")
        for size in (bound - 1, bound, bound + 1):
            yield from (letter * size for letter in letters if size >= 0)


def _other_lists(value: list[Any], schema: Schema) -> Iterator[list[Any]]:
    yield from (value[:-1], value[1:], value[::-1], value + value[:1], value + value[-1:], value * 2)
    odd: tuple[Any, ...] = (None, 0, "", {}, [])
    yield from ([*value, one] for one in odd)
    for bound in (schema.get("minItems", 0), schema.get("maxItems", 0)):
        for size in (bound - 1, bound, bound + 1):
            if size >= 0:
                yield (value * (size + 1))[:size]
                yield [*CODES, "2c"][:size]


def _changed_members(body: Any, path: Path, value: dict[str, Any], schema: Schema) -> Iterator[Mutant]:
    """An object with one member less, one more, or one by another name."""
    entangled = "oneOf" in schema
    for name in value:
        rest = {other: inner for other, inner in value.items() if other != name}
        yield Mutant(_replaced(body, path, rest), _pointer((*path, name)), entangled)
        for other in (name.upper(), f"{name} ", f"{name}\n", f"{name}s"):
            renamed = {(other if one == name else one): inner for one, inner in value.items()}
            yield Mutant(_replaced(body, path, renamed), _pointer((*path, other)), True)
    for name in _NEW_MEMBERS:
        if name not in value:
            values: tuple[Any, ...] = (1, [])
            for inner in values:
                more = {**value, name: inner}
                yield Mutant(_replaced(body, path, more), _pointer((*path, name)), entangled)


def _replaced(body: Any, path: Path, value: Any) -> Any:
    """The body with another value in one place; what lies beside the path is shared with the original."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    copy = body.copy()
    copy[step] = _replaced(body[step], rest, value)
    return copy


def _pointer(path: Path) -> str:
    return reduce(pointer_to, map(str, path), "")
