"""``russian-poker keys``: what an operator does to his key file, from its birth to a revocation."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest

from service.api import create_app
from service.cli import main
from service.keys import development_keys, read_keys

Document = dict[str, Any]
FOLDED: Document = {
    "ruleset": "casino-1",
    "deal": {"server_seed": "0f" * 32},
    "boxes": [{"box": 1, "ante": 100}],
    "actions": [{"box": 1, "action": "fold"}],
}
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def _nothing_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KEYS_FILE", "KEYS", "PRODUCTION"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    def run(*arguments: str) -> tuple[int, str, str]:
        status = main(arguments)
        captured = capsys.readouterr()
        return status, captured.out, captured.err

    return run


class Started(Exception):
    """The command would have become gunicorn."""


@pytest.fixture(autouse=True)
def _nothing_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(prog: str) -> NoReturn:
        raise Started(prog)

    monkeypatch.setattr("sys.argv", [])
    monkeypatch.setattr("gunicorn.app.wsgiapp.run", run)


def new(run: Run) -> Document:
    status, out, err = run("keys", "new")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert isinstance(document, dict)
    return document


def written(path: Path, document: Any) -> str:
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return str(path)


def statuses(document: Document) -> list[tuple[str, str]]:
    return [(key["kty"], key["status"]) for key in document["keys"]]


def test_a_new_file_is_printed_and_can_be_used(run: Run) -> None:
    first, second = new(run), new(run)
    assert statuses(first) == [("OKP", "active"), ("OKP", "next"), ("oct", "active"), ("oct", "next")]
    assert first != second
    assert read_keys(first).verifying.keys() == {key["kid"] for key in first["keys"] if key["kty"] == "OKP"}


def test_the_life_of_a_key_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a new file over two rotations to a revocation, each certificate verified on the way."""
    monkeypatch.setenv("PRODUCTION", "1")
    path = tmp_path / "keys.json"
    monkeypatch.setenv("KEYS_FILE", written(path, new_in(monkeypatch, run)))
    round_file = written(tmp_path / "round.json", FOLDED)
    certificates = []
    for _ in range(3):
        status, out, _ = run("settle", round_file)
        assert status == 0
        certificates.append(json.loads(out)["certificate"])
        status, out, err = run("keys", "rotate", str(path))
        assert (status, err) == (0, "")
        path.write_text(out, encoding="utf-8")
        for certificate in certificates:
            status, out, _ = run("verify", written(tmp_path / "certificate.txt", certificate))
            assert (status, json.loads(out)["valid"]) == (0, True)
    oldest = json.loads(path.read_text(encoding="utf-8"))["keys"][0]
    assert (oldest["status"], "d" in oldest) == ("retired", False)
    status, out, err = run("keys", "revoke", str(path), oldest["kid"], "the safe was opened")
    assert (status, err) == (0, "")
    path.write_text(out, encoding="utf-8")
    verdicts = []
    for certificate in certificates:
        status, out, _ = run("verify", written(tmp_path / "certificate.txt", certificate))
        verdicts.append((status, json.loads(out)))
    assert [status for status, _ in verdicts] == [1, 0, 0]
    assert "the safe was opened" in verdicts[0][1]["checks"][0]["detail"]


def new_in(monkeypatch: pytest.MonkeyPatch, run: Run) -> Document:
    """A new file, for which no keys are needed in production either."""
    monkeypatch.delenv("KEYS_FILE", raising=False)
    return new(run)


def test_rotating_leaves_the_file_alone(run: Run, tmp_path: Path) -> None:
    document = new(run)
    path = written(tmp_path / "keys.json", document)
    status, out, _ = run("keys", "rotate", path)
    assert status == 0
    assert statuses(json.loads(out)) == [
        ("OKP", "retired"),
        ("OKP", "active"),
        ("oct", "retired"),
        ("oct", "active"),
        ("OKP", "next"),
        ("oct", "next"),
    ]
    assert json.loads(Path(path).read_text(encoding="utf-8")) == document


