"""What request bodies look like: marshmallow fields, built once, that turn JSON into the engine's records.

A body and every object in it is read by ``Record``, one pass an object: a nested marshmallow schema costs
about 17 µs an object, which a round with four boxes would pay twenty times.
"""

import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple, get_args

from marshmallow import ValidationError

from service.certificate.canonical import Uncanonical, canonical_bytes, check_canonical
from service.fairness.deal import Beacon, DeckDeal, SeedDeal
from service.fairness.sealing import SealedDeal
from service.fairness.shuffle import MAX_CLIENT_SEED_BYTES, MAX_NONCE
from service.fields import (
    NULL,
    REQUIRED,
    Bounded,
    Cards,
    Choice,
    Flag,
    Text,
    Value,
    Whole,
    Wrong,
    json_type,
    located,
    summary,
    unknown_member,
    wrong,
)
from service.game.round import Action, ActionName
from service.game.ruleset import MAX_AMOUNT, MAX_BOXES
from service.game.stakes import BoxStake, Table
from service.rounds import RoundRequest

MAX_ACTIONS: Final = 100
"""More than any round can take, so that a surplus action is refused as such, with its index."""
MAX_BATCH: Final = 200
"""Most rounds of a batch."""
MAX_NAME: Final = 100
MAX_CONTEXT_BYTES: Final = 16 * 1024
MAX_CONTEXT_DEPTH: Final = 20
MAX_UNKNOWN: Final = 5
"""Most unknown members of one object that a refusal names."""
MAX_ERRORS: Final = 20
"""Most faults that a refusal lists."""
MAX_SEALED: Final = 1024
MAX_CERTIFICATE: Final = 120_000
_HEX_256: Final = re.compile(r"[0-9A-Fa-f]{64}")
_BEACON_VALUE: Final = re.compile(r"[0-9A-Fa-f]{32,128}")


class InvalidRequest(ValueError):
    """A body of another shape. ``errors`` are its faults, each with pointer, code and detail."""

    def __init__(self, messages: Any) -> None:
        self.errors = list(islice(located(messages), MAX_ERRORS))
        super().__init__(summary(self.errors))


class Hex256(Value):
    """256 bits as 64 hex digits in either case, kept in lower case."""

    def read(self, value: Any) -> str:
        if type(value) is not str:
            raise wrong("type", f"must be a text of 64 hex digits; got {json_type(value)}")
        if not _HEX_256.fullmatch(value):
            raise wrong("hex", f"must be 64 hex digits; got {len(value)} characters{_hex_cure(value)}")
        return value.lower()


class BeaconValue(Value):
    """A beacon's value: 32 to 128 hex digits in either case, kept in lower case."""

    def read(self, value: Any) -> str:
        if type(value) is not str or not _BEACON_VALUE.fullmatch(value):
            raise wrong("hex", "must be the beacon's value as a text of 32 to 128 hex digits")
        return value.lower()


class Printable(Text):
    """A text of printable ASCII characters."""

    def read(self, value: Any) -> str:
        text: str = super().read(value)
        if not (text.isascii() and text.isprintable()):
            raise wrong("characters", "must consist of printable ASCII characters")
        return text


def _hex_cure(value: str) -> str:
    if value[:2] in ("0x", "0X"):
        return " – drop the 0x"
    if value != value.strip():
        return " – drop the white space around them"
    if re.fullmatch(r"[0-9A-Fa-f]*", value):
        return ""
    return " – some are no hex digits"


