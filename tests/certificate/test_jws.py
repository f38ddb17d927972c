"""Certificates: what a genuine one consists of, and that nothing else passes for one."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from itertools import product
from typing import Any

import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from hypothesis import given, settings
from hypothesis import strategies as st
from joserfc.jwk import OKPKey

from service.certificate.jws import (
    TYPE,
    KeyStatus,
    RefusedCertificate,
    Signer,
    VerificationKey,
    certify,
    open_certificate,
    signer,
)

SECRET = bytes(range(32))
PRIVATE = Ed25519PrivateKey.from_private_bytes(SECRET)
PUBLIC = PRIVATE.public_key().public_bytes_raw()
URL_SAFE = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
DOCUMENT = {
    "status": "settled",
    "totals": {"net": -5},
    "reason": "bet 200 × 8",
    "none": None,
    "cards": ["Td"],
}

suite = settings(max_examples=60, derandomize=True, deadline=None, database=None)

json_names = st.text(st.characters(max_codepoint=0xFFFF, exclude_categories=["Cs"]), max_size=12)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(1 - 2**53, 2**53 - 1)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(json_names, inner, max_size=4),
    max_leaves=12,
)
documents = st.dictionaries(json_names, json_values, max_size=6)


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def unb64(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def a_key(
    private: Ed25519PrivateKey = PRIVATE,
    status: KeyStatus = "active",
    reason: str | None = None,
    development: bool = False,
) -> VerificationKey:
    x = b64(private.public_key().public_bytes_raw())
    public = OKPKey.import_key({"kty": "OKP", "crv": "Ed25519", "x": x})
    return VerificationKey(public, status, reason, development)


KEY = a_key()
KEYS = {KEY.kid: KEY}
SIGNER = signer(PRIVATE, KEY)
HEADER = {"alg": "Ed25519", "kid": KEY.kid, "typ": TYPE}


def signed(header: bytes, payload: bytes, private: Ed25519PrivateKey = PRIVATE) -> str:
    """A compact JWS made by hand."""
    text = f"{b64(header)}.{b64(payload)}"
    return f"{text}.{b64(private.sign(text.encode()))}"


def with_header(**members: Any) -> str:
    """A certificate that the right key signed under a header with other members; ... leaves one out."""
    header = {name: value for name, value in {**HEADER, **members}.items() if value is not ...}
    return signed(json.dumps(header).encode(), rfc8785.dumps(DOCUMENT))


def refusal(certificate: str, keys: Mapping[str, VerificationKey] = KEYS) -> str:
    with pytest.raises(RefusedCertificate) as caught:
        open_certificate(certificate, keys)
    assert str(caught.value), "a refusal is explained"
    return caught.value.code


def test_signatures_are_those_of_the_published_example() -> None:
    """RFC 8037, appendix A: its key, its thumbprint, its signature."""
    secret = unb64("nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A")
    private = Ed25519PrivateKey.from_private_bytes(secret)
    assert a_key(private).kid == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"
    header = b64(b'{"alg":"EdDSA"}').encode()
    assert Signer(private, header).sign(b"Example of Ed25519 signing") == (
        "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
    )


def test_a_certificate_is_a_compact_jws_of_its_document() -> None:
    certified = certify(DOCUMENT, SIGNER)
    assert list(certified) == [*DOCUMENT, "certificate"]
    header, payload, signature = certified["certificate"].split(".")
    assert json.loads(unb64(header)) == {"alg": "Ed25519", "kid": KEY.kid, "typ": TYPE}
    assert unb64(payload) == rfc8785.dumps(DOCUMENT)
    Ed25519PublicKey.from_public_bytes(PUBLIC).verify(unb64(signature), f"{header}.{payload}".encode())
    assert open_certificate(certified["certificate"], KEYS) == (DOCUMENT, KEY)


def test_the_key_id_is_the_thumbprint_of_rfc_7638() -> None:
    members = {"crv": "Ed25519", "kty": "OKP", "x": b64(PUBLIC)}
    assert KEY.kid == b64(hashlib.sha256(rfc8785.dumps(members)).digest())


def test_the_development_key_says_so_in_the_header() -> None:
    key = a_key(development=True)
    certificate = certify(DOCUMENT, signer(PRIVATE, key))["certificate"]
    assert json.loads(unb64(certificate.split(".")[0])) == {**HEADER, "development": True}
    assert open_certificate(certificate, {key.kid: key}) == (DOCUMENT, key)


@given(documents)
@suite
def test_any_document_is_signed_in_its_canonical_form_and_opened_again(document: dict[str, Any]) -> None:
    certificate = certify(document, SIGNER)["certificate"]
    assert unb64(certificate.split(".")[1]) == rfc8785.dumps(document)
    assert open_certificate(certificate, KEYS)[0] == document
    assert certify(document, SIGNER)["certificate"] == certificate


def test_every_character_counts() -> None:
    certificate = certify(DOCUMENT, SIGNER)["certificate"]
    for place, character in enumerate(certificate):
        for bit in (1, 2, 4, 8, 16, 32):
            other = URL_SAFE[bit if character == "." else URL_SAFE.index(character) ^ bit]
            refusal(certificate[:place] + other + certificate[place + 1 :])
        refusal(certificate[:place] + "." + certificate[place + 1 :] if character != "." else certificate[1:])


def test_nothing_may_be_added_or_cut_off() -> None:
    certificate = certify(DOCUMENT, SIGNER)["certificate"]
    for place in range(len(certificate) + 1):
        refusal(certificate[:place] + "A" + certificate[place:])
        refusal(certificate[:place] + "=" + certificate[place:])
        refusal(certificate[:place] + "!" + certificate[place:])
        if place < len(certificate):
            refusal(certificate[:place])
            refusal(certificate[:place] + certificate[place + 1 :])
        if 0 < place < len(certificate):
            refusal(certificate[:place] + "\n" + certificate[place:])


def test_no_text_but_a_certificate_is_opened() -> None:
    header, payload, signature = certify(DOCUMENT, SIGNER)["certificate"].split(".")
    for text in (
        "",
        ".",
        "..",
        "...",
        "a.b.c",
        header,
        f"{header}.{payload}",
        f"{header}.{payload}.",
        f"{header}..{signature}",
        f".{payload}.{signature}",
        f"{header}.{payload}.{signature}.",
        f"{header}.{payload}.{signature}.{signature}",
        json.dumps({"protected": header, "payload": payload, "signature": signature}),
        "\ud800",
        "ключ.ключ.ключ",
    ):
        refusal(text)


@given(st.text(max_size=60) | st.lists(st.text(URL_SAFE, max_size=40), min_size=3, max_size=3).map(".".join))
@suite
def test_whatever_is_shown_meets_a_refusal_and_no_other_error(text: str) -> None:
    refusal(text)


@given(st.binary(max_size=80) | documents.map(rfc8785.dumps) | json_values.map(rfc8785.dumps))
@suite
def test_whatever_the_header_meets_a_refusal(header: bytes) -> None:
    refusal(signed(header, rfc8785.dumps(DOCUMENT)))


@pytest.mark.parametrize("depth", [100, 250, 500, 900, 20_000])
def test_a_deeply_nested_header_meets_a_refusal(depth: int) -> None:
    deep = "[" * depth + "]" * depth
    for header in (deep, f'{{"alg":{deep}}}', f'{{"alg":"Ed25519","typ":"{TYPE}","kid":{deep}}}'):
        refusal(signed(header.encode(), rfc8785.dumps(DOCUMENT)))


ALGORITHMS = ["none", "None", "HS256", "EdDSA", "RS256", "ES256", "Ed448", "ed25519", "", 5, None, [], ...]


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=repr)
def test_another_algorithm_is_refused_though_the_right_key_signed(algorithm: Any) -> None:
    code = refusal(with_header(alg=algorithm))
    assert code == ("wrong-algorithm" if isinstance(algorithm, str | int) else code)


def test_no_signature_is_none() -> None:
    header = b64(json.dumps({**HEADER, "alg": "none"}).encode())
    assert refusal(f"{header}.{b64(rfc8785.dumps(DOCUMENT))}.") == "wrong-algorithm"


def test_the_public_key_is_no_shared_secret() -> None:
    members = KEY.public.as_dict(private=False)
    texts = (str(members["x"]).encode(), json.dumps(members).encode(), rfc8785.dumps(dict(members)))
    secrets = (PUBLIC, *texts, KEY.public.as_pem(private=False), KEY.public.as_der(private=False))
    for secret, algorithm in product(secrets, ("HS256", "Ed25519")):
        header = b64(json.dumps({**HEADER, "alg": algorithm}).encode())
        text = f"{header}.{b64(rfc8785.dumps(DOCUMENT))}"
        signature = hmac.digest(secret, text.encode(), "sha256")
        expected = "wrong-algorithm" if algorithm == "HS256" else "bad-signature"
        assert refusal(f"{text}.{b64(signature)}") == expected


@pytest.mark.parametrize(
    "type", ["JWT", "jws", "application/" + TYPE, TYPE.upper(), "", None, 5, [TYPE], ...]
)
def test_another_type_is_refused_though_the_right_key_signed(type: Any) -> None:
    assert refusal(with_header(typ=type)) == "wrong-type"


@pytest.mark.parametrize(
    "kid", ["", "x", None, 5, [], {}, KEY.kid[:-1], KEY.kid + "=", KEY.kid.lower(), ...], ids=repr
)
def test_an_unknown_key_is_refused(kid: Any) -> None:
    assert refusal(with_header(kid=kid)) == "unknown-key"


@pytest.mark.parametrize(
    "members",
    [
        {"crit": ["b64"], "b64": False},
        {"crit": ["exp"], "exp": 1},
        {"crit": []},
        {"jwk": {"kty": "OKP", "crv": "Ed25519", "x": b64(PUBLIC)}},
        {"jku": "http://127.0.0.1:9/jwks.json"},
        {"x5c": ["AAAA"]},
        {"cty": "json"},
        {"development": True},
        {"development": False},
    ],
    ids=repr,
)
def test_a_header_with_more_members_is_refused(members: dict[str, Any]) -> None:
    assert refusal(with_header(**members)) == "malformed"


def test_the_development_key_cannot_hide_itself() -> None:
    key = a_key(development=True)
    assert refusal(with_header(), {key.kid: key}) == "malformed"


def test_a_key_brought_along_is_not_believed() -> None:
    foreign = Ed25519PrivateKey.from_private_bytes(bytes(32))
    x = b64(foreign.public_key().public_bytes_raw())
    header = {**HEADER, "jwk": {"kty": "OKP", "crv": "Ed25519", "x": x}}
    refusal(signed(json.dumps(header).encode(), rfc8785.dumps(DOCUMENT), foreign))


def test_another_key_under_this_ones_id_is_refused() -> None:
    foreign = Ed25519PrivateKey.from_private_bytes(bytes(32))
    header = rfc8785.dumps(HEADER)
    assert refusal(signed(header, rfc8785.dumps(DOCUMENT), foreign)) == "bad-signature"


def test_signature_and_payload_of_two_certificates_do_not_mix() -> None:
    header, payload, signature = certify(DOCUMENT, SIGNER)["certificate"].split(".")
    _, other_payload, other_signature = certify({**DOCUMENT, "status": "void"}, SIGNER)["certificate"].split(
        "."
    )
    assert refusal(f"{header}.{other_payload}.{signature}") == "bad-signature"
    assert refusal(f"{header}.{payload}.{other_signature}") == "bad-signature"


@pytest.mark.parametrize("status", ["active", "next", "retired"])
def test_keys_that_are_not_revoked_verify(status: KeyStatus) -> None:
    key = a_key(status=status)
    certificate = certify(DOCUMENT, SIGNER)["certificate"]
    assert open_certificate(certificate, {key.kid: key}) == (DOCUMENT, key)


def test_a_revoked_key_does_not_verify_and_the_reason_is_told() -> None:
    key = a_key(status="revoked", reason="its notebook was stolen")
    certificate = certify(DOCUMENT, SIGNER)["certificate"]
    with pytest.raises(RefusedCertificate, match="its notebook was stolen") as caught:
        open_certificate(certificate, {key.kid: key})
    assert caught.value.code == "revoked-key"


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b" ",
        b"{}\n",
        b' {"a":1}',
        b'{"a": 1}',
        b'{"b":1,"a":2}',
        b'{"a":1,"a":1}',
        b'{"a":"\\/"}',
        b'{"a":"\\u0041"}',
        b'{"a":"\\u001F"}',
        b'{"a":-0}',
        b'{"a":01}',
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":1e999}',
        b'{"a":"\xff"}',
        b'{"a":"\\ud800"}',
        b'\xef\xbb\xbf{"a":1}',
        b'{"a":1}'.decode().encode("utf-16"),
        b"[]",
        b"[{}]",
        b'"a"',
        b"1",
        b"null",
        b"true",
        b"{",
        b"Example of Ed25519 signing",
    ],
    ids=repr,
)
def test_a_payload_that_is_no_canonical_object_is_refused_though_signed(payload: bytes) -> None:
    assert refusal(SIGNER.sign(payload)) == "not-canonical"


@pytest.mark.parametrize(
    "payload",
    ['{"a":107.0}', '{"a":1e300}', '{"a":9007199254740993}', '{"\uffff":1,"\U00010000":2}'],
    ids=["a whole number with a fraction", "a float", "more than 53 bits", "names by code point"],
)
def test_what_rfc_8785_would_write_otherwise_is_refused(payload: str) -> None:
    """It writes 107 and 1e+300, has no integers beyond 53 bits and sorts names by UTF-16 units."""
    assert refusal(SIGNER.sign(payload.encode())) == "not-canonical"


@pytest.mark.parametrize("depth", [31, 32, 100, 200, 253, 254, 255, 500, 1000, 1023, 1024, 5000, 60_000])
def test_a_payload_is_nested_no_deeper_than_a_request(depth: int) -> None:
    certificate = SIGNER.sign(b'{"a":' + b"[" * depth + b"]" * depth + b"}")
    if depth < 32:  # as deep as a request
        assert "a" in open_certificate(certificate, KEYS)[0]
        return
    assert refusal(certificate) in ("not-canonical", "malformed")


def test_a_key_is_published_without_its_private_part() -> None:
    private = OKPKey.import_key({"kty": "OKP", "crv": "Ed25519", "x": b64(PUBLIC), "d": b64(SECRET)})
    assert VerificationKey(private, "active").document() == {
        "kty": "OKP",
        "crv": "Ed25519",
        "x": b64(PUBLIC),
        "kid": KEY.kid,
        "alg": "Ed25519",
        "use": "sig",
        "status": "active",
    }
    assert a_key(status="revoked", reason="stolen").document()["reason"] == "stolen"
    assert a_key(development=True).document()["development"] is True