def test_a_public_set_without_private_parts_follows_from_every_step(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "keys.json"
    document = new(run)
    for _ in range(3):
        monkeypatch.setenv("KEYS_FILE", written(path, document))
        published = create_app().test_client().get("/.well-known/jwks.json")
        assert all(
            key["kty"] == "OKP" and not {"d", "k"} & key.keys() for key in published.get_json()["keys"]
        )
        secrets = [key.get("d") or key.get("k") for key in document["keys"]]
        assert not any(secret in published.text for secret in secrets if secret)
        document = json.loads(run("keys", "rotate", str(path))[1])


def test_the_active_and_an_unknown_key_are_not_revoked(run: Run, tmp_path: Path) -> None:
    document = new(run)
    path = written(tmp_path / "keys.json", document)
    for kid, told in ((document["keys"][0]["kid"], "rotate first"), ("nobody", "nobody")):
        status, out, err = run("keys", "revoke", path, kid, "stolen")
        assert (status, out) == (1, "")
        assert told in err


def test_a_key_without_kid_is_revoked_by_its_thumbprint(run: Run, tmp_path: Path) -> None:
    document = new(run)
    kid = document["keys"][1].pop("kid")
    status, out, _ = run("keys", "revoke", written(tmp_path / "keys.json", document), kid, "stolen")
    assert status == 0
    assert read_keys(json.loads(out)).verifying[kid].status == "revoked"


MALFORMED = [
    "",
    "{",
    "[]",
    "null",
    "{}",
    '{"keys": {}}',
    '{"keys": [5]}',
    '{"keys": [{}]}',
    '{"keys": ["x"]}',
    '{"keys": [{"status": "next"}]}',
    '{"keys": [{"kty": "OKP", "status": []}]}',
    '{"keys": [{"kty": "OKP", "crv": "Ed25519", "x": "AA", "status": "active"}]}',
    '{"keys": []}',
]


@pytest.mark.parametrize("text", MALFORMED)
@pytest.mark.parametrize("arguments", [["rotate"], ["revoke"]], ids=repr)
def test_a_malformed_file_is_refused_in_words(
    run: Run, tmp_path: Path, arguments: list[str], text: str
) -> None:
    more = ["nobody", "stolen"] if arguments == ["revoke"] else []
    status, out, err = run("keys", *arguments, written(tmp_path / "keys.json", text), *more)
    assert (status, out) == (1, "")
    assert err.startswith("russian-poker: ")


def test_a_wrong_entry_is_named(run: Run, tmp_path: Path) -> None:
    document = new(run)
    document["keys"][2]["status"] = "old"
    path = written(tmp_path / "keys.json", document)
    for arguments in (["rotate", path], ["revoke", path, document["keys"][1]["kid"], "stolen"]):
        status, _, err = run("keys", *arguments)
        assert status == 1
        assert "keys[2]: status" in err


@pytest.mark.parametrize("kty", ["OKP", "oct"])
def test_a_rotation_that_would_leave_no_active_key_is_refused(run: Run, tmp_path: Path, kty: str) -> None:
    """The service would refuse to start with the file printed."""
    document = new(run)
    kept = [key for key in document["keys"] if (key["kty"], key["status"]) != (kty, "next")]
    status, out, err = run("keys", "rotate", written(tmp_path / "keys.json", {"keys": kept}))
    assert (status, out) == (1, "")
    assert kty in err


def test_a_revocation_needs_a_reason(run: Run, tmp_path: Path) -> None:
    document = new(run)
    path = written(tmp_path / "keys.json", document)
    status, out, _ = run("keys", "revoke", path, document["keys"][1]["kid"], "")
    assert (status, out) == (1, "")


def test_a_missing_file_is_named(run: Run, tmp_path: Path) -> None:
    missing = str(tmp_path / "missing.json")
    for arguments in (["rotate", missing], ["revoke", missing, "nobody", "stolen"]):
        status, _, err = run("keys", *arguments)
        assert status == 1
        assert missing in err


@pytest.mark.parametrize("arguments", [[], ["rotate"], ["revoke"], ["revoke", "file"], ["burn"]], ids=repr)
def test_wrong_usage_is_told_apart(run: Run, arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        run("keys", *arguments)
    assert caught.value.code == 2


def test_keys_are_not_written_by_the_command_itself(run: Run, tmp_path: Path) -> None:
    """Where they go and who may read them is the operator's redirection and umask."""
    path = Path(written(tmp_path / "keys.json", new(run)))
    path.chmod(0o400)
    assert run("keys", "rotate", str(path))[0] == 0
    assert stat.S_IMODE(path.stat().st_mode) == 0o400


# Starting the service.


def test_serve_starts_with_development_keys_unless_in_production(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOST", "127.0.0.1")
    monkeypatch.setenv("PORT", "8080")
    with pytest.raises(Started, match="gunicorn"):
        run("serve")
    monkeypatch.setenv("PRODUCTION", "1")
    status, out, err = run("serve")
    assert (status, out) == (1, "")
    assert "PRODUCTION" in err
    assert "keys new" in err


@pytest.mark.parametrize("with_kid", [True, False])
@pytest.mark.parametrize("place", [0, 1])
def test_serve_refuses_development_keys_in_a_file_of_ones_own(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    place: int,
    with_kid: bool,
) -> None:
    entry = {**development_keys()["keys"][place], "status": "retired"}
    if not with_kid:
        del entry["kid"]
    path = written(tmp_path / "keys.json", {"keys": [*new(run)["keys"], entry]})
    monkeypatch.setenv("KEYS_FILE", path)
    monkeypatch.setenv("PRODUCTION", "1")
    status, _, err = run("serve")
    assert status == 1
    assert "development keys" in err


@pytest.mark.parametrize("text", ["{", "[]", '{"keys": [5]}', '{"keys": []}'])
def test_serve_refuses_a_malformed_file(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str
) -> None:
    monkeypatch.setenv("KEYS_FILE", written(tmp_path / "keys.json", text))
    status, out, err = run("serve")
    assert (status, out) == (1, "")
    assert err.startswith("russian-poker: ")
