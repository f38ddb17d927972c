"""The examples of ``openapi.yaml``: requests written here, answers given by the service.

``python -m tests.contract.examples --write`` sends every request to the app and stores requests and answers
as ``components.examples``, the last section of the contract. Without ``--write`` it tells which stored
examples are no longer what the service answers, and exits with 1 if any is.

Outcomes name the engine by a digest of all code, and certificates sign that too, so both change with every
edit of a comment. Such a change does not make an example wrong: see ``steady``.
"""

import argparse
import json
import logging
import os
import re
import sys
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NamedTuple

import yaml
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from service.api import create_app
from service.api.bodies import MAX_BODY
from service.certificate.jws import RefusedCertificate, open_certificate
from service.game.cards import card_codes
from service.integrity import Integrity
from service.keys import development_keys, read_keys
from service.schemas import MAX_BATCH
from tests.contract.document import CONTRACT, CONTRACT_DOCUMENT, NDJSON, load_contract
from tests.support.cards import rig

SETTLE: Final = "/v1/rounds/settle"
BATCH: Final = "/v1/rounds/settle-batch"
STEP: Final = "/v1/rounds/step"
VOID: Final = "/v1/rounds/void"
VERIFY: Final = "/v1/rounds/verify"
EVALUATE: Final = "/v1/hands/evaluate"
SEEDS: Final = "/v1/fairness/seeds"
DECK: Final = "/v1/fairness/deck"

Document = dict[str, Any]
Answers = Mapping[str, Any]

SERVER_SEED: Final = "8c1f5a3e07d94b62e1a8c37f20d65b9438fe01a7c2964d0b7ae3158f6cd2b049"
COMMITMENT: Final = sha256(bytes.fromhex(SERVER_SEED)).hexdigest()
SEALED_SEED: Final = (
    "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2R0NNIiwia2lkIjoiS2hNTTgxallfMmxQVF9rZEhUdHE4ZUluRjZnTDZuWTB6VVpwSTV3cDdaUSI"
    "sInR5cCI6InJ1c3NpYW4tcG9rZXItc2VlZCtqd2UifQ..m-d93cK3-KT4ao8N.x6vCwS2pwGLUPdQ9Z3wa26Ym3ksjS6bBZlXVV2TJ050"
    ".0z206B5jTcb_6dLdTf4hIw"
)
"""The server seed, sealed once with the published development key: a seal is different every time."""
RANDOM: Final = ("seeds-new", "seeds-sealed")
"""The examples whose answers are different every time."""
KEYS: Final = read_keys(development_keys())
CERTIFICATE: Final = re.compile(CONTRACT_DOCUMENT["components"]["schemas"]["Certificate"]["pattern"])
SETTINGS: Final = ("CORS_ORIGINS", "KEYS", "KEYS_FILE", "PRODUCTION", "RULESETS_DIR")
"""Variables of the environment that would make examples of one deployment only."""


class Call(NamedTuple):
    """A request that succeeds.

    ``body`` is None for a GET, a text of lines for NDJSON, or made from the answers of earlier calls.
    """

    name: str
    path: str
    summary: str
    body: Document | str | Callable[[Answers], Document] | None = None


class Refusal(NamedTuple):
    """A request that is refused, and what the example of its answer says about it."""

    name: str
    summary: str
    send: Callable[[FlaskClient], TestResponse]


def _deal(nonce: int, **members: Any) -> Document:
    return {"server_seed": SERVER_SEED, "client_seed": "player", "nonce": nonce, **members}


