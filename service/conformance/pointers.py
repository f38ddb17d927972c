"""Places in JSON documents: pointers (RFC 6901), and patterns that stand for many of them."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any


def resolve(document: Any, pointer: str) -> Any:
    """The part of a document at a pointer. Raises ``LookupError``, ``ValueError``, ``TypeError``."""
    for step in _steps(pointer):
        document = document[int(step)] if isinstance(document, list) else document[step]
    return document


def replaced(document: Any, pointer: str, value: Any) -> Any:
    """A document with another value at a pointer; what lies beside the way there is shared.

    An object may gain a member this way, an array no item. Raises what ``resolve`` raises.
    """
    steps = _steps(pointer)
    return _replaced(document, steps, value) if steps else value


def _replaced(document: Any, steps: list[str], value: Any) -> Any:
    first, rest = steps[0], steps[1:]
    place: Any = int(first) if isinstance(document, list) else first
    copy = document.copy()
    copy[place] = _replaced(document[place], rest, value) if rest else value
    return copy


def _steps(pointer: str) -> list[str]:
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


@cache
def matcher(pattern: str) -> Callable[[str], object]:
    """Tells whether a pointer fits: a step ``*`` is any one step, ``**`` at the end is any one or more."""
    steps = [_STEPS.get(step, re.escape(step)) for step in pattern.split("/")[1:]]
    return re.compile("".join(f"/{step}" for step in steps)).fullmatch


_STEPS = {"*": "[^/]*", "**": ".*"}
