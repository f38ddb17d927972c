"""What request bodies look like: marshmallow schemas, built once, that turn JSON into the engine's records.

Bodies are flat schemas. Boxes, actions, deal and table are read by ``Record``, one pass a record: a nested
marshmallow schema costs about 17 µs an object, which a round with four boxes would pay twenty times.
"""

import re
from collections.abc import Callable, Mapping
from itertools import islice
from typing import Any, ClassVar, Final, cast, get_args

from marshmallow import Schema, ValidationError, post_load

from service.certificate.canonical import Uncanonical, canonical_bytes, check_canonical
from service.fairness.deal import Beacon, DeckDeal, SeedDeal
from service.fairness.sealing import SealedDeal
from service.fairness.shuffle import MAX_CLIENT_SEED_BYTES, MAX_NONCE
from service.fields import (
    REQUIRED,
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

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> str:
        if type(value) is not str:
            raise wrong("type", f"must be a text of 64 hex digits; got {json_type(value)}")
        if not _HEX_256.fullmatch(value):
            raise wrong("hex", f"must be 64 hex digits; got {len(value)} characters{_hex_cure(value)}")
        return value.lower()


class BeaconValue(Value):
    """A beacon's value: 32 to 128 hex digits in either case, kept in lower case."""

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> str:
        if type(value) is not str or not _BEACON_VALUE.fullmatch(value):
            raise wrong("hex", "must be the beacon's value as a text of 32 to 128 hex digits")
        return value.lower()


class Printable(Text):
    """A text of printable ASCII characters."""

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> str:
        text: str = super()._deserialize(value, attr, data, **kwargs)
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

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> str:
        text: str = super()._deserialize(value, attr, data, **kwargs)
        try:
            size = len(text.encode())
        except UnicodeEncodeError:  # from a command line in another encoding; JSON was checked before
            raise wrong("characters", "must be a text that UTF-8 can write") from None
        if size > MAX_CLIENT_SEED_BYTES:
            raise wrong("bytes", f"must be at most {MAX_CLIENT_SEED_BYTES} bytes of UTF-8; got {size}")
        return text


class Record(Value):
    """A flat JSON object, read in one pass into a record; members that it does not have are refused."""

    def __init__(self, members: Mapping[str, Value], make: Callable[..., Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.members = dict(members)
        self.make = make

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> Any:
        if type(value) is not dict:
            raise wrong("type", f"must be an object; got {json_type(value)}")
        read: dict[str, Any] = {}
        errors: dict[str, Any] = {}
        for name, member in self.members.items():
            if name in value:
                try:
                    read[name] = member._deserialize(value[name], name, value)
                except ValidationError as error:
                    errors[name] = error.messages
            elif member.required:
                errors[name] = [REQUIRED]
        if errors or len(read) < len(value):
            unknown = (name for name in value if name not in self.members)
            errors |= {
                name: [unknown_member(name, list(self.members))] for name in islice(unknown, MAX_UNKNOWN)
            }
            raise ValidationError(errors)
        return self.make(**read)


class OneOf(Value):
    """A flat JSON object of one of several shapes; ``choose`` finds the shape or raises."""

    def __init__(
        self, shapes: Mapping[str, Record], choose: Callable[[dict[str, Any]], str], **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.shapes = dict(shapes)
        self.choose = choose

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> Any:
        if type(value) is not dict:
            raise wrong("type", f"must be an object; got {json_type(value)}")
        return self.shapes[self.choose(value)]._deserialize(value, attr, data)


class Items(Value):
    """An array of records, with bounds on its length."""

    def __init__(self, item: Record | OneOf, minimum: int, maximum: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.item = item
        self.minimum = minimum
        self.maximum = maximum

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> tuple[Any, ...]:
        if type(value) is not list:
            raise wrong("type", f"must be an array; got {json_type(value)}")
        if not self.minimum <= len(value) <= self.maximum:
            raise wrong("length", f"must hold {self.minimum} to {self.maximum} items; got {len(value)}")
        read = []
        errors: dict[int, Any] = {}
        for index, item in enumerate(value):
            try:
                read.append(self.item._deserialize(item, None, None))
            except ValidationError as error:
                errors[index] = error.messages
        if errors:
            raise ValidationError(errors)
        return tuple(read)


class Context(Value):
    """An object of the caller's own, echoed as it is: whatever has a canonical form, up to a size and depth.

    Outcomes are signed over their canonical bytes, in which a fraction has no one spelling.
    """

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> Any:
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

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> Any:
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


def _box_stake(box: int, **members: Any) -> BoxStake:
    return BoxStake(box, **members)


def _action(box: int, action: ActionName, **details: Any) -> Action:
    return Action(box, action, **details)


DEAL: Final = OneOf(
    {
        "seed": Record({"server_seed": SEEDS["server_seed"], **_CHOICES}, _seed_deal),
        "sealed": Record({"sealed_seed": Text(1, MAX_SEALED, required=True), **_CHOICES}, _sealed_deal),
        "deck": Record({"deck": Cards(52, 52, required=True)}, _deck_deal),
    },
    choose=lambda deal: "deck" if "deck" in deal else "sealed" if "sealed_seed" in deal else "seed",
    required=True,
)
TABLE: Final = Record({name: Whole(1, MAX_AMOUNT) for name in Table._fields}, Table, load_default=Table())
BOXES: Final = Items(
    Record(
        {
            "box": Whole(1, MAX_BOXES, required=True),
            "ante": Whole(1, MAX_AMOUNT, required=True),
            "bonus": Whole(0, MAX_AMOUNT),
            "blind": Flag(),
            "player": Text(1, 64),
        },
        _box_stake,
    ),
    1,
    MAX_BOXES,
    required=True,
)


def _action_record(*names: str, **members: Value) -> Record:
    return Record(
        {"box": Whole(1, MAX_BOXES, required=True), "action": Choice(names, required=True), **members},
        _action,
    )


_PLAIN: Final = _action_record("buy_sixth", "bet", "fold", "take_ante", "buy_game")
_ACTION_NAME: Final = Choice(get_args(ActionName))


def _action_shape(action: dict[str, Any]) -> str:
    if "action" not in action:
        raise ValidationError({"action": [REQUIRED]})
    try:
        name: str = _ACTION_NAME._deserialize(action["action"], None, None)
    except ValidationError as error:
        raise ValidationError({"action": error.messages}) from None
    return name


ACTION: Final = OneOf(
    {
        **dict.fromkeys(get_args(ActionName), _PLAIN),
        "exchange": _action_record("exchange", discard=Cards(1, 5, required=True)),
        "insure": _action_record("insure", amount=Whole(1, MAX_AMOUNT, required=True)),
    },
    choose=_action_shape,
)
ACTIONS: Final = Items(ACTION, 0, MAX_ACTIONS, required=True)


class Body(Schema):
    """A request body. ``make`` turns the members read into what the view works with."""

    make: ClassVar[Callable[..., Any]] = dict

    @post_load
    def _made(self, members: dict[str, Any], **_: Any) -> Any:
        return type(self).make(**members)

    def handle_error(self, error: ValidationError, data: Any, *, many: bool, **_: Any) -> None:
        """Put the faults in the body's own order, with a cure for each unknown member."""
        faults = cast(dict[str, Any], error.messages)
        unknown = islice((name for name in data if name not in self.fields), MAX_UNKNOWN)
        error.messages = {
            **{name: faults[name] for name in self.fields if name in faults},
            **{name: [unknown_member(name, list(self.fields))] for name in unknown},
        }


class Part(Value):
    """A body within a body."""

    def __init__(self, schema: Body, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.schema = schema

    def _deserialize(
        self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any
    ) -> Any:
        if type(value) is not dict:
            raise wrong("type", f"must be an object; got {json_type(value)}")
        return self.schema.load(value)


def _void(reason: str, **members: Any) -> tuple[RoundRequest, str]:
    return RoundRequest(**members), reason


class RoundBody(Body):
    """A round with the actions so far."""

    make: ClassVar[Callable[..., Any]] = RoundRequest
    ruleset = Text(1, MAX_NAME, required=True)
    deal = DEAL
    table = TABLE
    boxes = BOXES
    actions = ACTIONS
    context = Context(load_default=None, allow_none=False)


class VoidBody(RoundBody):
    """A round to break off, with the actions so far and the reason."""

    make = _void
    reason = Printable(1, 200, required=True)


class ClaimBody(Body):
    """An outcome that somebody shows, and the request behind it; without one, the outcome tells it.

    ``server_seed`` is needed where neither reveals it.
    """

    request = Part(RoundBody())
    outcome = AnyObject(required=True)
    server_seed = Hex256()


class CertificateBody(Body):
    """A certificate, with the server seed where the outcome did not reveal it."""

    certificate = Text(1, MAX_CERTIFICATE, required=True)
    server_seed = Hex256()


class EvaluateBody(Body):
    """A hand and the ruleset that pays it."""

    ruleset = Text(1, MAX_NAME, required=True)
    cards = Cards(5, 6, required=True)


class DeckBody(Body):
    """The seeds of a deck."""

    make = _seed_deal
    server_seed = SEEDS["server_seed"]
    client_seed = SEEDS["client_seed"]
    nonce = SEEDS["nonce"]


class SeedsBody(Body):
    """A wish for a new seed, in the clear or sealed."""

    sealed = Flag(load_default=False)


ROUND: Final = RoundBody()
VOID: Final = VoidBody()
CLAIM: Final = ClaimBody()
CERTIFICATE: Final = CertificateBody()
EVALUATE: Final = EvaluateBody()
DECK: Final = DeckBody()
NEW_SEED: Final = SeedsBody()


def load(schema: Schema, body: Any) -> Any:
    """What a schema makes of a body. Raises ``InvalidRequest``."""
    if type(body) is not dict:
        raise InvalidRequest([Wrong("type", f"must be an object; got {json_type(body)}")])
    try:
        return schema.load(body)
    except ValidationError as error:
        raise InvalidRequest(error.messages) from None
