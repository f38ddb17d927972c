"""Whether one contract keeps what an older one promised.

Both are compared as they are meant, references followed: what callers may send must not shrink, and what
they may be told must not grow. ``RULES`` is the whole list of what breaks a promise; ``docs/versioning.md``
shows it to integrators. Whatever cannot be judged, a keyword that is new here for instance, is a breach.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple

from tests.contract.document import METHODS, Schema, nodes, pointer_to
from tests.contract.extents import EXCEEDS, excesses

RULES: Final[Mapping[str, str]] = {
    "server": "the base URL of a server is gone",
    "operation": "an operation – a path or one of its methods – is gone, or has another `operationId`",
    "security": "a call needs credentials that it did not need, or other ones",
    "parameter": "a parameter is gone, moves, or is written another way",
    "parameter-required": "a parameter is required that was not",
    "body": "a request takes no body any more, or has to have one where it had not",
    "media-type": "a request or an answer can no longer have one of its media types",
    "status": "a status is gone, or an operation has a new one below 400 other than 304",
    "header": "a header of an answer is gone, or is no longer always there",
    "link": "a link is gone or leads to another operation",
    "member": "a member of a request or of an answer is gone",
    "member-required": "a member of a request is required that was not",
    "member-optional": "a member of an answer may be missing that was always there",
    "value-removed": "one of the listed values is gone, from a request or from an answer",
    "value-added": "an answer may have another value than those listed, and the list was not marked `x-open`",
    "shape-removed": "one of several shapes is gone, from a request or from an answer",
    "shape-added": "an answer may have another shape than those listed, and the list was not marked `x-open`",
    "list-opened": "a list of values or shapes in an answer is marked `x-open` that was not",
    "narrowed": "a request may have fewer types, null included, or narrower bounds, patterns, formats",
    "widened": "an answer may have more types, null included, or wider bounds, patterns, formats",
    "closed": "a request may no longer have members of other names",
    "opened": "an answer may have members of any name where all names were listed",
    "default": "a member left out of a request means something else",
    "keyword": "something changed that no rule can judge",
}
"""What breaks a promise."""

Way = Literal["request", "answer"]

_SHAPES: Final = ("oneOf", "anyOf")
_WORDS: Final = {
    "title",
    "description",
    "example",
    "examples",
    "deprecated",
    "externalDocs",
    "$comment",
    "x-open",
}
_JUDGED: Final = {
    *(*_SHAPES, *EXCEEDS, "enum", "const", "type", "default"),
    *("required", "properties", "patternProperties", "additionalProperties", "items"),
}


class Breach(NamedTuple):
    """A promise that is not kept: the rule, the place in the older contract, and what is wrong there."""

    rule: str
    pointer: str
    sentence: str


class Place(NamedTuple):
    """Something within a contract, and where it stands."""

    contract: Mapping[str, Any]
    pointer: str
    value: Any

    def to(self, *names: str, default: Any = None) -> "Place":
        """A part of it."""
        value, pointer = self.value, self.pointer
        for name in names:
            value = value.get(name, default) if isinstance(value, dict) else default
            pointer = pointer_to(pointer, name)
        return Place(self.contract, pointer, value)

    def each(self) -> "dict[str, Place]":
        """Its parts by name; those of a list by number."""
        value = self.value or {}
        named = value.items() if isinstance(value, dict) else enumerate(value)
        return {
            str(name): Place(self.contract, pointer_to(self.pointer, str(name)), inner)
            for name, inner in named
        }

    @property
    def goal(self) -> str:
        """Where it stands, or where it leads if it is a reference."""
        reference = self.value.get("$ref") if isinstance(self.value, dict) else None
        return reference or self.pointer

    def resolved(self) -> "Place":
        """What a reference leads to, with what stands beside the reference."""
        if not isinstance(self.value, dict) or "$ref" not in self.value:
            return self
        target: Any = self.contract
        for step in self.value["$ref"].removeprefix("#/").split("/"):
            target = target[step.replace("~1", "/").replace("~0", "~")]
        beside = {name: self.value[name] for name in self.value.keys() - _WORDS - {"$ref"}}
        return Place(self.contract, self.value["$ref"], {**target, **beside} if beside else target).resolved()

    def as_object(self) -> "Place":
        """A schema as an object: ``true``, or none at all, says nothing; ``false`` is beyond judging."""
        if isinstance(self.value, dict):
            return self
        return self._replace(value={"not": {}} if self.value is False else {})


def breaches(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Breach]:
    """All promises of the old contract that the new one does not keep."""
    comparison = _Comparison()
    comparison.contracts(Place(old, "#", old), Place(new, "#", new))
    return list(dict.fromkeys(comparison.found))


class _Comparison:
    """Collects breaches. What was compared once is not compared again, so schemas may contain themselves."""

    def __init__(self, done: Iterable[tuple[str, str, Way]] = ()) -> None:
        self.found: list[Breach] = []
        self._done = set(done)

    def breach(self, rule: str, place: Place, sentence: str) -> None:
        assert rule in RULES
        self.found.append(Breach(rule, place.pointer, sentence))

    def _were_compared(self, old: Place, new: Place, way: Way) -> bool:
        key = (old.goal, new.goal, way)
        known = key in self._done
        self._done.add(key)
        return known

    # Operations.

    def contracts(self, old: Place, new: Place) -> None:
        kept = {server["url"] for server in new.value.get("servers", ())}
        for server in old.to("servers").each().values():
            if server.value["url"] not in kept:
                self.breach("server", server, f"the server {server.value['url']} is gone")
        self._unread(old, new, {"openapi", "info", "servers", "paths", "components", "security", "tags"})
        for path, item in old.to("paths").each().items():
            if path in new.value["paths"]:
                self._unread(item, new.to("paths", path), set(METHODS))
            for method in item.value.keys() & set(METHODS):
                before, after = item.to(method), new.to("paths", path, method)
                if after.value is None:
                    self.breach("operation", before, f"{method.upper()} {path} is gone")
                else:
                    self._operations(before, after)

    def _operations(self, old: Place, new: Place) -> None:
        self._security(old, new)
        if old.value is new.value and old.contract["components"] is new.contract["components"]:
            return
        before, after = (one.value.get("operationId") for one in (old, new))
        if before != after:
            self.breach("operation", old.to("operationId"), f"{before} is called {after} now")
        self._unread(old, new, {"operationId", "tags", "security", "parameters", "requestBody", "responses"})
        self._parameters(old, new)
        self._bodies(old.to("requestBody").resolved(), new.to("requestBody").resolved())
        statuses = new.to("responses").each()
        for status, response in old.to("responses").each().items():
            if status not in statuses:
                self.breach("status", response, f"the status {status} is gone")
            else:
                self._responses(response, statuses[status])
        for status in statuses.keys() - old.to("responses").each().keys():
            if status[0] not in "45" and status != "304":  # which only those get who ask for it
                self.breach("status", old.to("responses"), f"the status {status} is new, and no refusal")

    def _unread(self, old: Place, new: Place, read: set[str]) -> None:
        """Refuse a change of members that no rule reads; extensions promise nothing."""
        for name in sorted((old.value.keys() | new.value.keys()) - read - _WORDS - {"summary"}):
            if not name.startswith("x-") and old.value.get(name) != new.value.get(name):
                self.breach("keyword", old, f"{name} is another one")

    def _security(self, old: Place, new: Place) -> None:
        def asked(place: Place) -> list[dict[str, list[str]]]:
            return place.value.get("security", place.contract.get("security")) or [{}]

        def known(place: Place, names: Iterable[str]) -> list[Any]:
            schemes = place.contract.get("components", {}).get("securitySchemes", {})
            return [schemes.get(name) for name in sorted(names)]

        for offered in asked(old):
            enough = (
                one
                for one in asked(new)
                if all(name in offered and set(scopes) <= set(offered[name]) for name, scopes in one.items())
                and known(old, one) == known(new, one)
            )
            if next(enough, None) is None:
                self.breach("security", old, f"what sufficed before, {offered or 'nothing'}, does no more")

    def _parameters(self, old: Place, new: Place) -> None:
        def named(operation: Place) -> dict[tuple[str, str], Place]:
            found = operation.to("parameters").each().values()
            return {(one.resolved().value["in"], one.resolved().value["name"]): one for one in found}

        before, after = named(old), named(new)
        for key, place in before.items():
            if key not in after:
                self.breach("parameter", place, f"the parameter {key[1]} ({key[0]}) is gone")
                continue
            parameter, after[key] = place.resolved(), after[key].resolved()
            for name in ("style", "explode", "allowReserved", "content"):
                if parameter.value.get(name) != after[key].value.get(name):
                    self.breach("parameter", parameter, f"{key[1]} is written another way: {name}")
            self.schemas(parameter.to("schema"), after[key].to("schema"), "request")
        for key, parameter in after.items():
            required = parameter.resolved().value.get("required", False)
            if required and not (key in before and before[key].resolved().value.get("required", False)):
                place = before.get(key, old.to("parameters"))
                self.breach("parameter-required", place, f"the parameter {key[1]} ({key[0]}) is required now")

    def _bodies(self, old: Place, new: Place) -> None:
        if old.value is None or new.value is None:
            if old.value != new.value and (new.value is None or new.value.get("required")):
                self.breach(
                    "body", old, "a body is required now" if new.value else "no body is taken any more"
                )
            return
        if new.value.get("required") and not old.value.get("required"):
            self.breach("body", old, "a body is required now")
        self._media_types(old, new, "request")

    def _responses(self, old: Place, new: Place) -> None:
        if self._were_compared(old, new, "answer"):
            return
        old, new = old.resolved(), new.resolved()
        self._media_types(old, new, "answer")
        headers = {name.lower(): one for name, one in new.to("headers").each().items()}
        for name, one in old.to("headers").each().items():
            if name.lower() not in headers:
                self.breach("header", one, f"the header {name} is gone")
                continue
            if self._were_compared(one, headers[name.lower()], "answer"):
                continue
            before, after = one.resolved(), headers[name.lower()].resolved()
            if before.value.get("required") and not after.value.get("required"):
                self.breach("header", before, f"the header {name} may be missing")
            self.schemas(before.to("schema"), after.to("schema"), "answer")
        for name, link in old.to("links").each().items():
            goal = new.to("links", name).resolved()
            for target in ("operationId", "operationRef"):
                if link.resolved().value.get(target) != (goal.value or {}).get(target):
                    self.breach("link", link, f"the link {name} is gone or leads elsewhere")

    def _media_types(self, old: Place, new: Place, way: Way) -> None:
        for media_type, body in old.to("content").each().items():
            after = new.to("content", media_type)
            if after.value is None:
                self.breach("media-type", body, f"{media_type} is gone")
            else:
                self.schemas(body.to("schema"), after.to("schema"), way)

    # Schemas.

    def schemas(self, old: Place, new: Place, way: Way) -> None:
        """A request must not shrink, an answer must not grow."""
        if self._were_compared(old, new, way):
            return
        old, new = old.resolved(), new.resolved()
        if old.value is new.value:  # what it refers to may still have changed
            for reference in _references(old.value):
                to = {"$ref": reference}
                self.schemas(Place(old.contract, "", to), Place(new.contract, "", to), way)
            return
        old, new = old.as_object(), new.as_object()
        with_shapes = [any(shapes in one.value for shapes in _SHAPES) for one in (old, new)]
        if any(with_shapes):
            self._shapes(old, new, way)
        if all(with_shapes) or not any(with_shapes):
            for compare in (self._values, self._extents, self._required, self._members, self._rest):
                compare(old, new, way)

    def _agree(self, old: Place, new: Place, way: Way) -> bool:
        """Whether two schemas could be compared without any breach; nothing of it is reported."""
        trial = _Comparison(self._done)
        trial.schemas(old, new, way)
        return not trial.found

    def _shapes(self, old: Place, new: Place, way: Way) -> None:
        before, after = _shapes(old), _shapes(new)
        free = list(after)
        for one in sorted(before, key=lambda one: "$ref" not in one.value):  # names first, then by content
            same = [other for other in free if "$ref" in one.value and one.value == other.value]
            same += [other for other in free if not same and self._agree(one, other, way)]
            if not same:
                self.breach("shape-removed", one, f"one of the shapes of this {way} is gone or another one")
                continue
            self.schemas(one, same[0], way)
            free.remove(same[0])
        if way == "answer" and not old.value.get("x-open"):
            for other in after:
                known = any(other.value == one.value for one in before if "$ref" in one.value)
                if not known and not any(self._agree(one, other, way) for one in before):
                    self.breach(
                        "shape-added", old, f"an answer may have the shape at {other.resolved().pointer}"
                    )
        self._opened(old, new, way)

    def _opened(self, old: Place, new: Place, way: Way) -> None:
        if way == "answer" and new.value.get("x-open") and not old.value.get("x-open"):
            self.breach("list-opened", old, "this list may grow from now on")

    def _values(self, old: Place, new: Place, way: Way) -> None:
        before, after = _listed(old.value), _listed(new.value)
        if before is not None and after is not None:
            for value in before:
                if value not in after:
                    self.breach("value-removed", old, f"{value!r} is gone from the values of this {way}")
            for value in after:
                if way == "answer" and value not in before and not old.value.get("x-open"):
                    self.breach("value-added", old, f"an answer may have the value {value!r}")
            self._opened(old, new, way)
        elif after is not None and way == "request":
            self.breach("value-removed", old, "only certain values are taken now")
        elif before is not None and way == "answer":
            self.breach("value-added", old, "an answer may have any value now")

    def _extents(self, old: Place, new: Place, way: Way) -> None:
        """Types, bounds and all that is said of single values."""
        small, large = (old, new) if way == "request" else (new, old)
        for keyword in excesses(small.value, large.value):
            was, is_now = (one.value.get(keyword, "not there") for one in (old, new))
            told = f"{keyword} was {was}, is {is_now}"
            self.breach("narrowed" if way == "request" else "widened", old, told)

    def _required(self, old: Place, new: Place, way: Way) -> None:
        before, after = (set(one.value.get("required", ())) for one in (old, new))
        if way == "request":
            for name in sorted(after - before):
                self.breach("member-required", old, f"the member {name} is required now")
        else:
            for name in sorted((before - after) & new.to("properties").each().keys()):
                self.breach("member-optional", old, f"the member {name} may be missing")

    def _members(self, old: Place, new: Place, way: Way) -> None:
        for kind in ("properties", "patternProperties"):
            after = new.to(kind).each()
            for name, member in old.to(kind).each().items():
                if name in after:
                    self.schemas(member, after[name], way)
                else:
                    self.breach("member", member, f"the member {name} of this {way} is gone")
        others, others_now = (one.to("additionalProperties", default=True) for one in (old, new))
        small, large = (others, others_now) if way == "request" else (others_now, others)
        if large.value is False and small.value is not False:
            self.breach("closed" if way == "request" else "opened", old, "members of any other name")
        elif small.value is not False and not small.value == large.value == True:  # noqa: E712 - not any truth
            self.schemas(others, others_now, way)
        if way == "request" and others.value is not False:
            for name, member in new.to("properties").each().items():
                if name not in old.to("properties").each():
                    self.schemas(others, member, way)  # what had any value so far
        if "items" in old.value or "items" in new.value:
            self.schemas(old.to("items", default=True), new.to("items", default=True), way)

    def _rest(self, old: Place, new: Place, way: Way) -> None:
        before, after = (one.value.get("default") for one in (old, new))
        if way == "request" and before != after:
            self.breach("default", old, f"the default was {before!r}, is {after!r}")
        for keyword in sorted((old.value.keys() | new.value.keys()) - _JUDGED - _WORDS):
            if _whole(old.to(keyword)) != _whole(new.to(keyword)):
                self.breach("keyword", old, f"{keyword} is another one")


def _whole(place: Place, within: frozenset[str] = frozenset()) -> Any:
    """Something with all references followed; where it comes upon itself, its place stands for it."""
    here = place.resolved()
    if here.pointer in within:
        return here.pointer
    if not isinstance(here.value, dict | list):
        return here.value
    return {
        name: _whole(part, within | {here.pointer})
        for name, part in here.each().items()
        if name not in _WORDS
    }


_REFERENCES: Final[dict[int, tuple[Any, list[str]]]] = {}


def _references(value: Any) -> list[str]:
    """Where the references within something lead to; kept with the thing itself, lest another get its id."""
    if id(value) not in _REFERENCES:
        found = [node["$ref"] for _, node in nodes(value) if "$ref" in node]
        _REFERENCES[id(value)] = value, found
    return _REFERENCES[id(value)][1]


def _shapes(schema: Place) -> list[Place]:
    """The alternatives that a schema offers; without any it is its own and only one."""
    found = [one.as_object() for shapes in _SHAPES for one in schema.to(shapes).each().values()]
    return found or [schema]


def _listed(schema: Schema) -> list[Any] | None:
    return [schema["const"]] if "const" in schema else schema.get("enum")
