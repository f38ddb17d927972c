"""Changes planted into a contract, one at a time, and what each of them has to be found as.

Where they go is found by a walk of its own, which shares nothing with the comparison that it puts to the
test. Together they are some thousands: everything that can be taken away, narrowed or widened anywhere.
"""

from collections.abc import Callable, Iterator
from copy import copy
from typing import Any, Final, NamedTuple

from tests.contract.document import METHODS, Schema, pointer_to

Contract = dict[str, Any]
Change = Callable[[Any], Any]
"""What a part of the contract becomes. It gets a copy of its own, not of what lies within."""

GONE: Final = object()
NEW: Final = {"type": "string", "maxLength": 7}
_BOUNDS: Final = ("minimum", "minLength", "minItems", "maximum", "maxLength", "maxItems")


class Plant(NamedTuple):
    """A change, where it is made, and the rule that it breaks; None where it breaks nothing.

    ``seen_at`` is where the breach shows, if not at the change itself.
    """

    what: str
    pointer: str
    change: Change
    rule: str | None = None
    seen_at: str | None = None

    def into(self, contract: Contract) -> Contract:
        """The contract with this change."""
        planted: Contract = changed(contract, self.pointer, self.change)
        return planted


Kind = Iterator[tuple[str, Change, str | None]]
"""Changes of one schema: what they do, and the rules that they break."""


def changed(node: Any, pointer: str, change: Change) -> Any:
    """A contract with one part changed; everything beside the path is shared with the original."""
    if pointer in ("", "#"):
        return change(copy(node))
    step, _, rest = pointer.removeprefix("#/").partition("/")
    name = _name(node, step)
    inner = changed(node[name], rest, change)
    other = copy(node)
    if inner is GONE:
        del other[name]
    else:
        other[name] = inner
    return other


def gone(node: Any) -> Any:
    """Nothing in the place of the part."""
    return GONE


def with_members(**members: Any) -> Change:
    """The part with other values for these members."""
    return lambda node: {**node, **members}


def without(name: str) -> Change:
    """The part without this member."""
    return lambda node: {other: inner for other, inner in node.items() if other != name}


def _name(node: Any, step: str) -> Any:
    return int(step) if isinstance(node, list) else step.replace("~1", "/").replace("~0", "~")


def _at(contract: Contract, pointer: str) -> Any:
    node: Any = contract
    for step in pointer.removeprefix("#/").split("/"):
        node = node[_name(node, step)]
    return node


# Places.


def operations_of(contract: Contract) -> Iterator[tuple[str, Any]]:
    """Every operation with its place."""
    for path, item in contract["paths"].items():
        for method in item.keys() & set(METHODS):
            yield f"{pointer_to('#/paths', path)}/{method}", item[method]


def responses_of(contract: Contract) -> dict[str, Any]:
    """Every response by the place where it is described."""
    found = {}
    for pointer, operation in operations_of(contract):
        for status, response in operation["responses"].items():
            here = response.get("$ref", f"{pointer}/responses/{status}")
            found[here] = _at(contract, here)
    return found


def schemas_of_requests(contract: Contract) -> dict[str, Schema]:
    """Every schema that a request can consist of, by its place."""
    roots: list[str] = []
    for pointer, operation in operations_of(contract):
        for index, parameter in enumerate(operation["parameters"]):
            roots.append(parameter.get("$ref", f"{pointer}/parameters/{index}") + "/schema")
        roots += _of_content(f"{pointer}/requestBody", operation.get("requestBody", {}))
    return _schemas_within(contract, roots)


def schemas_of_answers(contract: Contract) -> dict[str, Schema]:
    """Every schema that an answer can consist of, by its place."""
    roots: list[str] = []
    for pointer, response in responses_of(contract).items():
        roots += _of_content(pointer, response)
        for name, header in response["headers"].items():
            roots.append(header.get("$ref", f"{pointer}/headers/{name}") + "/schema")
    return _schemas_within(contract, roots)


def _of_content(pointer: str, body: Any) -> Iterator[str]:
    for media_type, content in body.get("content", {}).items():
        if "schema" in content:
            yield pointer_to(f"{pointer}/content", media_type) + "/schema"


def _schemas_within(contract: Contract, roots: list[str]) -> dict[str, Schema]:
    found: dict[str, Schema] = {}
    while roots:
        pointer = roots.pop()
        schema = _at(contract, pointer)
        if pointer in found or not isinstance(schema, dict):
            continue
        if "$ref" in schema:
            roots.append(schema["$ref"])
            continue
        found[pointer] = schema
        for kind in ("properties", "patternProperties"):
            roots += [pointer_to(f"{pointer}/{kind}", name) for name in schema.get(kind, ())]
        roots += [f"{pointer}/{kind}" for kind in schema.keys() & {"items", "additionalProperties"}]
        roots += [f"{pointer}/oneOf/{index}" for index in range(len(schema.get("oneOf", ())))]
    return found


# What breaks a promise.


