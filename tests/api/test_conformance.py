"""``/v1/conformance``: the kits as they are published."""

import json
from hashlib import sha256

import pytest

from service.conformance import kits
from tests.api.calls import Api, content_digest, is_problem
from tests.conformance.kit import FILE
from tests.contract.document import CONTRACT_DOCUMENT

LIST = "/v1/conformance"
FILES = {"kit": "kit.json", "schema": "schema.json", "readme": "README.md"}


def test_the_list_says_what_there_is(api: Api) -> None:
    answer = api.client.get(LIST)
    (kit,) = answer.get_json()["kits"]
    stored = json.loads(FILE.read_bytes())
    assert (kit["version"], kit["engine"]) == (stored["kit"], stored["engine"]["version"])
    assert kit["cases"] == len(stored["cases"])
    assert answer.headers["Content-Digest"] == content_digest(answer.data)


@pytest.mark.parametrize("name", FILES)
def test_each_file_is_as_listed_and_never_changes(name: str, api: Api) -> None:
    file = api.client.get(LIST).get_json()["kits"][0][name]
    answer = api.client.get(file["path"])
    assert answer.data == (FILE.parent / FILES[name]).read_bytes()
    assert (answer.mimetype, len(answer.data)) == (file["media_type"], file["bytes"])
    assert file["digest"] == f"sha256:{sha256(answer.data).hexdigest()}"
    assert answer.headers["ETag"] == f'"{file["digest"]}"'
    assert answer.headers["Cache-Control"] == "public, max-age=86400, immutable"
    assert ("Content-Digest" in answer.headers) == (name == "kit")
    again = api.client.get(file["path"], headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, again.data) == (304, b"")
    assert "Content-Digest" not in again.headers


def test_the_readme_is_text_in_utf_8(api: Api) -> None:
    assert api.client.get(f"{LIST}/1/readme").content_type == "text/markdown; charset=utf-8"


@pytest.mark.parametrize("path", ["/2", "/0", "/01", "/1/", "/kit", "/2/schema", "/1/license", "/../1", "/"])
def test_nothing_else_is_there(path: str, api: Api) -> None:
    is_problem(api.client.get(LIST + path), "not-found")


def test_the_excerpt_in_the_contract_is_one_of_the_kit() -> None:
    operation = CONTRACT_DOCUMENT["paths"][f"{LIST}/{{version}}"]["get"]
    (example,) = operation["responses"]["200"]["content"]["application/json"]["examples"].values()
    excerpt, stored = example["value"], json.loads(FILE.read_bytes())
    assert set(excerpt) == set(stored)
    assert excerpt["engine"] == stored["engine"]
    assert excerpt["kinds"].items() <= stored["kinds"].items()
    assert all(case in stored["cases"] for case in excerpt["cases"])


def test_kits_are_found_by_their_versions_as_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert list(kits.published()) == sorted(kits.published(), key=int)
    found = {version: kits.published()["1"] for version in ("9", "10", "2")}
    monkeypatch.setattr(kits, "published", lambda: found)
    loaded: list[bytes] = []
    monkeypatch.setattr(kits, "load_kit", loaded.append)
    found["10"] = {**found["10"], "kit": found["10"]["kit"]._replace(content=b"newest")}
    kits.newest_kit()
    assert loaded == [b"newest"]
