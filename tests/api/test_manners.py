"""HTTP manners of every route: methods, caches, Accept, browsers of other origins, waiting, compression."""

import http.client
import re
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.api import create_app
from service.api.manners import SHARED, MalformedOrigins, configured_origins
from service.api.problems import PROBLEM_TYPES
from tests.api.calls import JSON, SETTLE, VERIFY, Api, is_problem, round_body
from tests.api.servers import serving
from tests.contract.document import OPERATIONS, resolve
from tests.contract.examples import damaged
from tests.docs.guides import guide, table

GET, POST = "GET, HEAD, OPTIONS", "OPTIONS, POST"
METHODS: Final = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "QUERY", "BREW")
CACHE: Final = {
    **dict.fromkeys(
        ["/v1/rulesets/<id>", *(f"/v1/conformance/<version>{part}" for part in ("", "/schema", "/readme"))],
        "public, max-age=86400, immutable",
    ),
    "/.well-known/jwks.json": "public, max-age=300",
    **dict.fromkeys(
        [
            "/v1/rulesets",
            "/v1/conformance",
            "/openapi.yaml",
            "/verify",
            "/problems",
            "/problems/<slug>",
            "/docs",
            "/docs/reference",
            "/docs/guides/<guide>",
            "/docs/<book>",
            "/docs/rulesets/<id>",
            "/docs/rulesets/<id>/<language>",
        ],
        "no-cache",
    ),
}
"""What a cache may keep; all else is ``no-store``."""
PLAYED: Final = (
    *(f"/v1/rounds/{verb}" for verb in ("settle", "settle-batch", "step", "void")),
    "/v1/fairness/seeds",
)
HTTP: Final = guide("http.md")
OURS, THEIRS = "https://play.example", "https://evil.example"
ID: Final = "manners-1"


class Resource(NamedTuple):
    """A route as the app knows it, and a request that succeeds there."""

    rule: str
    path: str
    method: str
    body: Any

    @property
    def allow(self) -> str:
        return GET if self.method == "GET" else POST

    def ask(self, client: FlaskClient, method: str = "", **headers: str) -> TestResponse:
        named = {name.replace("_", "-"): text for name, text in headers.items()}
        body: dict[str, Any] = {} if self.body is None else {"json": self.body}
        return client.open(
            self.path, method=method or self.method, headers={"X-Request-Id": ID, **named}, **body
        )


def resources(app: Flask) -> Iterator[Resource]:
    """Every route of the app but that of the pages' files, asked as the contract's examples do."""
    operations = {one.path: one for one in OPERATIONS}
    for rule in app.url_map.iter_rules():
        if rule.endpoint in ("static", "pages.reference_file", "options"):
            continue
        operation = operations[re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule.rule)]
        shown = {
            parameter["name"]: next(iter(parameter["examples"].values()))["value"]
            for parameter in map(resolve, operation.value["parameters"])
            if parameter["in"] == "path"
        }
        path = operation.path.format(**shown)
        body = None
        if operation.request_schema:
            examples = operation.value["requestBody"]["content"][JSON]["examples"]
            body = resolve(next(iter(examples.values())))["value"]
        yield Resource(rule.rule, path, operation.method.upper(), body)


@pytest.fixture(scope="module")
def all_resources(app: Flask) -> tuple[Resource, ...]:
    found = tuple(resources(app))
    assert len(found) == len({one.rule for one in found}) > 15
    return found


def with_origins(monkeypatch: pytest.MonkeyPatch, origins: str) -> FlaskClient:
    monkeypatch.setenv("CORS_ORIGINS", origins)
    return create_app().test_client()


def control(answer: TestResponse) -> dict[str, str]:
    """What an answer says to browsers."""
    return {name: text for name, text in answer.headers if name.startswith("Access-Control-")}


# Methods.