def breaking(contract: Contract) -> Iterator[Plant]:
    """Every change that has to be refused."""
    yield Plant("server gone", "#/servers", lambda servers: [{"url": "/new"}], "server")
    for pointer, operation in operations_of(contract):
        yield from _broken_operation(pointer, operation)
    for pointer, response in responses_of(contract).items():
        yield from _broken_response(pointer, response)
    for name, header in contract["components"]["headers"].items():
        if header.get("required"):
            yield Plant(
                "header may be missing", f"#/components/headers/{name}", without("required"), "header"
            )
    for name, parameter in contract["components"]["parameters"].items():
        yield from _broken_parameter(f"#/components/parameters/{name}", parameter)
    for pointer, schema in schemas_of_requests(contract).items():
        for kind in (_lists_cut, _members_cut, _members_demanded, _defaults_changed, _bounds_narrowed):
            yield from (Plant(what, pointer, change, rule) for what, change, rule in kind(schema))
    for pointer, schema in schemas_of_answers(contract).items():
        for kind in (_lists_cut, _members_cut, _members_doubtful, _lists_grown, _bounds_widened):
            yield from (Plant(what, pointer, change, rule) for what, change, rule in kind(schema))


def _broken_parameter(here: str, parameter: Contract) -> Iterator[Plant]:
    elsewhere = with_members(**{"in": "query"})
    yield Plant("parameter elsewhere", here, elsewhere, "parameter", "#/paths")
    if not parameter.get("required"):
        yield Plant("parameter required", here, with_members(required=True), "parameter-required", "#/paths")


def _broken_operation(pointer: str, operation: Any) -> Iterator[Plant]:
    yield Plant("operation gone", pointer, gone, "operation")
    yield Plant("another name", f"{pointer}/operationId", lambda id: f"{id}2", "operation")
    yield Plant("credentials needed", pointer, with_members(security=[{"token": []}]), "security")
    for index in range(len(operation["parameters"])):
        yield Plant("parameter gone", f"{pointer}/parameters/{index}", gone, "parameter")
    if "requestBody" in operation:
        here = f"{pointer}/requestBody"
        yield Plant("no body", here, gone, "body")
        yield Plant("media type gone", f"{here}/content/application~1json", gone, "media-type")
    else:
        body = {"required": True, "content": {}}
        yield Plant("body demanded", pointer, with_members(requestBody=body), "body")
    for status in operation["responses"]:
        yield Plant("status gone", f"{pointer}/responses/{status}", gone, "status")
    for status in ("202", "307"):
        new = with_members(**{status: {"description": "-"}})
        yield Plant(f"also {status}", f"{pointer}/responses", new, "status")


def _broken_response(pointer: str, response: Any) -> Iterator[Plant]:
    for name in response["headers"]:
        yield Plant("header gone", f"{pointer}/headers/{name}", gone, "header")
    for name in response.get("links", {}):
        yield Plant("link gone", f"{pointer}/links/{name}", gone, "link")
        yield Plant("link elsewhere", f"{pointer}/links/{name}", with_members(operationId="x"), "link")
    for media_type in response.get("content", {}):
        yield Plant("media type gone", pointer_to(f"{pointer}/content", media_type), gone, "media-type")


def _lists_cut(schema: Schema) -> Kind:
    for kind, rule in (("enum", "value-removed"), ("oneOf", "shape-removed")):
        listed = schema.get(kind, ())
        for index in range(len(listed)):
            yield f"{kind} cut", with_members(**{kind: [*listed[:index], *listed[index + 1 :]]}), rule


def _lists_grown(schema: Schema) -> Kind:
    for kind, more, rule in (("enum", "new", "value-added"), ("oneOf", NEW, "shape-added")):
        if kind in schema:
            yield f"{kind} given up", without(kind), rule if kind == "enum" else "shape-removed"
        if kind in schema and not schema.get("x-open"):
            yield f"{kind} grown", with_members(**{kind: [*schema[kind], more]}), rule
            yield f"{kind} opened", with_members(**{"x-open": True}), "list-opened"


def _members_cut(schema: Schema) -> Kind:
    for name in schema.get("properties", ()):
        rest = without(name)(schema["properties"])
        required = [other for other in schema.get("required", ()) if other != name]
        yield "member gone", with_members(properties=rest, required=required), "member"


def _members_demanded(schema: Schema) -> Kind:
    required = schema.get("required", [])
    for name in schema.get("properties", {}).keys() - set(required):
        yield "member demanded", with_members(required=[*required, name]), "member-required"
    if "properties" in schema:
        more = with_members(properties={**schema["properties"], "new": NEW}, required=[*required, "new"])
        yield "new member demanded", more, "member-required"
    if schema.get("type") == "object" and schema.get("additionalProperties") is not False:
        yield "closed", with_members(additionalProperties=False), "closed"


def _members_doubtful(schema: Schema) -> Kind:
    for name in schema.get("required", ()):
        rest = [other for other in schema["required"] if other != name]
        yield "member may be missing", with_members(required=rest), "member-optional"
    if schema.get("additionalProperties") is False:
        yield "opened", without("additionalProperties"), "opened"


def _defaults_changed(schema: Schema) -> Kind:
    if "default" in schema:
        yield "another default", with_members(default="other"), "default"
        yield "no default", without("default"), "default"
    else:
        yield "a default", with_members(default="other"), "default"