CASINO_BONUS: Final[Document] = {
    "ruleset": "casino-1",
    "deal": _deal(135),
    "boxes": [
        {"box": 1, "ante": 100, "bonus": 25, "player": "anna"},
        {"box": 2, "ante": 100, "blind": True, "player": "anna"},
    ],
    "actions": [
        {"box": 1, "action": "buy_sixth"},
        {"box": 1, "action": "bet"},
        {"box": 1, "action": "take_ante"},
        {"box": 2, "action": "buy_game"},
    ],
    "context": {"round_id": "A-1", "table": 7},
}
ONLINE: Final[Document] = {
    "ruleset": "online-1",
    "deal": _deal(6),
    "boxes": [{"box": 1, "ante": 100, "bonus": 10}, {"box": 2, "ante": 50, "blind": True}],
    "actions": [
        {"box": 1, "action": "bet"},
        {"box": 1, "action": "buy_game"},
        {"box": 2, "action": "take_ante"},
    ],
}
TRAINER: Final[Document] = {
    "ruleset": "trainer-1",
    "deal": _deal(15),
    "boxes": [{"box": 1, "ante": 100}, {"box": 3, "ante": 200}],
    "actions": [
        {"box": 1, "action": "exchange", "discard": ["6c", "Jc", "3s"]},
        {"box": 1, "action": "bet"},
        {"box": 3, "action": "fold"},
    ],
}
INSURED: Final[Document] = {
    "ruleset": "casino-1",
    "deal": _deal(1569),
    "table": {"min_stake": 10, "max_stake": 100000, "max_payout": 5000000},
    "boxes": [{"box": 1, "ante": 100}],
    "actions": [
        {"box": 1, "action": "insure", "amount": 400},
        {"box": 1, "action": "bet"},
        {"box": 1, "action": "take_ante"},
    ],
}
PUSH: Final[Document] = {
    "ruleset": "trainer-1",
    "deal": {
        "deck": card_codes(rig(["9s 5s Jh Kc Js", "9d 5h Jc Kd Jd"])),
    },
    "boxes": [{"box": 1, "ante": 100}],
    "actions": [{"box": 1, "action": "bet"}],
}
HIDDEN: Final[Document] = {
    "ruleset": "casino-1",
    "deal": _deal(0, commitment=COMMITMENT, reveal=False),
    "boxes": [{"box": 1, "ante": 100}],
    "actions": [{"box": 1, "action": "fold"}],
}


SEALED: Final[Document] = {
    "ruleset": "casino-1",
    "deal": {"sealed_seed": SEALED_SEED, "commitment": COMMITMENT, "client_seed": "player", "nonce": 1},
    "boxes": [{"box": 1, "ante": 100}],
    "actions": [{"box": 1, "action": "fold"}],
}
BEACON: Final[Document] = {
    "ruleset": "casino-1",
    "deal": _deal(2, beacon={"source": "example-beacon/4711", "value": "5D41402ABC4B2A76B9719D911017C592"}),
    "boxes": [{"box": 1, "ante": 100}],
    "actions": [{"box": 1, "action": "fold"}],
}


LEFT_OVER: Final = {**HIDDEN, "actions": [{"box": 1, "action": "fold"}] * 2}
BATCHED: Final = {**HIDDEN, "context": {"round_id": "A-2"}}


def sent(client: FlaskClient, path: str, body: Document | str | None) -> TestResponse:
    """The answer to a body in JSON, to a text of lines, or to a GET where there is none."""
    if body is None:
        return client.get(path)
    if isinstance(body, str):
        return client.post(path, data=body.encode(), content_type=NDJSON)
    return client.post(path, json=body)


def received(response: TestResponse) -> Any:
    """The document of an answer, or its lines as a text."""
    return response.text if response.mimetype == NDJSON else response.get_json()


def _line(document: Document) -> str:
    return json.dumps(document, ensure_ascii=False) + "\n"


def _with(body: Document, **members: Any) -> Document:
    return {**body, **members}


def _certificate(name: str, **members: Any) -> Callable[[Answers], Document]:
    return lambda answers: {"certificate": answers[name]["certificate"], **members}


