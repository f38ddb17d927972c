"""How many values two schemas allow: types, bounds, patterns, and all else that is said of single values."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tests.contract.document import Schema


def _below(mine: Any, bound: Any) -> bool:
    return mine is None or bool(mine < bound)


def _shorter(mine: Any, bound: Any) -> bool:
    return bool((mine or 0) < bound)  # nothing is shorter than empty


def _above(mine: Any, bound: Any) -> bool:
    return mine is None or bool(mine > bound)


def _another(mine: Any, bound: Any) -> bool:
    return mine is None or bool(mine != bound)  # whether one pattern includes another nobody can tell


EXCEEDS: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum"), _below),
    **dict.fromkeys(("minLength", "minItems", "minProperties"), _shorter),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), _above),
    **dict.fromkeys(("pattern", "format", "contentEncoding", "contentMediaType"), _another),
    "uniqueItems": lambda mine, bound: bound and not mine,
    "multipleOf": lambda mine, bound: mine is None or mine % bound != 0,
}
"""For each keyword whether its value, or none, allows more than another value does."""

_TYPES: Final = ("null", "boolean", "number", "string", "array", "object")


def excesses(small: Schema, large: Schema) -> Iterator[str]:
    """The keywords by which a schema allows what another one does not, which should allow all of it."""
    if _types(small) - _types(large):
        yield "type"
    for keyword, exceeds in EXCEEDS.items():
        if keyword in large and exceeds(small.get(keyword), large[keyword]):
            yield keyword


def _types(schema: Schema) -> set[str]:
    types = schema.get("type", _TYPES)
    found = {types} if isinstance(types, str) else set(types)
    return found | {"integer"} if "number" in found else found
