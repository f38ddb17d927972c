"""Key files: what they hold, how they turn over the years, and every way in which one can be wrong."""

import base64
import hashlib
import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from service.api import create_app
from service.certificate.jws import RefusedCertificate, certify, open_certificate
from service.fairness.sealing import RefusedSeal
from service.keys import (
    Keys,
    MalformedKeys,
    configured_keys,
    development_keys,
    new_keys,
    read_keys,
    revoked_keys,
    rotated_keys,
    verification_keys,
)

Document = dict[str, Any]
OUTCOME = {"status": "settled"}
SEED = bytes(range(32))
SIGN, NEXT_SIGN, SEAL, NEXT_SEAL = range(4)


@pytest.fixture(autouse=True)
def _nothing_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KEYS_FILE", "KEYS", "PRODUCTION"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def key_file() -> Document:
    return new_keys()


def altered(document: Document, place: int, **members: Any) -> Document:
    """The file with other members in the entry at a place; ... leaves one out."""
    copied = deepcopy(document)
    copied["keys"][place].update(members)
    entry = copied["keys"][place]
    copied["keys"][place] = {name: value for name, value in entry.items() if value is not ...}
    return copied


def with_entries(document: Document, *entries: Document) -> Document:
    return {"keys": [*document["keys"], *entries]}


def thumbprint(entry: Document) -> str:
    """RFC 7638, by hand."""
    names = {"OKP": ("crv", "kty", "x"), "oct": ("k", "kty")}[entry["kty"]]
    digest = hashlib.sha256(rfc8785.dumps({name: entry[name] for name in names})).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def certificate_of(keys: Keys) -> str:
    certificate = certify(OUTCOME, keys.signer)["certificate"]
    assert isinstance(certificate, str)
    return certificate


def opens(certificate: str, keys: Keys) -> bool:
    return open_certificate(certificate, keys.verifying)[0] == OUTCOME


def members_of(document: Any) -> Iterator[str]:
    """The names of all members, however deep."""
    if isinstance(document, dict):
        for name, inner in document.items():
            yield name
            yield from members_of(inner)
    elif isinstance(document, list):
        for inner in document:
            yield from members_of(inner)


def refusal(document: Any) -> str:
    with pytest.raises(MalformedKeys) as caught:
        read_keys(document)
    return str(caught.value)


# A key file.


def test_a_new_file_has_an_active_and_a_next_key_of_either_kind(key_file: Document) -> None:
    assert [(key["kty"], key["status"]) for key in key_file["keys"]] == [
        ("OKP", "active"),
        ("OKP", "next"),
        ("oct", "active"),
        ("oct", "next"),
    ]
    assert [key["kid"] for key in key_file["keys"]] == [thumbprint(key) for key in key_file["keys"]]
    assert all(
        len(base64.urlsafe_b64decode(key.get("d", key.get("k")) + "=")) == 32 for key in key_file["keys"]
    )


def test_no_two_new_files_share_a_secret(key_file: Document) -> None:
    files = [key_file, new_keys(), new_keys()]
    secrets = {key.get("d", key.get("k")) for file in files for key in file["keys"]}
    assert len(secrets) == 12


def test_public_and_private_parts_belong_together(key_file: Document) -> None:
    for key in key_file["keys"][: NEXT_SIGN + 1]:
        private = Ed25519PrivateKey.from_private_bytes(base64.urlsafe_b64decode(key["d"] + "="))
        assert base64.urlsafe_b64decode(key["x"] + "=") == private.public_key().public_bytes_raw()


def test_the_active_keys_sign_and_seal_and_all_verify_and_open(key_file: Document) -> None:
    keys = read_keys(key_file)
    assert opens(certificate_of(keys), keys)
    assert [(kid, key.status) for kid, key in keys.verifying.items()] == [
        (key_file["keys"][SIGN]["kid"], "active"),
        (key_file["keys"][NEXT_SIGN]["kid"], "next"),
    ]
    assert keys.sealer.active == key_file["keys"][SEAL]["kid"]
    assert set(keys.sealer.keys) == {key_file["keys"][SEAL]["kid"], key_file["keys"][NEXT_SEAL]["kid"]}


