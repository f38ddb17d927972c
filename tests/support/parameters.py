"""The parameters that a ruleset file may have, as the loader knows them."""

from collections.abc import Iterator
from typing import Any, Final

from marshmallow import Schema, fields

from service.registry import _RULESET

_TEXTS: Final = {"id", "version", "title", "summary", "source", "decisions"}


def parameters(
    schema: Schema = _RULESET, path: str = "", needed: str = "yes"
) -> Iterator[tuple[str, fields.Field[Any], str]]:
    """Each row that a file may have: its key, the field of its value, and whether it is needed."""
    for name, field in schema.fields.items():
        if not path and name in _TEXTS:
            continue
        key = f"{path}.{name}".lstrip(".")
        inner = schema_of(field)
        if "basis" in inner.fields:
            yield key, inner.fields["value"], needed if field.required else "no"
        else:
            optional = not field.required and needed == "yes"
            yield from parameters(inner, key, "with its section" if optional else needed)


def schema_of(field: object) -> Schema:
    """The schema of a nested field."""
    assert isinstance(field, fields.Nested)
    schema = field.schema
    assert isinstance(schema, Schema)
    return schema
