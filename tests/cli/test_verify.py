"""``russian-poker verify``: the verdict on a file, offline, with the public keys that one was given."""

import base64
import hashlib
import io
import json
import socket
from pathlib import Path
from typing import Any, NoReturn

import pytest
import rfc8785

from service.api import create_app
from service.cli import main
from service.integrity import ENGINE_DIGEST
from service.keys import development_keys, new_keys, read_keys, revoked_keys, rotated_keys

Document = dict[str, Any]
SEED = "0f" * 32
FOLDED: Document = {
    "ruleset": "casino-1",
    "deal": {"server_seed": SEED, "client_seed": "lucky"},
    "boxes": [{"box": 1, "ante": 100}],
    "actions": [{"box": 1, "action": "fold"}],
}


@pytest.fixture(autouse=True)
def _nothing_configured_and_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_network(*_: object, **__: object) -> NoReturn:
        raise AssertionError("the command reached for the network")

    for name in ("KEYS_FILE", "KEYS", "PRODUCTION"):
        monkeypatch.delenv(name, raising=False)
    for name in ("connect", "connect_ex", "bind", "sendto"):
        monkeypatch.setattr(socket.socket, name, no_network)
    monkeypatch.setattr(socket, "getaddrinfo", no_network)


class Command:
    """The command in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        self.capsys = capsys
        self.folder = folder

    def file(self, name: str, content: Any) -> str:
        path = self.folder / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
            path.write_text(text, encoding="utf-8")
        return str(path)

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        captured = self.capsys.readouterr()
        return status, captured.out, captured.err

    def verdict(self, content: Any, *options: str) -> Document:
        status, out, err = self("verify", *options, self.file("shown", content))
        verdict = json.loads(out)
        assert (status, err) == (0 if verdict["valid"] else 1, "")
        assert isinstance(verdict, dict)
        return verdict

    def refused(self, *arguments: str) -> str:
        status, out, err = self(*arguments)
        assert (status, out) == (2 if arguments[0] == "verify" else 1, "")
        assert err.startswith("russian-poker: ")
        return err

    def settled(self, **members: Any) -> Document:
        status, out, _ = self("settle", self.file("round.json", {**FOLDED, **members}))
        assert status == 0
        outcome = json.loads(out)
        assert isinstance(outcome, dict)
        return outcome


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Command:
    return Command(capsys, tmp_path)


def codes(verdict: Document) -> dict[str, str]:
    return {check["name"]: check["code"] for check in verdict["checks"] if not check["passed"]}


def bare(outcome: Document) -> Document:
    return {name: value for name, value in outcome.items() if name != "certificate"}


def test_settle_gives_what_the_service_gives(command: Command) -> None:
    outcome = command.settled(context={"a": "ё"})
    answer = create_app().test_client().post("/v1/rounds/settle", json={**FOLDED, "context": {"a": "ё"}})
    assert outcome == answer.get_json()
    assert outcome["engine"]["digest"] == ENGINE_DIGEST


def test_a_certificate_an_outcome_and_a_claim_are_verified(command: Command) -> None:
    outcome = command.settled()
    for shown in (
        outcome["certificate"],
        outcome["certificate"] + "\n",
        {"certificate": outcome["certificate"]},
        outcome,
        {"outcome": outcome},
        {"request": FOLDED, "outcome": outcome},
    ):
        verdict = command.verdict(shown)
        assert verdict["valid"]
        assert verdict["differences"] == []
        assert verdict["checks"][0]["name"] == "signature"
        assert "development key" in verdict["checks"][0]["detail"]


def test_an_outcome_without_certificate_is_recomputed(command: Command) -> None:
    verdict = command.verdict(bare(command.settled()))
    assert verdict["valid"]
    assert "signature" not in {check["name"] for check in verdict["checks"]}


def test_standard_input_is_read_too(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    certificate = command.settled()["certificate"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(certificate.encode())))
    status, out, _ = command("verify", "-")
    assert (status, json.loads(out)["valid"]) == (0, True)


def test_an_altered_outcome_is_found_and_told_by_the_exit_status(command: Command) -> None:
    outcome = command.settled()
    altered = {**outcome, "totals": {**outcome["totals"], "net": 100}}
    verdict = command.verdict(altered)
    assert codes(verdict) == {"signature": "altered-outcome", "settlement": "other-settlement"}
    assert verdict["differences"] == [
        {"pointer": "/totals/net", "claimed": 100, "computed": outcome["totals"]["net"]}
    ]
    assert codes(command.verdict(bare(altered))) == {"settlement": "other-settlement"}


def test_an_altered_certificate_is_refused(command: Command) -> None:
    header, payload, signature = command.settled()["certificate"].split(".")
    other = ("A" if payload[0] != "A" else "B") + payload[1:]
    assert codes(command.verdict(f"{header}.{other}.{signature}")) == {"signature": "bad-signature"}


def test_a_hidden_seed_is_given_on_the_command_line(command: Command) -> None:
    outcome = command.settled(deal={"server_seed": SEED, "reveal": False})
    for shown in (outcome["certificate"], outcome, {"outcome": outcome}):
        assert codes(command.verdict(shown)) == {"deal": "seed-needed"}
        assert command.verdict(shown, "--server-seed", SEED)["valid"]
        assert codes(command.verdict(shown, "--server-seed", "01" * 32))["deal"] == "other-deal"
    path = command.file("shown", outcome)
    assert "/server_seed" in command.refused("verify", "--server-seed", "0x" + SEED, path)


def test_a_void_outcome_is_verified(command: Command) -> None:
    request = {**FOLDED, "actions": [], "reason": "power cut"}
    outcome = create_app().test_client().post("/v1/rounds/void", json=request).get_json()
    for shown in (outcome["certificate"], outcome):
        assert command.verdict(shown)["valid"]


# Keys.


def test_public_keys_of_another_house_are_given_as_a_file(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = new_keys()
    monkeypatch.setenv("KEYS", json.dumps(file))
    jwks = command.file("jwks.json", create_app().test_client().get("/.well-known/jwks.json").data)
    certificate = command.settled()["certificate"]
    monkeypatch.delenv("KEYS")
    assert codes(command.verdict(certificate)) == {"signature": "unknown-key"}
    verdict = command.verdict(certificate, "--jwks", jwks)
    assert verdict["valid"]
    assert "active" in verdict["checks"][0]["detail"]
    development = command.settled()["certificate"]
    assert codes(command.verdict(development, "--jwks", jwks)) == {"signature": "unknown-key"}


def test_rotated_and_revoked_keys(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    file = new_keys()
    monkeypatch.setenv("KEYS", json.dumps(file))
    certificate = command.settled()["certificate"]
    monkeypatch.delenv("KEYS")
    for _ in range(2):
        file = rotated_keys(file)
    jwks = command.file("jwks.json", read_keys(file).jwks())
    assert command.verdict(certificate, "--jwks", jwks)["valid"]
    kid = json.loads(base64.urlsafe_b64decode(certificate.split(".")[0] + "=="))["kid"]
    jwks = command.file("jwks.json", read_keys(revoked_keys(file, kid, "the safe was opened")).jwks())
    verdict = command.verdict(certificate, "--jwks", jwks)
    assert codes(verdict) == {"signature": "revoked-key"}
    assert "the safe was opened" in verdict["checks"][0]["detail"]


def test_the_development_key_is_told_from_its_public_part_too(command: Command) -> None:
    jwks = command.file("jwks.json", create_app().test_client().get("/.well-known/jwks.json").data)
    verdict = command.verdict(command.settled()["certificate"], "--jwks", jwks)
    assert verdict["valid"]
    assert "development key" in verdict["checks"][0]["detail"]


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"keys": {}}', '{"keys": [{}]}', '{"keys": [5]}', b"\xff"], ids=repr
)
def test_a_jwks_that_is_none_is_refused(command: Command, content: Any) -> None:
    path = command.file("certificate.txt", "x")
    command.refused("verify", "--jwks", command.file("jwks.json", content), path)


def test_a_jwks_without_keys_knows_no_key(command: Command) -> None:
    certificate = command.settled()["certificate"]
    jwks = command.file("jwks.json", {"keys": []})
    assert codes(command.verdict(certificate, "--jwks", jwks)) == {"signature": "unknown-key"}


# Whatever a file holds.


@pytest.mark.parametrize(
    "content", ["x", "a.b.c", "[]", "null", "ключ", b"\xff\xfe", b"\x00", '"text"'], ids=repr
)
def test_what_is_no_certificate_gets_a_verdict(command: Command, content: Any) -> None:
    assert codes(command.verdict(content)) == {"signature": "malformed"}


@pytest.mark.parametrize(
    "content", [{"status": 5}, {"status": "void"}, {"status": "settled"}, {"outcome": {}}], ids=repr
)
def test_what_is_no_outcome_gets_a_verdict(command: Command, content: Document) -> None:
    assert not command.verdict(content)["valid"]


@pytest.mark.parametrize(
    "payload", [{}, {"a": [1]}, {"status": "void", "boxes": 5}, {"status": "settled", "deal": []}], ids=repr
)
def test_a_signed_payload_that_is_no_outcome_gets_a_verdict(command: Command, payload: Document) -> None:
    verdict = command.verdict(read_keys(development_keys()).signer.sign(rfc8785.dumps(payload)))
    assert verdict["checks"][0]["passed"]
    assert not verdict["valid"]


@pytest.mark.parametrize("number", ["18446744073709551616", "1e300"])
def test_a_claimed_number_of_any_size_gets_a_verdict(command: Command, number: str) -> None:
    outcome = command.settled()
    outcome["totals"]["net"] = "@"
    assert not command.verdict(json.dumps(outcome).replace('"@"', number))["valid"]


@pytest.mark.parametrize(
    "content", ["", "\n", "{", "{}", '{"certificate": 5}', '{"outcome": 5}', '{"a": 1, "a": 2}'], ids=repr
)
def test_what_cannot_be_understood_is_refused(command: Command, content: str) -> None:
    command.refused("verify", command.file("shown", content))


def test_a_missing_file_is_named(command: Command, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.json")
    assert missing in command.refused("verify", missing)
    path = command.file("certificate.txt", "x")
    assert missing in command.refused("verify", "--jwks", missing, path)


def test_wrong_usage_is_told_apart(command: Command) -> None:
    with pytest.raises(SystemExit) as caught:
        command("verify")
    assert caught.value.code == 2


def test_a_sealed_round_is_settled_from_a_file(command: Command) -> None:
    seed = bytes(range(32))
    sealed = read_keys(development_keys()).sealer.seal(seed)
    outcome = command.settled(deal={"sealed_seed": sealed})
    assert outcome["deal"]["server_seed"] == seed.hex()
    assert outcome["deal"]["commitment"] == hashlib.sha256(seed).hexdigest()
    altered = command.file("round.json", {**FOLDED, "deal": {"sealed_seed": sealed[:-1]}})
    assert "sealed" in command.refused("settle", altered)