class ClientSeed(Text):
    """A text of at most 128 bytes of UTF-8, taken as given (section 7)."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(0, MAX_CLIENT_SEED_BYTES, **kwargs)

    def read(self, value: Any) -> str:
        text: str = super().read(value)
        try:
            size = len(text.encode())
        except UnicodeEncodeError:  # from a command line in another encoding; JSON was checked before
            raise wrong("characters", "must be a text that UTF-8 can write") from None
        if size > MAX_CLIENT_SEED_BYTES:
            raise wrong("bytes", f"must be at most {MAX_CLIENT_SEED_BYTES} bytes of UTF-8; got {size}")
        return text


class Record(Value):
    """A JSON object, read in one pass into a record; members that it does not have are refused.

    ``make`` gets each member under its name, or under the ``attribute`` that its field names.
    """

    def __init__(self, members: Mapping[str, Value], make: Callable[..., Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.members = dict(members)
        self.make = make
        self._readers = {name: (member.attribute or name, member.read) for name, member in members.items()}
        self._required = {self._readers[name][0] for name, member in members.items() if member.required}

    def read(self, value: Any) -> Any:
        if type(value) is not dict:
            raise wrong("type", f"must be an object; got {json_type(value)}")
        read: dict[str, Any] = {}
        faults: dict[str, Any] = {}
        readers = self._readers
        for name, given in value.items():
            try:
                attribute, reader = readers[name]
                read[attribute] = reader(given)
            except KeyError:
                faults[name] = None
            except ValidationError as error:
                faults[name] = error.messages
        if faults or not self._required <= read.keys():
            raise ValidationError(self._told(value, faults))
        return self.make(**read)

    def _told(self, value: dict[str, Any], faults: dict[str, Any]) -> dict[str, Any]:
        """All that is wrong with an object, in the order of the members, those that it does not have last."""
        told: dict[str, Any] = {}
        for name, member in self.members.items():
            if name in faults:
                told[name] = faults[name] if value[name] is not None or member.required else [NULL]
            elif member.required and name not in value:
                told[name] = [REQUIRED]
        unknown = islice((name for name in faults if name not in self.members), MAX_UNKNOWN)
        return told | {name: [unknown_member(name, list(self.members))] for name in unknown}


class OneOf(Value):
    """A JSON object of one of several shapes; ``choose`` finds the shape or raises."""

    def __init__(
        self, shapes: Mapping[str, Record], choose: Callable[[dict[str, Any]], str], **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.shapes = dict(shapes)
        self.choose = choose

    def read(self, value: Any) -> Any:
        if type(value) is not dict:
            raise wrong("type", f"must be an object; got {json_type(value)}")
        return self.shapes[self.choose(value)].read(value)


class Items(Bounded):
    """An array of records, with bounds on its length."""

    def __init__(self, item: Record | OneOf, minimum: int, maximum: int, **kwargs: Any) -> None:
        super().__init__(minimum, maximum, **kwargs)
        self.item = item

    def check(self, value: Any) -> None:
        """Raise ``ValidationError`` for what is no array of so many items."""
        if type(value) is not list:
            raise wrong("type", f"must be an array; got {json_type(value)}")
        if not self.minimum <= len(value) <= self.maximum:
            raise wrong("length", f"must hold {self.minimum} to {self.maximum} items; got {len(value)}")

    def read(self, value: Any) -> tuple[Any, ...]:
        self.check(value)
        try:
            return tuple(map(self.item.read, value))
        except ValidationError:
            raise ValidationError(self._faults(value)) from None

    def _faults(self, value: list[Any]) -> dict[int, Any]:
        faults: dict[int, Any] = {}
        for index, item in enumerate(value):
            try:
                self.item.read(item)
            except ValidationError as error:
                faults[index] = error.messages
                if len(faults) == MAX_ERRORS:  # no more will be told
                    break
        return faults


class Unread(Items):
    """An array whose items are read one by one later, so that a wrong one does not spoil the others."""

    def read(self, value: Any) -> tuple[Any, ...]:
        self.check(value)
        return tuple(value)


class Context(Value):
    """An object of the caller's own, echoed as it is: whatever has a canonical form, up to a size and depth.

    Outcomes are signed over their canonical bytes, in which a fraction has no one spelling.
    """

    def read(self, value: Any) -> Any:
        if type(value) is not dict:
            raise wrong("type", f"must be an object; got {json_type(value)}")
        try:
            check_canonical(value, MAX_CONTEXT_DEPTH)
        except Uncanonical as error:
            fault: Any = [Wrong("context", str(error))]
            for step in reversed(error.path):
                fault = {step: fault}
            raise ValidationError(fault) from None
        if (size := len(canonical_bytes(value))) > MAX_CONTEXT_BYTES:
            raise wrong(
                "length", f"must have at most {MAX_CONTEXT_BYTES} bytes in canonical form; got {size}"
            )
        return value


class AnyObject(Value):
    """A JSON object whose members are not looked at here."""

    def read(self, value: Any) -> Any:
        if type(value) is not dict:
            raise wrong("type", f"must be an object; got {json_type(value)}")
        return value


SEEDS: Final[Mapping[str, Value]] = {
    "server_seed": Hex256(required=True),
    "client_seed": ClientSeed(),
    "nonce": Whole(0, MAX_NONCE),
}


_BEACON: Final = Record(
    {"source": Printable(1, 100, required=True), "value": BeaconValue(required=True)}, Beacon
)
_CHOICES: Final[Mapping[str, Value]] = {
    **{name: member for name, member in SEEDS.items() if name != "server_seed"},
    "commitment": Hex256(),
    "reveal": Flag(),
    "beacon": _BEACON,
}


def _sealed_deal(sealed_seed: str, **members: Any) -> SealedDeal:
    return SealedDeal(sealed_seed, members)


def _seed_deal(server_seed: str, **members: Any) -> SeedDeal:
    return SeedDeal(bytes.fromhex(server_seed), **members)


def _deck_deal(deck: tuple[int, ...]) -> DeckDeal:
    return DeckDeal(deck)


def _deal_shape(deal: dict[str, Any]) -> str:
    sources = [name for name in DEAL.shapes if name in deal]
    if len(sources) > 1:
        first, other, *_ = sources
        raise ValidationError({other: [Wrong("unknown-member", f"give {first} or {other}, not both")]})
    return sources[0] if sources else "server_seed"


DEAL: Final = OneOf(
    {
        "deck": Record({"deck": Cards(52, 52, required=True)}, _deck_deal),
        "sealed_seed": Record({"sealed_seed": Text(1, MAX_SEALED, required=True), **_CHOICES}, _sealed_deal),
        "server_seed": Record({"server_seed": SEEDS["server_seed"], **_CHOICES}, _seed_deal),
    },
    choose=_deal_shape,
    required=True,
)
TABLE: Final = Record({name: Whole(1, MAX_AMOUNT) for name in Table._fields}, Table)
BOXES: Final = Items(
    Record(
        {
            "box": Whole(1, MAX_BOXES, required=True, attribute="number"),
            "ante": Whole(1, MAX_AMOUNT, required=True),
            "bonus": Whole(0, MAX_AMOUNT),
            "blind": Flag(),
            "player": Text(1, 64),
        },
        BoxStake,
    ),
    1,
    MAX_BOXES,
    required=True,
)


def _action_record(*names: str, **members: Value) -> Record:
    return Record(
        {
            "box": Whole(1, MAX_BOXES, required=True),
            "action": Choice(names, required=True, attribute="name"),
            **members,
        },
        Action,
    )


_PLAIN: Final = _action_record("buy_sixth", "bet", "fold", "take_ante", "buy_game")
_ACTION_NAMES: Final = Record({"action": Choice(get_args(ActionName), required=True)}, dict)


def _action_shape(action: dict[str, Any]) -> str:
    name = action.get("action")
    if type(name) is str and name in ACTION.shapes:
        return name
    return str(_ACTION_NAMES.read({"action": name} if "action" in action else {}))  # raises


ACTION: Final = OneOf(
    {
        **dict.fromkeys(get_args(ActionName), _PLAIN),
        "exchange": _action_record("exchange", discard=Cards(1, 5, required=True)),
        "insure": _action_record("insure", amount=Whole(1, MAX_AMOUNT, required=True)),
    },
    choose=_action_shape,
)
ACTIONS: Final = Items(ACTION, 0, MAX_ACTIONS, required=True)


class Batch(NamedTuple):
    """Rounds to settle, not read yet, and whether their outcomes are to be certified."""

    rounds: tuple[Any, ...]
    certificates: bool = False


def _is_sealed(sealed: bool = False) -> bool:
    return sealed


def _void(reason: str, **members: Any) -> tuple[RoundRequest, str]:
    return RoundRequest(**members), reason


_ROUND: Final[Mapping[str, Value]] = {
    "ruleset": Text(1, MAX_NAME, required=True),
    "deal": DEAL,
    "table": TABLE,
    "boxes": BOXES,
    "actions": ACTIONS,
    "context": Context(),
}
ROUND: Final = Record(_ROUND, RoundRequest)
"""A round with the actions so far."""
VOID: Final = Record({**_ROUND, "reason": Printable(1, 200, required=True)}, _void)
"""A round to break off, with the actions so far and the reason."""
BATCH: Final = Record({"rounds": Unread(ROUND, 1, MAX_BATCH, required=True), "certificates": Flag()}, Batch)
"""Rounds to settle in one call."""
CLAIM: Final = Record({"request": ROUND, "outcome": AnyObject(required=True), "server_seed": Hex256()}, dict)
"""An outcome that somebody shows, and the request behind it; without one, the outcome tells it.

``server_seed`` is needed where neither reveals it.
"""
CERTIFICATE: Final = Record(
    {"certificate": Text(1, MAX_CERTIFICATE, required=True), "server_seed": Hex256()}, dict
)
"""A certificate, with the server seed where the outcome did not reveal it."""
EVALUATE: Final = Record(
    {"ruleset": Text(1, MAX_NAME, required=True), "cards": Cards(5, 6, required=True)}, dict
)
"""A hand and the ruleset that pays it."""
DECK: Final = Record(SEEDS, _seed_deal)
"""The seeds of a deck."""
NEW_SEED: Final = Record({"sealed": Flag()}, _is_sealed)
"""A wish for a new seed: whether sealed."""


def load(body: Record, document: Any) -> Any:
    """What a body makes of a JSON document. Raises ``InvalidRequest`` with every fault and its pointer."""
    try:
        return body.read(document)
    except ValidationError as error:
        raise InvalidRequest(error.messages) from None
