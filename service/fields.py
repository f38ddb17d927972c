"""The kinds of value that requests and ruleset files consist of, as marshmallow fields.

Each refusal is a ``Wrong``: a code for programs and a sentence that tells people what to do. The bounds
stand as attributes, so that a test can hold them against the contract.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from typing import Any, Final

from marshmallow import ValidationError, fields

from service.certificate.differences import escape
from service.game.cards import MalformedCard, parse_cards


@dataclass(frozen=True, slots=True)
class Wrong:
    """What is wrong with one value: a code from a fixed list and a sentence with the likely cure.

    A sentence that takes long to find is a function: of thousands of faults few are told.
    """

    code: str
    sentence: str | Callable[[], str]

    @property
    def detail(self) -> str:
        """The sentence."""
        return self.sentence if isinstance(self.sentence, str) else self.sentence()

    def __str__(self) -> str:
        return self.detail


REQUIRED: Final = Wrong("required", "is required")
NULL: Final = Wrong("type", "must not be null; leave it out")


def wrong(code: str, sentence: str | Callable[[], str]) -> ValidationError:
    """The error that marshmallow collects under the name of the value."""
    return ValidationError([Wrong(code, sentence)])


def unknown_member(name: str, known: Sequence[str]) -> Wrong:
    """The refusal of a member that nothing reads."""
    return Wrong("unknown-member", partial(_unknown, name, known))


def _unknown(name: str, known: Sequence[str]) -> str:
    likely = _likely(name, known)
    cure = f"did you mean {likely}?" if likely else f"known here: {', '.join(known)}"
    return f"{name[:_LONG]!r} is not known; {cure}"


def _likely(word: str, known: Sequence[str]) -> str | None:
    """The known word that is most like another; a long one is like none."""
    return next(iter(get_close_matches(word[:_LONG], known, n=1)), None)


_LONG: Final = 100


def located(messages: Any, pointer: str = "") -> Iterator[dict[str, str]]:
    """Marshmallow's nested messages, each as one error with its JSON pointer."""
    if isinstance(messages, dict):
        for name, inner in messages.items():
            yield from located(inner, f"{pointer}/{escape(str(name))}")
    else:
        for fault in messages:
            yield error_at(pointer, fault.code, fault.detail)


def error_at(pointer: str, code: str, detail: str) -> dict[str, str]:
    """What is wrong at one place of a document, as callers read it."""
    return {"pointer": pointer, "code": code, "detail": detail}


def summary(errors: Sequence[Mapping[str, str]]) -> str:
    """The first errors in one line."""
    told = "; ".join(f"{error['pointer'] or 'the body'}: {error['detail']}" for error in errors[:3])
    return told if len(errors) <= 3 else f"{told}; and {len(errors) - 3} more"


def json_type(value: object) -> str:
    """How JSON calls the type of a value."""
    return _JSON_TYPES.get(type(value), type(value).__name__)


_JSON_TYPES: Final = {
    dict: "an object",
    list: "an array",
    str: "a text",
    int: "a number",
    float: "a number with a fraction",
    bool: "true or false",
    type(None): "null",
}


class Value(fields.Field[Any]):
    """Base of the fields below, each of which says in ``read`` what it makes of a JSON value.

    A record's members are read by ``read`` itself: marshmallow's call costs more than most values do.
    """

    default_error_messages = {  # noqa: RUF012  # marshmallow's way to declare them
        "required": [REQUIRED],
        "null": [NULL],
    }

    def read(self, value: Any) -> Any:
        """What the value stands for. Raises ``ValidationError`` with a ``Wrong`` for each fault."""
        raise NotImplementedError

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> Any:
        return self.read(value)


class Bounded(Value):
    """Base of the fields with two bounds, both included."""

    def __init__(self, minimum: int, maximum: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.minimum = minimum
        self.maximum = maximum


class Whole(Bounded):
    """A whole number between two bounds."""

    def read(self, value: Any) -> int:
        if type(value) is not int:
            if type(value) is float:
                lost = " with a fraction" if value.is_integer() else ""  # of more digits than a double has
                raise wrong("type", f"must be a whole number; got {value}{lost}")
            hint = "; drop the quotes" if isinstance(value, str) and value.strip("-").isdigit() else ""
            raise wrong("type", f"must be a whole number; got {json_type(value)}{hint}")
        if not self.minimum <= value <= self.maximum:
            raise wrong("range", f"must be from {self.minimum} to {self.maximum}; got {_short(value)}")
        return value


class Text(Value):
    """A text with bounds on its number of characters."""

    def __init__(self, minimum: int = 0, maximum: int | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.minimum = minimum
        self.maximum = maximum

    def read(self, value: Any) -> Any:
        if type(value) is not str:
            raise wrong("type", f"must be a text; got {json_type(value)}")
        if len(value) < self.minimum or (self.maximum is not None and len(value) > self.maximum):
            bounds = f"{self.minimum} to {self.maximum}" if self.maximum else f"at least {self.minimum}"
            raise wrong("length", f"must be {bounds} characters long; got {len(value)}")
        return value


class Choice(Value):
    """One of a fixed list of values."""

    def __init__(self, values: Sequence[str | int], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.values = tuple(values)
        self._types = {value: type(value) for value in values}  # True equals 1 and is none

    def read(self, value: Any) -> Any:
        if type(value) not in (str, int) or self._types.get(value) is not type(value):
            raise wrong("choice", partial(self._cure, value))
        return value

    def _cure(self, value: Any) -> str:
        known = [str(one) for one in self.values]
        likely = _likely(str(value), known)
        return f"must be one of {', '.join(known)}" + (f"; did you mean {likely}?" if likely else "")


class Flag(Value):
    """true or false."""

    def read(self, value: Any) -> bool:
        if type(value) is not bool:
            raise wrong("type", f"must be true or false, without quotes; got {json_type(value)}")
        return value


class Cards(Bounded):
    """A list of different card codes, read as cards."""

    def read(self, value: Any) -> tuple[int, ...]:
        if type(value) is not list:
            raise wrong("type", f"must be an array of card codes; got {json_type(value)}")
        if not self.minimum <= len(value) <= self.maximum:
            bounds = (
                f"{self.minimum}" if self.minimum == self.maximum else f"{self.minimum} to {self.maximum}"
            )
            raise wrong("length", f"must hold {bounds} cards; got {len(value)}")
        try:
            return parse_cards(value)
        except MalformedCard as error:
            raise ValidationError({error.index: [Wrong("card", str(error))]}) from None


def _short(value: int) -> str:
    """A number as an error message shows it: one with thousands of digits is named by its length."""
    digits = value.bit_length() * 30103 // 100000 + 1
    return str(value) if digits <= 20 else f"a number of about {digits} digits"