@pytest.mark.parametrize("place", range(4))
def test_a_kid_may_be_left_out(key_file: Document, place: int) -> None:
    keys = read_keys(altered(key_file, place, kid=...))
    assert (keys.verifying.keys(), keys.sealer) == (
        read_keys(key_file).verifying.keys(),
        read_keys(key_file).sealer,
    )


def test_the_published_set_holds_public_parts_only(key_file: Document) -> None:
    file = revoked_keys(rotated_keys(rotated_keys(key_file)), key_file["keys"][SIGN]["kid"], "stolen")
    published = read_keys(file).jwks()
    assert [(key["kty"], key["status"]) for key in published["keys"]] == [
        ("OKP", "revoked"),
        ("OKP", "retired"),
        ("OKP", "active"),
        ("OKP", "next"),
    ]
    assert set(members_of(published)) == {
        "keys",
        "kty",
        "crv",
        "x",
        "kid",
        "alg",
        "use",
        "status",
        "reason",
    }
    secrets = [key.get("d") or key.get("k") for key in [*key_file["keys"], *file["keys"]]]
    assert not any(secret in json.dumps(published) for secret in secrets if secret)


def test_the_published_set_is_enough_to_verify(key_file: Document) -> None:
    keys = read_keys(key_file)
    published = json.loads(json.dumps(keys.jwks()))
    assert open_certificate(certificate_of(keys), verification_keys(published))[0] == OUTCOME


# The years.


def test_an_old_certificate_outlives_two_rotations_and_more(key_file: Document) -> None:
    certificates = []
    file = key_file
    for _ in range(4):
        certificates.append(certificate_of(read_keys(file)))
        file = rotated_keys(file)
        keys = read_keys(file)
        assert all(opens(certificate, keys) for certificate in certificates)
    assert len({certificate.split(".")[0] for certificate in certificates}) == 4, "each by a key of its own"


def test_a_rotation_moves_every_key_one_step(key_file: Document) -> None:
    before = deepcopy(key_file)
    once = rotated_keys(key_file)["keys"]
    assert key_file == before, "the file given is left as it was"
    assert [key["status"] for key in once] == ["retired", "active", "retired", "active", "next", "next"]
    assert [key["kty"] for key in once] == ["OKP", "OKP", "oct", "oct", "OKP", "oct"]
    assert [key["kid"] for key in once[:4]] == [key["kid"] for key in key_file["keys"]]
    assert "d" not in once[SIGN], "a retired key signs no more"
    assert once[SEAL]["k"] == key_file["keys"][SEAL]["k"], "a retired key still opens"
    assert once[NEXT_SIGN]["d"] == key_file["keys"][NEXT_SIGN]["d"]


def test_verifiers_know_a_key_before_it_signs(key_file: Document) -> None:
    published = verification_keys(read_keys(key_file).jwks())
    later = certificate_of(read_keys(rotated_keys(key_file)))
    assert open_certificate(later, published)[1].status == "next"


def test_seals_outlive_rotations_until_their_key_is_removed(key_file: Document) -> None:
    sealed = read_keys(key_file).sealer.seal(SEED)
    file = rotated_keys(rotated_keys(key_file))
    assert read_keys(file).sealer.open(sealed) == SEED
    del file["keys"][SEAL]
    with pytest.raises(RefusedSeal, match=key_file["keys"][SEAL]["kid"]):
        read_keys(file).sealer.open(sealed)


def test_a_revoked_key_verifies_no_more_and_says_why(key_file: Document) -> None:
    old = certificate_of(read_keys(key_file))
    rotated = rotated_keys(key_file)
    newer = certificate_of(read_keys(rotated))
    kid = key_file["keys"][SIGN]["kid"]
    file = revoked_keys(rotated, kid, "the safe was opened")
    for keys in (read_keys(file), read_keys(rotated_keys(rotated_keys(file)))):
        with pytest.raises(RefusedCertificate, match=f"{kid} is revoked: the safe was opened") as caught:
            open_certificate(old, keys.verifying)
        assert caught.value.code == "revoked-key"
        assert opens(newer, keys)