def test_every_method_of_every_resource(all_resources: tuple[Resource, ...], api: Api) -> None:
    for resource in all_resources:
        for method in METHODS:
            answer = resource.ask(api.client, method)
            told = f"{method} {resource.path}"
            assert answer.headers["X-Request-Id"] == ID, told
            if method in resource.allow:
                assert answer.status_code == 200, told
                continue
            assert (answer.status_code, answer.headers["Allow"]) == (405, resource.allow), told
            if method != "HEAD":
                assert method in is_problem(answer, "method-not-allowed")["detail"]


def test_a_slash_too_many_leads_nowhere(all_resources: tuple[Resource, ...], api: Api) -> None:
    for resource in all_resources:
        for path in (f"/{resource.path}", f"//{resource.path}", f"{resource.path}/", resource.path[1:]):
            for method in (resource.method, "OPTIONS", "PUT"):
                answer = api.client.open(
                    "/", method=method, json=resource.body, environ_overrides={"PATH_INFO": path}
                )
                assert is_problem(answer, "not-found"), path


def test_head_is_get_without_the_body(all_resources: tuple[Resource, ...], api: Api) -> None:
    """Whatever the status: found, not found, not changed."""
    readable = [one for one in all_resources if one.method == "GET"]
    for resource in [*readable, *(one._replace(path=f"{one.path}-not") for one in readable)]:
        for headers in ({}, {"If_None_Match": "*"}):
            get, head = (resource.ask(api.client, method, **headers) for method in ("GET", "HEAD"))
            assert (head.status_code, head.data) == (get.status_code, b""), resource.path
            if resource.rule == "/metrics":  # which count these requests
                assert set(head.headers.keys()) == set(get.headers.keys())
            else:
                assert list(head.headers) == list(get.headers), resource.path


@pytest.mark.parametrize("state", ["intact", "damaged"])
def test_options(state: str, all_resources: tuple[Resource, ...], api: Api) -> None:
    client = api.client if state == "intact" else damaged()
    for resource in all_resources:
        answer = client.options(resource.path, headers={"X-Request-Id": ID, "Accept": "text/html"})
        assert (answer.status_code, answer.data) == (204, b""), resource.path
        assert dict(answer.headers) == {"Allow": resource.allow, "X-Request-Id": ID}, resource.path
    for path in ("/", "/v1/rounds", f"{SETTLE}/"):
        is_problem(client.options(path), "not-found")


# Caches.


def test_what_caches_may_keep(all_resources: tuple[Resource, ...], api: Api) -> None:
    assert CACHE.keys() <= {one.rule for one in all_resources}
    for resource in all_resources:
        answer = resource.ask(api.client)
        assert answer.status_code == 200, resource.path
        assert answer.headers.getlist("Cache-Control") == [CACHE.get(resource.rule, "no-store")], (
            resource.rule
        )
        assert ("ETag" in answer.headers) == (resource.rule in CACHE), resource.rule
        assert "Vary" not in answer.headers, resource.rule


def test_the_guide_tells_caches_the_same(api: Api) -> None:
    rows = {
        path.strip("`"): text.strip("`") for path, text, _ in table(HTTP, "path", "`Cache-Control`", "why")
    }
    assert rows.pop("all others, and every problem") == "no-store"
    style = api.client.get("/static/page.css", buffered=True)
    assert rows.pop("/static/<path:filename>") == style.headers["Cache-Control"]
    assert style.headers["ETag"]
    assert rows == CACHE


def test_what_the_caller_has_is_not_sent_again(all_resources: tuple[Resource, ...], api: Api) -> None:
    for resource in (one for one in all_resources if one.rule in CACHE):
        first = resource.ask(api.client)
        etag = first.headers["ETag"]
        assert re.fullmatch('"[^"]+"', etag), "a strong one"
        for form in ("{}", "W/{}", '"other", {}', '"other",W/{}', "*"):
            again = resource.ask(api.client, If_None_Match=form.format(etag))
            assert (again.status_code, again.data) == (304, b""), (resource.path, form)
            assert again.headers["ETag"] == etag
            assert again.headers["Cache-Control"] == first.headers["Cache-Control"]
            assert again.headers["X-Request-Id"] == ID
            assert not {"Content-Digest", "Content-Length", "Content-Type"} & set(again.headers.keys())
        for form in ('"other"', f'W/"{etag[1:-2]}"', ""):
            again = resource.ask(api.client, If_None_Match=form)
            assert (again.status_code, again.data) == (200, first.data), (resource.path, form)