def _bounds_narrowed(schema: Schema) -> Kind:
    for bound in schema.keys() & set(_BOUNDS):
        step = 1 if bound.startswith("min") else -1
        yield f"{bound} narrowed", with_members(**{bound: schema[bound] + step}), "narrowed"
    types = schema.get("type")
    if isinstance(types, list):
        yield "null refused", with_members(type=[type for type in types if type != "null"]), "narrowed"
    if "enum" not in schema and types == "string":
        yield "values listed", with_members(enum=["x"]), "value-removed"
        yield "a pattern", with_members(pattern="^other$"), "narrowed"
        yield "a format", with_members(format="uuid"), "narrowed"
    if types == "integer":
        yield "even numbers only", with_members(multipleOf=2), "narrowed"
    if types == "array" and not schema.get("uniqueItems"):
        yield "no repetition", with_members(uniqueItems=True), "narrowed"
    yield "a keyword unknown here", with_members(contains=NEW), "keyword"


def _bounds_widened(schema: Schema) -> Kind:
    for bound in schema.keys() & set(_BOUNDS):
        step = -1 if bound.startswith("min") else 1
        if schema[bound] or bound not in ("minLength", "minItems"):
            yield f"{bound} widened", with_members(**{bound: schema[bound] + step}), "widened"
    if isinstance(schema.get("type"), str) and schema["type"] != "null":
        yield "null possible", with_members(type=[schema["type"], "null"]), "widened"
    for keyword in schema.keys() & {"uniqueItems", "pattern"}:
        yield f"no {keyword}", without(keyword), "widened"
    if "pattern" in schema:
        yield "another pattern", with_members(pattern="^other$"), "widened"


# What breaks nothing.


def harmless(contract: Contract) -> Iterator[Plant]:
    """Every change that may be made at any time."""
    yield Plant("new path", "#/paths", with_members(**{"/v1/new": {"get": {"responses": {"201": {}}}}}))
    yield Plant("other words", "#/info", with_members(description="-", summary="-"))
    yield Plant("no examples", "#/components/examples", lambda examples: {})
    yield Plant("other words", "#", _reworded)
    for pointer, operation in operations_of(contract):
        yield from _richer_operation(pointer, operation)
    for pointer, response in responses_of(contract).items():
        header = {"required": True, "schema": {"type": "string"}}
        yield Plant("new header", f"{pointer}/headers", with_members(New=header))
        links = {**response.get("links", {}), "new": {"operationId": "x"}}
        yield Plant("new link", pointer, with_members(links=links, description="-"))
    requests, answers = schemas_of_requests(contract), schemas_of_answers(contract)
    for pointer, schema in (requests | answers).items():
        if "properties" in schema:
            members = {**schema["properties"], "new": NEW}
            yield Plant("new member", pointer, with_members(properties=members))
    for pointer in requests.keys() - answers.keys():
        yield from (Plant(what, pointer, change) for what, change, _ in _wider(requests[pointer]))
    for pointer in answers.keys() - requests.keys():
        yield from (Plant(what, pointer, change) for what, change, _ in _narrower(answers[pointer]))


def _richer_operation(pointer: str, operation: Any) -> Iterator[Plant]:
    yield Plant("new method", pointer.rpartition("/")[0], with_members(patch=operation))
    yield Plant("other words", pointer, with_members(summary="-", description="-", tags=[], deprecated=True))
    for status in {"304", "429"} - operation["responses"].keys():
        yield Plant("new status", f"{pointer}/responses", with_members(**{status: {"description": "-"}}))
    optional: Any = {"name": "new", "in": "query", "schema": {"type": "string"}}
    yield Plant("new parameter", f"{pointer}/parameters", lambda known: [*known, optional])
    if "requestBody" in operation:
        yield Plant("body optional", f"{pointer}/requestBody", without("required"))


def _reworded(node: Any) -> Any:
    """A part of the contract with other words everywhere."""
    if isinstance(node, list):
        return [_reworded(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    return {
        name: "other words"
        if name in ("description", "summary") and isinstance(inner, str)
        else _reworded(inner)
        for name, inner in node.items()
    }


def _wider(schema: Schema) -> Kind:
    for what, change, _ in _bounds_widened(schema):
        if what != "another pattern":
            yield what, change, None
    if "enum" in schema:
        yield "enum grown", with_members(enum=[*schema["enum"], "new"]), None
    if "oneOf" in schema:
        yield "oneOf grown", with_members(oneOf=[*schema["oneOf"], NEW]), None
    if schema.get("required"):
        yield "member optional", with_members(required=schema["required"][1:]), None


def _narrower(schema: Schema) -> Kind:
    for what, change, rule in _bounds_narrowed(schema):
        if rule == "narrowed" and "pattern" not in (what.split()[-1], *schema):
            yield what, change, None
    if "properties" in schema:
        yield "always there", with_members(required=list(schema["properties"])), None
    for kind, more in (("enum", "new"), ("oneOf", NEW)):
        if kind in schema and schema.get("x-open"):
            yield f"open {kind} grown", with_members(**{kind: [*schema[kind], more]}), None