def test_a_next_key_may_be_revoked_and_loses_its_private_part(key_file: Document) -> None:
    file = revoked_keys(key_file, key_file["keys"][NEXT_SIGN]["kid"], "copied")
    assert file["keys"][NEXT_SIGN] == {
        **{name: value for name, value in key_file["keys"][NEXT_SIGN].items() if name != "d"},
        "status": "revoked",
        "reason": "copied",
    }
    assert key_file["keys"][NEXT_SIGN]["status"] == "next", "the file given is left as it was"


def test_a_revoked_sealing_key_opens_nothing(key_file: Document) -> None:
    sealed = read_keys(key_file).sealer.seal(SEED)
    file = revoked_keys(rotated_keys(key_file), key_file["keys"][SEAL]["kid"], "stolen")
    with pytest.raises(RefusedSeal):
        read_keys(file).sealer.open(sealed)


@pytest.mark.parametrize("place", [SIGN, SEAL])
def test_the_active_key_is_not_revoked(key_file: Document, place: int) -> None:
    with pytest.raises(MalformedKeys, match="rotate first"):
        revoked_keys(key_file, key_file["keys"][place]["kid"], "stolen")


def test_an_unknown_key_is_not_revoked(key_file: Document) -> None:
    with pytest.raises(MalformedKeys, match="nobody"):
        revoked_keys(key_file, "nobody", "stolen")


# Where the keys come from.


def test_keys_come_from_a_file_or_from_a_text(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key_file: Document
) -> None:
    other = new_keys()
    monkeypatch.setenv("KEYS", json.dumps(key_file))
    assert certificate_of(configured_keys()) == certificate_of(read_keys(key_file))
    path = tmp_path / "keys.json"
    path.write_text(json.dumps(other), encoding="utf-8")
    monkeypatch.setenv("KEYS_FILE", str(path))
    assert certificate_of(configured_keys()) == certificate_of(read_keys(other)), "the file comes first"
    monkeypatch.delenv("KEYS")
    assert certificate_of(configured_keys()) == certificate_of(read_keys(other))


def test_without_keys_the_development_keys_are_used_and_say_so() -> None:
    first, second = configured_keys(), configured_keys()
    assert certificate_of(first) == certificate_of(second) == certificate_of(read_keys(development_keys()))
    assert second.sealer.open(first.sealer.seal(SEED)) == SEED
    header = json.loads(base64.urlsafe_b64decode(certificate_of(first).split(".")[0] + "=="))
    assert header["development"] is True
    assert open_certificate(certificate_of(first), first.verifying)[1].development
    assert [key["development"] for key in first.jwks()["keys"]] == [True]