def _forged(answers: Answers) -> Document:
    """A payload in which somebody has raised what came back, under the signature of the true one."""
    header, payload, signature = answers["settle-sealed-seed"]["certificate"].split(".")
    outcome = json.loads(decoded(payload))
    outcome["totals"]["returned"] += 1000
    text = json.dumps(outcome, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return {"certificate": ".".join((header, encoded(text.encode()), signature))}


def _tampered(answers: Answers) -> Document:
    outcome = deepcopy(answers["settle-push-on-named-deck"])
    outcome["boxes"][0]["bets"][1]["returned"] += 1000
    outcome["totals"]["net"] += 1000
    del outcome["engine"]
    return {"outcome": outcome}


def decoded(part: str) -> bytes:
    """A part of a compact JWS or JWE."""
    return urlsafe_b64decode(part + "=" * (-len(part) % 4))


def encoded(part: bytes) -> str:
    """Bytes as a part of a compact JWS or JWE."""
    return urlsafe_b64encode(part).rstrip(b"=").decode()


CALLS: Final = (
    Call(
        "settle-casino-bonus",
        SETTLE,
        "casino-1, a bonus won, a blind sixth card and a blind box that buys the dealer's game",
        CASINO_BONUS,
    ),
    Call(
        "settle-online-buys-game",
        SETTLE,
        "online-1, a dealer without game: one box buys with its ante, the other takes it",
        ONLINE,
    ),
    Call("settle-trainer-exchange", SETTLE, "trainer-1, one box exchanges, another folds", TRAINER),
    Call("settle-insured", SETTLE, "casino-1 with a table's limits, an insurance that is paid", INSURED),
    Call("settle-push-on-named-deck", SETTLE, "trainer-1, a deck named card by card, equal hands", PUSH),
    Call(
        "settle-hidden-seed",
        SETTLE,
        "A commitment that is checked, a server seed that stays secret",
        HIDDEN,
    ),
    Call("settle-sealed-seed", SETTLE, "A sealed seed, which the outcome reveals", SEALED),
    Call("settle-beacon", SETTLE, "A public random value that is bound into the client seed", BEACON),
    Call(
        "batch-one-refused",
        BATCH,
        "Two rounds, the second with an action after its end",
        {"rounds": [HIDDEN, LEFT_OVER]},
    ),
    Call("batch-certified", BATCH, "Certified on demand", {"rounds": [HIDDEN], "certificates": True}),
    Call(
        "batch-lines",
        BATCH,
        "The same line by line, with a line that was cut short",
        _line(BATCHED) + _line(LEFT_OVER) + _line(HIDDEN)[:60] + "\n",
    ),
    Call(
        "step-first-decision",
        STEP,
        "Just dealt: what the first box sees and may do",
        _with(TRAINER, actions=[]),
    ),
    Call(
        "step-may-insure",
        STEP,
        "Three aces beside a king: insurance is offered",
        _with(INSURED, actions=[]),
    ),
    Call(
        "step-dealer-without-game",
        STEP,
        "The dealer has shown no game; the first box has taken its ante, the second is in turn",
        _with(CASINO_BONUS, actions=CASINO_BONUS["actions"][:3]),
    ),
    Call("step-finished", STEP, "Nothing is left to decide", ONLINE),
    Call("step-sealed-seed", STEP, "A round from a sealed seed, just dealt", _with(SEALED, actions=[])),
    Call(
        "void-power-cut",
        VOID,
        "casino-1, broken off after a sixth card was bought",
        _with(
            CASINO_BONUS,
            deal=_deal(136),
            actions=CASINO_BONUS["actions"][:2],
            reason="power cut at the table",
        ),
    ),
    Call(
        "void-misdealt-deck",
        VOID,
        "trainer-1, a deck named card by card that turned out to be wrong",
        _with(PUSH, actions=[], reason="two cards of the deck stuck together"),
    ),
    Call(
        "void-sealed-seed",
        VOID,
        "A sealed seed that stays sealed, and a beacon",
        _with(
            SEALED,
            deal={**SEALED["deal"], "nonce": 3, "beacon": BEACON["deal"]["beacon"]},
            actions=[],
            reason="the player left before his first decision",
        ),
    ),
    Call(
        "verify-certificate",
        VERIFY,
        "A certificate alone, as the service gave it",
        _certificate("settle-trainer-exchange"),
    ),
    Call(
        "verify-hidden-seed",
        VERIFY,
        "The certificate of an outcome that hides its seed, and the seed",
        _certificate("settle-hidden-seed", server_seed=SERVER_SEED),
    ),
    Call("verify-seed-needed", VERIFY, "The same without the seed", _certificate("settle-hidden-seed")),
    Call("verify-forged", VERIFY, "A certificate whose payload was changed", _forged),
    Call("verify-void", VERIFY, "The certificate of a void outcome", _certificate("void-power-cut")),
    Call(
        "verify-outcome",
        VERIFY,
        "An outcome as the service gave it, its certificate in it",
        lambda answers: {"outcome": answers["settle-beacon"]},
    ),
    Call("verify-tampered", VERIFY, "An outcome that was changed in three places", _tampered),
    Call(
        "verify-claim",
        VERIFY,
        "An outcome that hides its seed, and the request behind it",
        lambda answers: {"request": HIDDEN, "outcome": answers["settle-hidden-seed"]},
    ),
    Call(
        "evaluate-five-cards",
        EVALUATE,
        "Three of a kind and ace-king, both paid",
        {"ruleset": "casino-1", "cards": ["Ad", "Ks", "8s", "Kd", "Kh"]},
    ),
    Call(
        "evaluate-six-cards",
        EVALUATE,
        "Six cards with two pair twice, at odds of the ruleset's own",
        {"ruleset": "online-1", "cards": ["9s", "9d", "5s", "5h", "Jh", "Jc"]},
    ),
    Call("seeds-new", SEEDS, "A new seed in the clear", {}),
    Call("seeds-sealed", SEEDS, "A new seed that is sealed", {"sealed": True}),
    Call(
        "deck-with-client-seed",
        DECK,
        "Both seeds and a nonce",
        {"server_seed": SERVER_SEED, "client_seed": "player", "nonce": 135},
    ),
    Call("rulesets-list", "/v1/rulesets", "The rulesets that are built in"),
    Call("rulesets-trainer", "/v1/rulesets/trainer-1", "trainer-1"),
    Call("conformance-kits", "/v1/conformance", "The kits of this release"),
    Call("version", "/v1/version", "This version"),
    Call("integrity", "/v1/integrity", "All files are those of the release"),
    Call("keys", "/.well-known/jwks.json", "A deployment without keys of its own"),
    Call("livez", "/livez", "Alive"),
    Call("readyz", "/readyz", "Ready"),
)


def _post(path: str, body: Document) -> Callable[[FlaskClient], TestResponse]:
    return lambda client: client.post(path, json=body)


def _post_bytes(body: bytes) -> Callable[[FlaskClient], TestResponse]:
    return lambda client: client.post(SETTLE, data=body, content_type="application/json")


def _cut_off(client: FlaskClient) -> TestResponse:
    return client.post(
        SETTLE,
        data=b'{"ruleset": "cas',
        content_type="application/json",
        environ_overrides={"CONTENT_LENGTH": "4096"},
    )


def _chunked(client: FlaskClient) -> TestResponse:
    return client.post(
        SETTLE,
        input_stream=BytesIO(b"{}"),
        content_type="application/json",
        headers={"Transfer-Encoding": "chunked"},
    )


def _fail() -> str:
    raise ZeroDivisionError


def _defect(client: FlaskClient) -> TestResponse:
    """A call of an app in which something fails that never should."""
    app = create_app()
    app.view_functions["operations.readyz"] = _fail
    logger = logging.getLogger("service.api")
    disabled, logger.disabled = logger.disabled, True
    try:
        return app.test_client().get("/readyz")
    finally:
        logger.disabled = disabled


def damaged() -> FlaskClient:
    """A client of an app that has found its files altered."""
    app = create_app()
    with TemporaryDirectory() as folder:
        (Path(folder) / "added.py").touch()
        lost = Integrity(lambda altered: None, Path(folder))
    app.extensions["deployment"] = app.extensions["deployment"]._replace(integrity=lost)
    return app.test_client()


_MISSPELT: Final[Document] = {
    "ruleset": "casino-1",
    "deal": {"server_seed": "0x" + SERVER_SEED, "nonce": "7"},
    "boxes": [{"box": 1, "antee": 100, "bonus": 0.5}],
    "actions": [{"box": 1, "action": "exchange", "discard": ["10c"]}, {"box": 1, "action": "raise"}],
}
_FOREIGN: Final = ".".join(
    (
        encoded(b'{"alg":"dir","enc":"A256GCM","kid":"another-deployment","typ":"russian-poker-seed+jwe"}'),
        *SEALED_SEED.split(".")[1:],
    )
)
_ILLEGAL: Final = _with(
    CASINO_BONUS,
    actions=[{"box": 1, "action": "exchange", "discard": ["6s"]}, *CASINO_BONUS["actions"]],
)

REFUSALS: Final = (
    Refusal("malformed-json", "A comma too many", _post_bytes(b'{"ruleset": "casino-1",\n "boxes": [],}')),
    Refusal("name-twice", "A member that stands twice", _post_bytes(b'{"nonce": 1, "nonce": 2}')),
    Refusal("bad-request", "The connection ended within the body", _cut_off),
    Refusal(
        "not-found", "A ruleset id without its version", lambda client: client.get("/v1/rulesets/casino")
    ),
    Refusal("method-not-allowed", "A GET where a POST is needed", lambda client: client.get(SETTLE)),
    Refusal(
        "not-acceptable",
        "A client that reads XML only",
        lambda client: client.post(SETTLE, json=TRAINER, headers={"Accept": "application/xml"}),
    ),
    Refusal("length-required", "A chunked body", _chunked),
    Refusal("body-too-large", "One byte more than 64 KiB", _post_bytes(b" " * (MAX_BODY + 1))),
    Refusal(
        "unsupported-media-type",
        "A form, which is what curl sends unless it is told otherwise",
        lambda client: client.post(SETTLE, data={"ruleset": "casino-1"}),
    ),
    Refusal("invalid-request", "Several faults at once", _post(SETTLE, _MISSPELT)),
    Refusal(
        "boxes-out-of-order",
        "Boxes that the ruleset does not have",
        _post(
            SETTLE,
            _with(TRAINER, boxes=[{"box": 5, "ante": 100}, {"box": 2, "ante": 100, "blind": True}]),
        ),
    ),
    Refusal(
        "context",
        "A fraction in the caller's own object",
        _post(SETTLE, _with(HIDDEN, context={"round_id": "A-1", "rates": [{"usd": 0.011}]})),
    ),
    Refusal(
        "sealed-seed",
        "A sealed seed that was cut short",
        _post(SETTLE, _with(SEALED, deal={**SEALED["deal"], "sealed_seed": SEALED_SEED[:-1]})),
    ),
    Refusal("unknown-ruleset", "An id without its version", _post(SETTLE, _with(TRAINER, ruleset="trainer"))),
    Refusal(
        "commitment-mismatch",
        "A commitment to the hex digits in place of the bytes",
        _post(
            SETTLE,
            _with(HIDDEN, deal=_deal(0, commitment=sha256(SERVER_SEED.encode()).hexdigest())),
        ),
    ),
    Refusal(
        "limits",
        "An ante below and a bonus above what online-1 takes",
        _post(SETTLE, _with(ONLINE, boxes=[{"box": 1, "ante": 5, "bonus": 2001}])),
    ),
    Refusal("illegal-action", "An exchange after the bonus has won (A6)", _post(SETTLE, _ILLEGAL)),
    Refusal(
        "left-over-action",
        "An action after the end of the round",
        _post(SETTLE, LEFT_OVER),
    ),
    Refusal(
        "round-incomplete",
        "The second box has not yet chosen",
        _post(SETTLE, _with(ONLINE, actions=ONLINE["actions"][:2])),
    ),
    Refusal(
        "batch-invalid-request",
        "One round more than a batch takes",
        _post(BATCH, {"rounds": [HIDDEN] * (MAX_BATCH + 1)}),
    ),
    Refusal(
        "void-invalid-request",
        "A reason in other letters",
        _post(VOID, _with(HIDDEN, reason="обрыв связи")),
    ),
    Refusal(
        "claim-invalid-request",
        "A claim without an outcome",
        _post(VERIFY, {"request": _with(TRAINER, boxes=[])}),
    ),
    Refusal(
        "claim-illegal-action",
        "The claim's request has an illegal action",
        _post(VERIFY, {"request": _ILLEGAL, "outcome": {}}),
    ),
    Refusal(
        "claim-round-incomplete",
        "The claim's request lacks a decision",
        _post(VERIFY, {"request": _with(TRAINER, actions=TRAINER["actions"][:2]), "outcome": {}}),
    ),
    Refusal(
        "claim-sealed-seed",
        "The claim's request has a seed that another deployment sealed",
        _post(VERIFY, {"request": _with(SEALED, deal={"sealed_seed": _FOREIGN}), "outcome": {}}),
    ),
    Refusal(
        "hand-invalid-request",
        "A card that stands twice",
        _post(EVALUATE, {"ruleset": "casino-1", "cards": ["As", "Kd", "Td", "As", "2c"]}),
    ),
    Refusal("seeds-invalid-request", "A wish in quotes", _post(SEEDS, {"sealed": "true"})),
    Refusal(
        "deck-invalid-request",
        "A server seed that is too short",
        _post(DECK, {"server_seed": SERVER_SEED[:62]}),
    ),
    Refusal("internal-error", "A defect", _defect),
    Refusal(
        "integrity-lost",
        "A file was altered",
        lambda client: damaged().post(SETTLE, json=TRAINER),
    ),
)


def current_examples(client: FlaskClient) -> dict[str, Document]:
    """Every example as the service answers it now, in the shape of ``components.examples``."""
    examples: dict[str, Document] = {}
    answers: dict[str, Any] = {}
    for call in CALLS:
        body = call.body(answers) if callable(call.body) else call.body
        response = sent(client, call.path, body)
        if response.status_code != 200:
            raise ValueError(f"{call.name} is refused: {response.get_data(as_text=True)}")
        answers[call.name] = received(response)
        if body is not None:
            examples[call.name] = {"summary": call.summary, "value": body}
        examples[f"{call.name}-answer"] = {"summary": call.summary, "value": answers[call.name]}
    for refusal in REFUSALS:
        response = refusal.send(client)
        if response.mimetype != "application/problem+json":
            raise ValueError(f"{refusal.name} is not refused: {response.get_data(as_text=True)}")
        examples[f"problem-{refusal.name}"] = {"summary": refusal.summary, "value": json.loads(response.data)}
    return examples


_MARK: Final = "\n  # Requests and answers, written by `python -m tests.contract.examples --write`.\n"


def with_examples(contract: str, examples: Mapping[str, Document]) -> str:
    """The text of the contract with these examples in place of those that it has."""
    written = yaml.dump(
        {"examples": dict(examples)}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=108
    )
    indented = "".join(f"  {line}" if line.strip() else line for line in written.splitlines(keepends=True))
    return contract.split(_MARK)[0].rstrip("\n") + "\n" + _MARK + indented


class _Dumper(yaml.SafeDumper):
    """Short things in one line, texts in quotes: no YAML reader shall take a seed for a number."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if text.endswith("\n") else '"')


def _list(dumper: yaml.SafeDumper, items: list[Any]) -> yaml.SequenceNode:
    plain = all(not isinstance(item, (dict, list)) for item in items)
    return dumper.represent_sequence("tag:yaml.org,2002:seq", items, flow_style=plain or _short(items))


def _object(dumper: yaml.SafeDumper, members: Document) -> yaml.MappingNode:
    node = dumper.represent_mapping("tag:yaml.org,2002:map", members, flow_style=_short(members))
    for name, _ in node.value:
        name.style = None
    return node


def _short(value: Any) -> bool:
    return len(json.dumps(value, ensure_ascii=False)) <= 80


_Dumper.add_representer(str, _text)
_Dumper.add_representer(list, _list)
_Dumper.add_representer(dict, _object)


def differing(stored: Mapping[str, Document], current: Mapping[str, Document]) -> list[str]:
    """Names of the examples that are not, or not only, stored as the service answers them.

    Random answers are left out, and so is what changes with the code itself: see ``steady``.
    """
    random = [f"{name}-answer" for name in RANDOM]
    ours, theirs = steady(stored), steady(current)
    return [
        name
        for name in {**current, **stored}
        if ours.get(name) != theirs.get(name) and not (name in random and name in stored)
    ]


# What changes whenever any file of the service does, be it by a comment.


def steady(examples: Mapping[str, Document]) -> dict[str, Any]:
    """Examples with the engine's digest, certificates and lists of files replaced by what must hold of them.

    One digest has to stand everywhere; it is that of the version's own example. Of a certificate the header
    and the payload remain, and whether the development key signed them: its bytes follow from these. Of the
    files that ``/v1/integrity`` lists remain those that are not what the manifest states.
    """
    engine = examples["version-answer"]["value"]["engine"]["digest"] if "version-answer" in examples else None
    return {name: _steady(example, engine) for name, example in examples.items()}


def _steady(value: Any, engine: str | None) -> Any:
    match value:
        case str() if value == engine:
            return "the engine's digest"
        case str() if value.startswith("{") and value.endswith("}\n"):
            return [_steady(json.loads(line), engine) for line in value.splitlines()]
        case str() if CERTIFICATE.fullmatch(value):
            header, payload, _ = value.split(".")
            return {
                "header": json.loads(decoded(header)),
                "payload": _steady(json.loads(decoded(payload)), engine),
                "genuine": is_genuine(value),
            }
        case {"intact": bool(), "engine": dict(), "files": [manifest, *_] as files}:
            digests = {name: _steady(f"sha256:{manifest[name]}", engine) for name in ("stated", "found")}
            return {
                **{name: _steady(inner, engine) for name, inner in value.items() if name != "files"},
                "manifest": {**manifest, **digests},
                "altered": [file for file in files if not file["intact"] or file["stated"] != file["found"]],
            }
        case dict():
            return {name: _steady(inner, engine) for name, inner in value.items()}
        case list():
            return [_steady(inner, engine) for inner in value]
        case _:
            return value


def is_genuine(certificate: str) -> bool:
    """Whether the development key signed a certificate."""
    try:
        open_certificate(certificate, KEYS.verifying)
    except RefusedCertificate:
        return False
    return True


def outcomes(value: Any) -> Iterator[Document]:
    """Every outcome with a certificate that stands somewhere in an example."""
    if isinstance(value, dict):
        if {"outcome_id", "certificate"} <= value.keys():
            yield value
        for inner in value.values():
            yield from outcomes(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from outcomes(inner)


def main() -> int:
    """Write or compare the examples of the contract; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.contract.examples", description=__doc__)
    parser.add_argument("--write", action="store_true", help="store what the service answers")
    options = parser.parse_args()
    for name in SETTINGS:
        os.environ.pop(name, None)
    logging.getLogger("service.access").disabled = True
    stored = load_contract()["components"].get("examples", {})
    current = current_examples(create_app().test_client())
    for random in (f"{name}-answer" for name in RANDOM):
        current[random] = stored.get(random, current[random])
    if options.write:
        text = with_examples(CONTRACT.read_text(encoding="utf-8"), current)
        CONTRACT.write_text(text, encoding="utf-8")
        sys.stdout.write(f"{len(current)} examples written\n")
        return 0
    for name in (names := differing(stored, current)):
        sys.stdout.write(f"{name} differs\n")
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
