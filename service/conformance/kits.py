"""The kits: golden vectors, each version a folder with the vectors, their schema and a README.

A published version never changes. What a case means is told by the schema; the names here are its names.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from service.certificate.differences import ABSENT
from service.certificate.jws import RefusedCertificate, VerificationKey, open_certificate
from service.keys import verification_keys

_FOLDER: Final = Path(__file__).parent / "kits"
_FILES: Final = {
    "kit": ("kit.json", "application/json"),
    "schema": ("schema.json", "application/schema+json"),
    "readme": ("README.md", "text/markdown"),
}
Document = dict[str, Any]


class MalformedKit(ValueError):
    """A file that is no kit, or whose own certificates are not genuine."""


class Rules(NamedTuple):
    """What goes for all answers of a kind: see ``kinds`` in the schema."""

    about: str
    media_type: str
    headers: Mapping[str, Sequence[str]] = {}
    content_digest: bool = False
    certified: bool = False
    keys: bool = False
    free: Sequence[Document] = ()
    telling: Sequence[str] = ()


class Call(NamedTuple):
    """The request of a case: see ``request`` in the schema."""

    method: str
    path: str
    body: Any = ABSENT
    text: str | None = None
    base64: str | None = None
    repeat: int = 1
    content_type: str = "application/json"
    accept: str = "*/*"
    put: Sequence[Document] = ()


class Expected(NamedTuple):
    """What has to be answered: see ``answer`` in the schema."""

    status: int
    body: Any
    headers: Mapping[str, Sequence[str]] = {}
    free: Sequence[Document] = ()
    put: Sequence[Document] = ()


class Case(NamedTuple):
    """One request and what it has to be answered with."""

    id: str
    kind: str
    clauses: Sequence[str]
    request: Call
    answer: Expected


class Kit(NamedTuple):
    """The cases of one version in the order in which they are asked, and the rules by kind."""

    version: int
    kinds: Mapping[str, Rules]
    cases: Sequence[Case]


def newest_kit() -> Kit:
    """The newest kit that comes with this release."""
    return load_kit(published()[max(published(), key=int)]["kit"].content)


def load_kit(content: bytes) -> Kit:
    """A kit from the bytes of its file. Raises ``MalformedKit``."""
    try:
        document = orjson.loads(content)
        keys = verification_keys({"keys": document["keys"]})
        kinds = {kind: Rules(**rules) for kind, rules in document["kinds"].items()}
        cases = [_case(keys, **case) for case in document["cases"]]
        _check(kinds, cases)
        return Kit(document["kit"], kinds, cases)
    except (KeyError, TypeError, AttributeError, ValueError, re.error) as error:
        raise MalformedKit(f"this is no kit that can be run: {error}") from None


def _case(
    keys: Mapping[str, VerificationKey],
    id: str,
    kind: str,
    clauses: Sequence[str],
    request: Document,
    answer: Document,
    certificate: str | None = None,
) -> Case:
    """One case of a kit, its golden certificate held against the outcome that it has to vouch for."""
    if certificate is not None:
        try:
            vouched, _ = open_certificate(certificate, keys)
        except RefusedCertificate as error:
            raise MalformedKit(f"the certificate of {id} is not genuine: {error}") from None
        if vouched != answer["body"]:
            raise MalformedKit(f"the certificate of {id} vouches for another outcome")
    return Case(id, kind, clauses, Call(**request), Expected(**answer))


def _check(kinds: Mapping[str, Rules], cases: Sequence[Case]) -> None:
    """Whether patterns can be read, each case has a kind and takes parts of earlier answers only."""
    for free in chain(*(rules.free for rules in kinds.values()), *(case.answer.free for case in cases)):
        re.compile(free["pattern"])
    earlier = set[str]()
    for case in cases:
        sources = {put["from"]["case"] for put in (*case.request.put, *case.answer.put) if "from" in put}
        if case.id in earlier or case.kind not in kinds or not sources <= earlier:
            raise MalformedKit(f"{case.id} stands twice, is of no known kind or takes from a later case")
        earlier.add(case.id)


class File(NamedTuple):
    """One file of a kit as it is published."""

    media_type: str
    content: bytes
    digest: str


@cache
def published() -> Mapping[str, Mapping[str, File]]:
    """The kits of this release by version, the files of each by name: ``kit``, ``schema``, ``readme``."""
    folders = sorted((folder for folder in _FOLDER.iterdir()), key=lambda folder: int(folder.name))
    return {
        folder.name: {
            name: _file((folder / file).read_bytes(), media_type)
            for name, (file, media_type) in _FILES.items()
        }
        for folder in folders
    }


def _file(content: bytes, media_type: str) -> File:
    return File(media_type, content, "sha256:" + sha256(content).hexdigest())


@cache
def listing() -> Document:
    """What there is to download, as ``/v1/conformance`` shows it."""
    return {"kits": [_listed(version, files) for version, files in published().items()]}


def _listed(version: str, files: Mapping[str, File]) -> Document:
    kit = orjson.loads(files["kit"].content)
    paths = {"kit": "", "schema": "/schema", "readme": "/readme"}
    return {
        "version": kit["kit"],
        "engine": kit["engine"]["version"],
        "cases": len(kit["cases"]),
        **{
            name: {
                "path": f"/v1/conformance/{version}{paths[name]}",
                "media_type": file.media_type,
                "bytes": len(file.content),
                "digest": file.digest,
            }
            for name, file in files.items()
        },
    }
