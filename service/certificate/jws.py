"""Certificates: an outcome's canonical bytes signed as a compact JWS (RFC 7515) with Ed25519 (RFC 9864).

Nothing in a certificate depends on the clock or on chance: the same outcome under the same key gives the
same certificate, byte for byte.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import OKPKey
from joserfc.util import urlsafe_b64decode, urlsafe_b64encode

from service.certificate.canonical import canonical_bytes, check_canonical

ALGORITHM: Final = "Ed25519"
TYPE: Final = "russian-poker-outcome+jws"

_REGISTRY: Final = jws.JWSRegistry(algorithms=[ALGORITHM], strict_check_header=False)

KeyStatus: TypeAlias = Literal["active", "next", "retired", "revoked"]


class RefusedCertificate(ValueError):
    """A certificate that proves nothing. ``code`` is one of the fixed list below.

    ``malformed``, ``wrong-algorithm``, ``wrong-type``, ``unknown-key``, ``revoked-key``, ``bad-signature``
    and ``not-canonical``.
    """

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


@dataclass(frozen=True)
class VerificationKey:
    """A public key, how far it is trusted, and why not where it is revoked.

    ``development`` marks the published key with which anybody can sign.
    """

    public: OKPKey
    status: KeyStatus
    reason: str | None = None
    development: bool = False

    @property
    def kid(self) -> str:
        """The key's RFC 7638 thumbprint."""
        return self.public.thumbprint()

    def document(self) -> dict[str, Any]:
        """The key as ``/.well-known/jwks.json`` publishes it."""
        document = {
            "kty": "OKP",
            "crv": "Ed25519",
            "x": self.public.as_dict(private=False)["x"],
            "kid": self.kid,
            "alg": ALGORITHM,
            "use": "sig",
            "status": self.status,
        }
        if self.reason is not None:
            document["reason"] = self.reason
        return {**document, "development": True} if self.development else document


@dataclass(frozen=True)
class Signer:
    """The active private key, with the header that all its certificates share."""

    private: Ed25519PrivateKey
    header: bytes

    def sign(self, payload: bytes) -> str:
        """The compact JWS over a payload."""
        # By hand, since the header never changes: half the time of the library, whose reader checks it.
        signed = self.header + b"." + urlsafe_b64encode(payload)
        return (signed + b"." + urlsafe_b64encode(self.private.sign(signed))).decode()


def signer(private: Ed25519PrivateKey, key: VerificationKey) -> Signer:
    """A signer for a private key whose public half is ``key``."""
    return Signer(private, _encoded_header(key))


def certify(document: dict[str, Any], signer: Signer) -> dict[str, Any]:
    """The document with its certificate as the last member."""
    return {**document, "certificate": signer.sign(canonical_bytes(document))}


def open_certificate(
    certificate: str, keys: Mapping[str, VerificationKey]
) -> tuple[dict[str, Any], VerificationKey]:
    """The document that a certificate vouches for and the key that signed it; ``keys`` by kid.

    Raises ``RefusedCertificate``. Needs no network.
    """
    try:
        token = jws.extract_compact(certificate.strip().encode())
        header = token.headers()
    except (JoseError, ValueError, TypeError):
        parts = "three parts in base64url with dots between them, the first a header in JSON"
        raise RefusedCertificate("malformed", f"this is no compact JWS: {parts}") from None
    if header.get("alg") != ALGORITHM:
        raise RefusedCertificate(
            "wrong-algorithm", f"the algorithm must be {ALGORITHM}; got {header.get('alg')!r}"
        )
    if header.get("typ") != TYPE:
        raise RefusedCertificate("wrong-type", f"the type must be {TYPE}; got {header.get('typ')!r}")
    key = keys.get(str(header.get("kid")))
    if key is None:
        known = ", ".join(keys)
        raise RefusedCertificate("unknown-key", f"no key has the id {header.get('kid')!r}; known are {known}")
    if key.status == "revoked":
        raise RefusedCertificate("revoked-key", f"key {key.kid} is revoked: {key.reason}")
    if header != _header(key):
        raise RefusedCertificate("malformed", "the header has other members than this service writes")
    try:
        genuine = jws.validate_compact(token, key.public, registry=_REGISTRY)
    except (JoseError, ValueError):
        genuine = False
    if not genuine:
        raise RefusedCertificate(
            "bad-signature", "the signature does not fit: header or payload were altered"
        )
    return _document(token.payload), key


def headers(keys: Mapping[str, VerificationKey]) -> dict[str, VerificationKey]:
    """The keys whose certificates count, by the first part of every certificate that they sign."""
    return {_encoded_header(key).decode(): key for key in keys.values() if key.status != "revoked"}


def genuine_payload(certificate: str, by_header: Mapping[str, VerificationKey]) -> bytes | None:
    """The payload of a certificate with a good signature; None where only ``open_certificate`` can tell.

    Takes a fraction of its time, since it does not read the payload: that is to be compared with bytes known
    to be canonical. Raises ``ValueError`` for what is no base64url.
    """
    signed, _, signature = certificate.rpartition(".")
    header, _, payload = signed.partition(".")
    public = by_header[header].public.public_key if header in by_header else None
    if not isinstance(public, Ed25519PublicKey):
        return None
    try:
        public.verify(urlsafe_b64decode(signature.encode()), signed.encode())
    except InvalidSignature:
        return None
    return urlsafe_b64decode(payload.encode())


def _encoded_header(key: VerificationKey) -> bytes:
    return urlsafe_b64encode(canonical_bytes(_header(key)))


def _header(key: VerificationKey) -> dict[str, Any]:
    header = {"alg": ALGORITHM, "kid": key.kid, "typ": TYPE}
    return {**header, "development": True} if key.development else header


def _document(payload: bytes) -> dict[str, Any]:
    """The payload as the document whose canonical bytes it is."""
    try:
        document = orjson.loads(payload)
        check_canonical(document)
    except ValueError:
        document = None
    if not isinstance(document, dict) or canonical_bytes(document) != payload:
        raise RefusedCertificate("not-canonical", "the payload is not canonical JSON (RFC 8785)")
    return document
