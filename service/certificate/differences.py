"""Where two documents differ, place by place."""

from collections.abc import Iterator
from typing import Any, NamedTuple


class Absent:
    """Stands for a value that one of the two documents does not have."""

    def __reduce__(self) -> str:
        return "ABSENT"  # there is one, in every process


ABSENT = Absent()


class Difference(NamedTuple):
    """One place: its JSON pointer (RFC 6901), what was claimed and what was computed, or ``ABSENT``."""

    pointer: str
    claimed: Any
    computed: Any


def differences(claimed: Any, computed: Any, pointer: str = "") -> Iterator[Difference]:
    """Every difference between two JSON documents, in the order of the computed one.

    Numbers are equal by value, so 5 and 5.0 are; true is never 1. Objects are compared member by member
    and arrays place by place, so that the pointer leads to the smallest part that differs.
    """
    if isinstance(claimed, dict) and isinstance(computed, dict):
        for name in [*computed, *(name for name in claimed if name not in computed)]:
            yield from differences(
                claimed.get(name, ABSENT), computed.get(name, ABSENT), f"{pointer}/{escape(name)}"
            )
    elif isinstance(claimed, list) and isinstance(computed, list):
        for place in range(max(len(claimed), len(computed))):
            yield from differences(
                claimed[place] if place < len(claimed) else ABSENT,
                computed[place] if place < len(computed) else ABSENT,
                f"{pointer}/{place}",
            )
    elif isinstance(claimed, bool) != isinstance(computed, bool) or claimed != computed:
        yield Difference(pointer, claimed, computed)


def escape(name: str) -> str:
    """A member's name as one step of a JSON pointer."""
    return name.replace("~", "~0").replace("/", "~1")
