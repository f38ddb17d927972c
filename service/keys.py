"""The keys of a deployment: one file holds those that sign outcomes and those that seal seeds.

The file is a JWK set (RFC 7517) with a ``status`` on each key: ``active`` signs or seals, ``next`` is
published before its turn, ``retired`` still verifies or opens, ``revoked`` never verifies again. Signing keys
are ``OKP``/``Ed25519``, sealing keys ``oct`` of 256 bits.
"""

import json
import os
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, NamedTuple, get_args

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, OctKey, OKPKey
from joserfc.util import urlsafe_b64encode

from service.certificate.jws import KeyStatus, Signer, VerificationKey, signer
from service.fairness.sealing import Sealer

DEVELOPMENT_NOTICE: Final = (
    "signed with the published development key: anybody can make such a certificate, so it proves nothing"
    " about who made it"
)
_STATUSES: Final = get_args(KeyStatus)


class MalformedKeys(ValueError):
    """A key file that cannot be used, or none where one is needed."""


class Keys(NamedTuple):
    """What signs, what verifies (by kid) and what seals."""

    signer: Signer
    verifying: Mapping[str, VerificationKey]
    sealer: Sealer

    @property
    def development(self) -> bool:
        """Whether any of the published development keys is among them."""
        return not _DEVELOPMENT_KIDS.isdisjoint({*self.verifying, *self.sealer.keys})

    def jwks(self) -> dict[str, Any]:
        """The public signing keys as a JWK set."""
        return {"keys": [key.document() for key in self.verifying.values()]}


def configured_keys() -> Keys:
    """The keys in the file that ``KEYS_FILE`` names, or in the text of ``KEYS``, else the development keys.

    Raises ``MalformedKeys``, also for the published development keys where ``PRODUCTION`` is set.
    """
    path, text = os.environ.get("KEYS_FILE"), os.environ.get("KEYS")
    where = f"KEYS_FILE {path}" if path else "KEYS"
    try:
        if path:
            text = Path(path).read_text(encoding="utf-8")
        keys = read_keys(development_keys() if text is None else json.loads(text))
    except json.JSONDecodeError as error:
        raise MalformedKeys(f"{where}: no JSON at line {error.lineno}, column {error.colno}") from None
    except (OSError, ValueError, RecursionError) as error:
        raise MalformedKeys(f"{where}: {error}") from None
    if os.environ.get("PRODUCTION") and keys.development:
        raise MalformedKeys(
            "PRODUCTION is set, where the published development keys prove and hide nothing;"
            " name a file of your own in KEYS_FILE (russian-poker keys new > keys.json)"
        )
    return keys


def read_keys(document: Any) -> Keys:
    """The keys of a JWK set with private parts. Raises ``MalformedKeys`` naming the entry that is wrong."""
    verifying = verification_keys(document)
    active: dict[str, list[OKPKey | OctKey]] = {"OKP": [], "oct": []}
    sealing: dict[str, OctKey] = {}
    for place, entry in enumerate(document["keys"]):
        key = _read_key(place, entry, private=True)
        if entry["status"] == "active":
            active[key.key_type].append(key)
        if isinstance(key, OctKey) and entry["status"] != "revoked":
            sealing[key.thumbprint()] = key
    for kind, purpose in (("OKP", "signs"), ("oct", "seals")):
        if len(active[kind]) != 1:
            raise MalformedKeys(f"exactly one active key {purpose} (kty {kind}); found {len(active[kind])}")
    signing, seal = active["OKP"][0], active["oct"][0]
    if not isinstance(signing.private_key, Ed25519PrivateKey):
        raise MalformedKeys("the active signing key needs its private part d")
    return Keys(
        signer(signing.private_key, verifying[signing.thumbprint()]),
        verifying,
        Sealer(seal.thumbprint(), sealing),
    )


def verification_keys(document: Any) -> dict[str, VerificationKey]:
    """The signing keys of a JWK set by kid, public parts only. Raises ``MalformedKeys``."""
    entries = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise MalformedKeys('keys are written as an object {"keys": [...]}')
    keys: dict[str, VerificationKey] = {}
    kids: set[str] = set()
    for place, entry in enumerate(entries):
        key = _read_key(place, entry, private=False)
        kid = key.thumbprint()
        if kid in kids:
            raise MalformedKeys(f"keys[{place}]: {kid} stands in the set already")
        kids.add(kid)
        if isinstance(key, OKPKey):
            published = kid in _DEVELOPMENT_KIDS
            keys[kid] = VerificationKey(key, entry["status"], entry.get("reason"), published)
    return keys