def test_a_service_with_the_development_keys_warns_at_its_start(
    key_file: Document, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    create_app()
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "KEYS_FILE" in caplog.text
    caplog.clear()
    monkeypatch.setenv("KEYS", json.dumps(key_file))
    create_app()
    assert not caplog.records


def test_the_development_keys_stay_what_they_are() -> None:
    """They are published: golden certificates and other people's examples were signed with them."""
    assert development_keys() == development_keys()
    assert [key["kid"] for key in development_keys()["keys"]] == [
        "K6pmIuvsEq5eFwywUhUcLeuCrAzP4fPkUFPhTYvhNqc",
        "KhMM81jY_2lPT_kdHTtq8eInF6gL6nY0zUZpI5wp7ZQ",
    ]


def test_keys_of_ones_own_are_no_development_keys(key_file: Document) -> None:
    keys = read_keys(key_file)
    assert not any(key.development for key in keys.verifying.values())
    assert "development" not in members_of(keys.jwks())


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("with_kid", [True, False])
@pytest.mark.parametrize("status", ["active", "next", "retired"])
def test_production_refuses_the_development_keys_wherever_they_stand(
    monkeypatch: pytest.MonkeyPatch, key_file: Document, place: int, with_kid: bool, status: str
) -> None:
    entry = {**development_keys()["keys"][place], "status": status}
    if not with_kid:
        del entry["kid"]
    others = [key for key in key_file["keys"] if (key["kty"], key["status"]) != (entry["kty"], status)]
    monkeypatch.setenv("KEYS", json.dumps({"keys": [*others, entry]}))
    configured_keys()
    monkeypatch.setenv("PRODUCTION", "1")
    with pytest.raises(MalformedKeys, match="KEYS_FILE"):
        configured_keys()
    with pytest.raises(MalformedKeys, match="PRODUCTION"):
        create_app()


def test_production_needs_keys(monkeypatch: pytest.MonkeyPatch, key_file: Document) -> None:
    monkeypatch.setenv("PRODUCTION", "1")
    with pytest.raises(MalformedKeys, match="KEYS_FILE"):
        create_app()
    monkeypatch.setenv("KEYS", json.dumps(key_file))
    assert create_app().test_client().get("/.well-known/jwks.json").json == read_keys(key_file).jwks()


def test_production_refuses_the_development_secret_under_another_public_part(
    monkeypatch: pytest.MonkeyPatch, key_file: Document
) -> None:
    monkeypatch.setenv("PRODUCTION", "1")
    secret = development_keys()["keys"][0]["d"]
    monkeypatch.setenv("KEYS", json.dumps(altered(key_file, SIGN, d=secret)))
    with pytest.raises(MalformedKeys):
        configured_keys()


# What can be wrong.


@pytest.mark.parametrize("document", [None, [], "x", 5, {}, {"keys": {}}, {"keys": None}], ids=repr)
def test_a_file_that_is_no_key_set(document: Any) -> None:
    assert '{"keys": [...]}' in refusal(document)


@pytest.mark.parametrize("entry", ["x", 1, None, [], {}, [["kty", "OKP"]]], ids=repr)
def test_an_entry_that_is_no_key(key_file: Document, entry: Any) -> None:
    assert refusal(with_entries(key_file, entry)).startswith("keys[4]: ")


WRONG_ANYWHERE: list[Document] = [
    {"status": ...},
    {"status": "old"},
    {"status": "Active"},
    {"status": None},
    {"status": []},
    {"status": "revoked"},
    {"status": "revoked", "reason": None},
    {"status": "revoked", "reason": 5},
    {"kty": ...},
    {"kty": "RSA"},
    {"kty": "EC"},
    {"kty": "okp"},
    {"kty": 5},
    {"kty": None},
    {"kty": []},
    {"kty": {}},
    {"kid": "mine"},
    {"kid": 5},
    {"kid": None},
    {"kid": []},
]


@pytest.mark.parametrize("members", WRONG_ANYWHERE, ids=repr)
@pytest.mark.parametrize("place", range(4))
def test_an_entry_that_is_wrong_is_named(key_file: Document, place: int, members: Document) -> None:
    detail = refusal(altered(key_file, place, **members))
    assert detail.startswith(f"keys[{place}]: ")
    assert len(detail) > len("keys[0]: "), "and what is wrong is said"


NO_KEY_MATERIAL: list[Any] = ["", "AA", "AAAA" * 20, "!!!", "é", 5, None, [], {}]
WRONG_SIGNING: list[Document] = [
    {"crv": ...},
    {"crv": "X25519"},
    {"crv": "Ed448"},
    {"crv": "P-256"},
    {"crv": 5},
    {"crv": []},
    *({name: value} for name in ("x", "d") for value in NO_KEY_MATERIAL),
    {"x": ...},
    {"kty": "oct"},
]
# Two characters would be warned of besides.
WRONG_SEALING: list[Document] = [
    *({"k": value} for value in [..., "A" * 42, *NO_KEY_MATERIAL] if value != "AA"),
    {"kty": "OKP"},
]


@pytest.mark.parametrize("members", WRONG_SIGNING, ids=repr)
@pytest.mark.parametrize("place", [SIGN, NEXT_SIGN])
def test_a_signing_key_that_is_wrong_is_named(key_file: Document, place: int, members: Document) -> None:
    assert refusal(altered(key_file, place, **members)).startswith(f"keys[{place}]: ")


@pytest.mark.parametrize("members", WRONG_SEALING, ids=repr)
@pytest.mark.parametrize("place", [SEAL, NEXT_SEAL])
def test_a_sealing_key_that_is_wrong_is_named(key_file: Document, place: int, members: Document) -> None:
    assert refusal(altered(key_file, place, **members)).startswith(f"keys[{place}]: ")


@pytest.mark.parametrize("name", ["x", "d", "k"])
def test_a_key_that_is_no_base64url_is_explained(key_file: Document, name: str) -> None:
    place = SEAL if name == "k" else SIGN
    assert len(refusal(altered(key_file, place, **{name: "!!!"}))) > len("keys[0]: ")


@pytest.mark.parametrize("place", [SIGN, SEAL])
def test_exactly_one_key_of_a_kind_is_active(key_file: Document, place: int) -> None:
    kty = key_file["keys"][place]["kty"]
    assert f"(kty {kty}); found 0" in refusal(altered(key_file, place, status="next"))
    assert f"(kty {kty}); found 2" in refusal(altered(key_file, place + 1, status="active"))


def test_the_active_signing_key_needs_its_private_part(key_file: Document) -> None:
    assert "private part" in refusal(altered(key_file, SIGN, d=...))
    assert read_keys(altered(key_file, NEXT_SIGN, d=..., status="retired"))


def test_the_published_set_is_no_key_file(key_file: Document) -> None:
    refusal(read_keys(key_file).jwks())


@pytest.mark.parametrize("place", [SIGN, NEXT_SIGN])
def test_a_private_part_of_another_key_is_refused(key_file: Document, place: int) -> None:
    """Else all certificates would be signed with a key that nobody can verify."""
    other = key_file["keys"][NEXT_SIGN if place == SIGN else SIGN]
    assert refusal(altered(key_file, place, d=other["d"])).startswith(f"keys[{place}]: ")


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("place", range(4))
def test_a_key_that_is_listed_twice_is_refused(key_file: Document, place: int, first: bool) -> None:
    """Else a second entry could take a revocation back."""
    again = {**key_file["keys"][place], "status": "revoked", "reason": "stolen"}
    keys = [again, *key_file["keys"]] if first else [*key_file["keys"], again]
    assert "keys[" in refusal({"keys": keys})


def test_a_reason_is_a_text(key_file: Document) -> None:
    assert refusal(altered(key_file, NEXT_SIGN, reason={"d": "secret"})).startswith(f"keys[{NEXT_SIGN}]: ")


@pytest.mark.parametrize(
    "text", [" ", "\x00", "{", "[]", "null", '{"keys": NaN}', "[" * 100_000, "9" * 5_000]
)
def test_a_text_that_is_no_key_set_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "keys.json"
    path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("KEYS_FILE", str(path))
    with pytest.raises(MalformedKeys):
        configured_keys()


def test_an_empty_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A secret that was not mounted right must not lead to development keys."""
    path = tmp_path / "keys.json"
    path.touch()
    monkeypatch.setenv("KEYS_FILE", str(path))
    with pytest.raises(MalformedKeys):
        configured_keys()


def test_a_file_that_cannot_be_read_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    for path in (tmp_path / "missing.json", tmp_path, binary):
        monkeypatch.setenv("KEYS_FILE", str(path))
        with pytest.raises(MalformedKeys, match="KEYS_FILE"):
            configured_keys()


def test_no_message_tells_a_secret(key_file: Document) -> None:
    for place, name in ((SIGN, "d"), (NEXT_SIGN, "d"), (SEAL, "k"), (NEXT_SEAL, "k")):
        secret = key_file["keys"][place][name]
        for members in ({name: secret + "A"}, {name: secret[:-1]}, {"status": "old"}, {"kty": "RSA"}):
            assert secret[:-1] not in refusal(altered(key_file, place, **members))