def test_a_tag_changes_with_what_it_stands_for(
    all_resources: tuple[Resource, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, api: Api
) -> None:
    """The list of rulesets has another tag where the list is another one; a ruleset keeps its own."""
    source = Path(__file__).parents[2] / "service" / "rulesets" / "trainer-1.toml"
    text = source.read_text(encoding="utf-8").replace('id = "trainer-1"', 'id = "house-1"')
    (tmp_path / "house-1.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("RULESETS_DIR", str(tmp_path))
    other = create_app().test_client()
    tags = {
        one.rule: (one.ask(api.client).headers["ETag"], one.ask(other).headers["ETag"])
        for one in all_resources
        if one.rule in CACHE
    }
    changed = {rule for rule, (before, after) in tags.items() if before != after}
    assert changed == {"/v1/rulesets", "/verify", "/docs"}


# Accept.


@pytest.mark.parametrize(
    ("accept", "readable"),
    [
        (None, True),
        ("", True),
        ("*/*", True),
        ("application/json", True),
        ("APPLICATION/JSON", True),
        ("application/*", True),
        ("application/problem+json", True),
        ("application/json; charset=utf-8", True),
        ("application/json;q=0.1, text/html", True),
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", True),
        ("application/json;q=0, */*", True),
        ("text/html", False),
        ("application/xml", False),
        ("text/*, image/png", False),
        ("*/*;q=0", False),
        ("application/json;q=0, application/x-ndjson;q=0, application/problem+json;q=0, */*", False),
        ("application/jsonp", False),
    ],
)
def test_who_cannot_read_json(
    accept: str | None, readable: bool, all_resources: tuple[Resource, ...], api: Api
) -> None:
    negotiated = ("/v1/rounds/", "/v1/hands/", "/v1/fairness/", "/v1/rulesets")
    headers = {} if accept is None else {"Accept": accept}
    for resource in all_resources:
        answer = resource.ask(api.client, **headers)
        if readable or not resource.rule.startswith(negotiated):
            assert answer.status_code == 200, resource.path
        else:
            problem = is_problem(answer, "not-acceptable")
            assert str(accept)[:100] in problem["detail"]
            assert answer.headers["X-Request-Id"] == ID


def test_nothing_is_computed_for_who_cannot_read_it(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def settled(*arguments: object) -> None:
        raise AssertionError("it was")

    monkeypatch.setattr("service.api.rounds.settle_request", settled)
    answer = api.send(SETTLE, b"{", {"Accept": "application/xml"})
    is_problem(answer, "not-acceptable")


# Problems.


def test_who_is_refused_knows_when_to_ask_again(api: Api) -> None:
    assert [slug for slug, type in PROBLEM_TYPES.items() if type.status == 503] == ["integrity-lost"]
    for path in (SETTLE, VERIFY):
        answer = damaged().post(path, json=round_body(), headers={"X-Request-Id": ID})
        is_problem(answer, "integrity-lost")
        assert (answer.headers["Retry-After"], answer.headers["X-Request-Id"]) == ("60", ID)
    assert "`Retry-After: 60`" in HTTP
    for slug, type in PROBLEM_TYPES.items():
        assert (type.retry_after is None) == (type.status != 503), slug


def refused(client: FlaskClient, resource: Resource) -> Iterator[TestResponse]:
    """Answers of refusals at one resource, of every kind that it has."""
    yield resource.ask(client, "PUT")
    yield client.get(f"{resource.path}/not")
    if resource.rule == "/v1/rulesets/<id>":
        yield client.get("/v1/rulesets/not")
    if resource.method == "POST":
        yield resource.ask(client, Accept="image/png")
        yield client.post(resource.path, data="{", content_type=JSON)
        yield client.post(resource.path, data="{}", content_type="text/plain")
        yield client.post(resource.path, data=b" " * 300_000, content_type=JSON)
        yield client.post(resource.path, json=[])
        yield client.post(
            resource.path,
            input_stream=BytesIO(b"{}"),
            content_type=JSON,
            headers={"Transfer-Encoding": "chunked"},
        )


def test_no_problem_is_kept_and_each_has_an_id(all_resources: tuple[Resource, ...], api: Api) -> None:
    statuses = set()
    for client in (api.client, damaged()):
        for resource in all_resources:
            for answer in refused(client, resource):
                assert answer.headers.getlist("Cache-Control") == ["no-store"], resource.path
                assert re.fullmatch("[0-9a-z.-]{1,48}", answer.headers["X-Request-Id"])
                statuses.add(answer.status_code)
    assert statuses == {400, 404, 405, 406, 411, 413, 415, 422, 503}


# Browsers of other origins.


def every_answer(client: FlaskClient, resource: Resource, **headers: str) -> Iterator[TestResponse]:
    yield resource.ask(client, **headers)
    yield resource.ask(client, If_None_Match="*", **headers)
    for method in ("HEAD", "OPTIONS", "PUT", "DELETE"):
        yield resource.ask(client, method, **headers)


def test_nothing_is_shared_by_default(all_resources: tuple[Resource, ...], api: Api) -> None:
    for resource in all_resources:
        for answer in every_answer(api.client, resource, Origin=OURS, Access_Control_Request_Method="POST"):
            assert control(answer) == {}, resource.path
            assert "Vary" not in answer.headers, resource.path


def test_shared_are_these(all_resources: tuple[Resource, ...]) -> None:
    assert {one.rule for one in all_resources} >= SHARED
    assert not SHARED & set(PLAYED)
    assert {path.strip("`") for path, _ in table(HTTP, "path", "for")} == SHARED


@pytest.mark.parametrize("configured", ["*", f"{OURS} http://127.0.0.1:3000"])
def test_what_pages_of_other_origins_may_read(
    configured: str, all_resources: tuple[Resource, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = with_origins(monkeypatch, configured)
    for resource in all_resources:
        for origin in (OURS, THEIRS, None):
            headers = {} if origin is None else {"Origin": origin}
            for answer in every_answer(client, resource, **headers):
                told = f"{resource.path}, {answer.status_code}, {origin}"
                shared = resource.rule in SHARED
                allowed = "*" if configured == "*" else origin if origin == OURS else None
                if not (shared and allowed):
                    assert control(answer) == {}, told
                elif answer.status_code == 204:
                    assert control(answer) == {
                        "Access-Control-Allow-Origin": allowed,
                        "Access-Control-Allow-Methods": resource.allow,
                        "Access-Control-Allow-Headers": "Content-Type, If-None-Match, X-Request-Id",
                        "Access-Control-Max-Age": "7200",
                    }, told
                else:
                    assert control(answer) == {
                        "Access-Control-Allow-Origin": allowed,
                        "Access-Control-Expose-Headers": "Content-Digest, ETag, Retry-After, X-Request-Id",
                    }, told
                varies = shared and configured != "*"
                assert answer.headers.getlist("Vary") == (["Origin"] if varies else []), told


@pytest.mark.parametrize("origin", ["null", f"{OURS}.evil.example", OURS.upper(), f"{OURS}:443", ""])
def test_another_origin_is_another_origin(origin: str, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = with_origins(monkeypatch, OURS).get("/v1/rulesets", headers={"Origin": origin})
    assert (control(answer), answer.headers["Vary"]) == ({}, "Origin")


def test_pages_may_read_why_they_are_refused(
    all_resources: tuple[Resource, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    client = with_origins(monkeypatch, "*")
    statuses = set()
    for resource in all_resources:
        for answer in refused(client, resource):
            if answer.request.path == resource.path:
                assert ("Access-Control-Allow-Origin" in answer.headers) == (resource.rule in SHARED)
                statuses.add(answer.status_code)
        assert control(client.get("/nowhere")) == {}
    assert statuses >= {400, 405, 406, 411, 413, 415, 422}
    assert control(client.get("/v1/rulesets/not"))
    lost = damaged()
    assert control(lost.post(VERIFY, json={})), "a 503 too"
    assert not control(lost.post(SETTLE, json={}))


@pytest.mark.parametrize("configured", ["", "  ", "\n"])
def test_nobody_is_nobody(configured: str, monkeypatch: pytest.MonkeyPatch) -> None:
    client = with_origins(monkeypatch, configured)
    assert control(client.get("/v1/rulesets", headers={"Origin": OURS})) == {}


@pytest.mark.parametrize(
    "wrong",
    [
        "play.example",
        "https://play.example/",
        "https://play.example,https://other.example",
        "https://*.example",
        "https://Play.example",
        "https://play.example:",
        "null",
        "file://",
        "https://user@play.example",
    ],
)
def test_what_is_no_origin_stops_the_start(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CORS_ORIGINS", f"{OURS} {wrong}")
    with pytest.raises(MalformedOrigins, match="CORS_ORIGINS"):
        create_app()


def test_what_is_an_origin(monkeypatch: pytest.MonkeyPatch) -> None:
    origins = {OURS, "http://127.0.0.1:3000", "http://[::1]:3000", "https://a-b.example:8443"}
    monkeypatch.setenv("CORS_ORIGINS", "\n".join(origins))
    assert configured_origins() == origins


# Compression.


def test_compression_is_left_to_the_proxy(all_resources: tuple[Resource, ...], api: Api) -> None:
    for resource in all_resources:
        for coding in ("gzip", "br, gzip;q=0.5", "gzip;q=1, identity;q=0"):
            answer = resource.ask(api.client, Accept_Encoding=coding)
            assert answer.status_code == 200
            assert {"Content-Encoding", "Vary"} & set(answer.headers.keys()) == set(), resource.path
            if resource.rule not in ("/metrics", "/v1/fairness/seeds"):
                assert answer.data == resource.ask(api.client).data


# All of it over a real connection.


def test_manners_over_the_wire(tmp_path: Path) -> None:
    with serving(tmp_path, WEB_CONCURRENCY="1", CORS_ORIGINS=OURS) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)

        def ask(method: str, path: str, body: bytes | None = None, **headers: str) -> Mapping[str, str]:
            named = {name.replace("_", "-"): text for name, text in headers.items()}
            connection.request(method, path, body, {"Origin": OURS, "X-Request-Id": ID, **named})
            answer = connection.getresponse()
            sent = answer.read()  # what came too much would spoil the next answer
            found = {name.lower(): text for name, text in answer.getheaders()}
            assert found["x-request-id"] == ID
            return {**found, "status": str(answer.status), "read": str(len(sent))}

        options = ask("OPTIONS", VERIFY)
        assert (options["status"], options["read"], options["allow"]) == ("204", "0", POST)
        assert options["access-control-allow-origin"] == OURS
        get, head = ask("GET", "/v1/rulesets"), ask("HEAD", "/v1/rulesets")
        assert (head["read"], head["content-length"]) == ("0", get["content-length"])
        kept = ask("GET", "/v1/rulesets", If_None_Match=get["etag"], Accept_Encoding="gzip")
        assert (kept["status"], kept["read"], kept["etag"]) == ("304", "0", get["etag"])
        assert (kept["cache-control"], kept["vary"]) == ("no-cache", "Origin")
        assert ask("PUT", SETTLE)["allow"] == POST
        assert ask("GET", "/v1/rulesets", Accept="image/png")["status"] == "406"
        large = ask("POST", SETTLE, b" " * 100_000, Content_Type=JSON)
        assert (large["status"], large["cache-control"]) == ("413", "no-store")
        assert "access-control-allow-origin" not in large
        connection.close()