def _read_key(place: int, entry: Any, *, private: bool) -> OKPKey | OctKey:
    """One key of a set, checked."""
    try:
        key = _import_key(entry, private=private)
    except KeyError as error:
        raise MalformedKeys(f"keys[{place}]: {error} is missing") from None
    except (JoseError, ValueError, TypeError) as error:
        raise MalformedKeys(f"keys[{place}]: {str(error) or 'is no JWK'}") from None
    return key


def _import_key(entry: Any, *, private: bool) -> OKPKey | OctKey:
    if entry["status"] not in _STATUSES:
        raise ValueError(f"status must be one of {', '.join(_STATUSES)}; got {entry['status']!r}")
    reason = entry.get("reason", "" if entry["status"] == "revoked" else "none")
    if not isinstance(reason, str) or not reason.strip() or not reason.isprintable():
        raise ValueError("a reason is a line of text that verifiers are told; a revoked key needs one")
    secret = ("d",) if private else ()
    key = JWKRegistry.import_key(
        {name: entry[name] for name in ("kty", "crv", "x", "k", *secret) if name in entry}
    )
    if isinstance(key, OctKey):
        if len(key.raw_value) != 32:
            raise ValueError("a sealing key has 256 bits")
    elif not isinstance(key, OKPKey) or key.curve_name != "Ed25519":
        raise ValueError("a signing key is kty OKP, crv Ed25519")
    elif isinstance(key.private_key, Ed25519PrivateKey):
        public = urlsafe_b64encode(key.private_key.public_key().public_bytes_raw()).decode()
        if entry["x"] != public:
            raise ValueError("d and x do not belong together")
    if entry.get("kid", key.thumbprint()) != key.thumbprint():
        raise ValueError(f"kid must be the RFC 7638 thumbprint {key.thumbprint()}")
    return key


# What an operator does to a key file: documents in, documents out.


def new_keys() -> dict[str, Any]:
    """A fresh key file: an active and a next key of either kind."""
    return {"keys": [_new_key(kind, status) for kind in ("OKP", "oct") for status in ("active", "next")]}


def rotated_keys(document: Any) -> dict[str, Any]:
    """The file after a rotation: next becomes active, active retires, and a new next is made.

    A retired signing key loses its private part: it will only verify. Raises ``MalformedKeys``.
    """
    read_keys(document)
    turn = {"active": "retired", "next": "active"}
    keys = [{**key, "status": turn.get(key["status"], key["status"])} for key in document["keys"]]
    for key in keys:
        if key["kty"] == "OKP" and key["status"] == "retired":
            key.pop("d", None)
    rotated = {"keys": [*keys, _new_key("OKP", "next"), _new_key("oct", "next")]}
    read_keys(rotated)
    return rotated


def revoked_keys(document: Any, kid: str, reason: str) -> dict[str, Any]:
    """The file with one key revoked, and a new next key in place of a revoked next one.

    Raises ``MalformedKeys``, also for an unknown key and for an active one.
    """
    read_keys(document)
    keys = [dict(key) for key in document["keys"]]
    kids = [_read_key(place, key, private=False).thumbprint() for place, key in enumerate(keys)]
    if kid not in kids:
        raise MalformedKeys(f"no key has the kid {kid}; known are {', '.join(kids)}")
    found = keys[kids.index(kid)]
    if found["status"] == "active":
        raise MalformedKeys("the active key cannot be revoked: rotate first, then revoke it")
    if found["status"] == "next":
        keys.append(_new_key(found["kty"], "next"))
    found.update(status="revoked", reason=reason)
    found.pop("d", None)
    read_keys({"keys": keys})
    return {"keys": keys}


def development_keys() -> dict[str, Any]:
    """The fixed, published keys that are used where none are given: good for examples, worthless as proof."""
    text = b"russian-poker development key, known to everybody: "
    return {"keys": [_key(kind, "active", sha256(text + kind.encode()).digest()) for kind in ("OKP", "oct")]}


def _new_key(kind: str, status: str) -> dict[str, Any]:
    while True:
        key = _key(kind, status, os.urandom(32))
        if not key["kid"].startswith("-"):  # a command line would take it for an option
            return key


def _key(kind: str, status: str, secret: bytes) -> dict[str, Any]:
    encoded = urlsafe_b64encode(secret).decode()
    if kind == "oct":
        members: dict[str, Any] = {"kty": "oct", "k": encoded}
    else:
        public = Ed25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()
        x = urlsafe_b64encode(public).decode()
        members = {"kty": "OKP", "crv": "Ed25519", "x": x, "d": encoded}
    return {**members, "kid": JWKRegistry.import_key(members).thumbprint(), "status": status}


_DEVELOPMENT_KIDS: Final = frozenset(key["kid"] for key in development_keys()["keys"])
