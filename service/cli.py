"""The ``russian-poker`` command.

Exit status: 0 done, 1 refused, 2 wrong usage, 130 interrupted; why stands on standard error. Of ``verify``,
``audit`` and ``conformance`` 1 is a verdict, on standard output, and 2 that there could be none.
"""

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from service import __version__
from service.api.manners import MalformedOrigins, configured_origins
from service.api.problems import Problem, as_problem
from service.api.verification import verify_shown
from service.audit import RefusedAudit
from service.certificate.jws import certify
from service.conformance.client import Deployment
from service.conformance.kits import MalformedKit, load_kit, newest_kit
from service.conformance.runner import report_text, run_kit
from service.fairness.deal import deck_document
from service.files import shipped
from service.game.documents import hand_document
from service.game.ruleset import MalformedRuleset
from service.keys import (
    Keys,
    MalformedKeys,
    configured_keys,
    new_keys,
    revoked_keys,
    rotated_keys,
    verification_keys,
)
from service.registry import configured_rulesets
from service.rounds import find_ruleset, settle_request, unsealed
from service.schemas import DECK, EVALUATE, ROUND, load
from service.settings import DEFAULTS, MalformedSetting, whole_setting
from service.strict_json import MalformedJson, parse_json
from service.verification import claim_of


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    options = _parser().parse_args(arguments)
    try:
        document = options.run(options)
    except KeyboardInterrupt:
        print("russian-poker: interrupted", file=sys.stderr)
        return 130
    except _MALFORMED as error:
        print(f"russian-poker: {error}", file=sys.stderr)
        return int(options.refused)
    except RefusedAudit as error:
        print(f"russian-poker: {error}", file=sys.stderr)
        return error.status
    except (ValueError, LookupError, Problem) as error:
        print(_explained(as_problem(error)), file=sys.stderr)
        return int(options.refused)
    try:
        # A name of a file may be no text.
        sys.stdout.buffer.write(options.shown(document).encode(errors="backslashreplace"))
        sys.stdout.flush()
    except BrokenPipeError:  # who reads has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return int(isinstance(document, dict) and False in (document.get("valid"), document.get("conforms")))


_MALFORMED = (OSError, MalformedRuleset, MalformedKeys, MalformedKit, MalformedOrigins, MalformedSetting)
"""What a file or the environment may hold that nothing can be done with."""


def _as_json(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="russian-poker",
        description="Deal, settle and explain rounds of Russian Poker.",
        epilog="RULESETS_DIR names a folder of further rulesets, KEYS_FILE the keys that sign and verify."
        " Exit status: 0 done, 1 refused, 2 misused, 130 interrupted.",
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    parser.set_defaults(shown=_as_json, refused=1)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    serve = commands.add_parser("serve", help="serve the HTTP API with gunicorn")
    serve.add_argument(
        "--host", default=os.environ.get("HOST", "127.0.0.1"), help="address (default: %(default)s)"
    )
    serve.add_argument(
        "--port", default=os.environ.get("PORT", "8080"), type=_port, help="port (default: %(default)s)"
    )
    serve.set_defaults(run=_serve)

    settle = commands.add_parser(
        "settle",
        help="settle a round from a file",
        description="Settle the round in FILE, JSON as for POST /v1/rounds/settle, and print its outcome.",
    )
    settle.add_argument("file", metavar="FILE", help="a JSON file, or - for standard input")
    settle.set_defaults(run=_settle)

    deck = commands.add_parser("deck", help="show the deck of given seeds, with every draw of the shuffle")
    deck.add_argument("server_seed", metavar="SERVER_SEED", help="64 hex digits")
    deck.add_argument("--client-seed", default="", metavar="TEXT", help="the player's text (default: empty)")
    deck.add_argument("--nonce", default=0, type=int, metavar="N", help="number of the deal (default: 0)")
    deck.set_defaults(run=_deck)

    evaluate = commands.add_parser("evaluate", help="evaluate a hand of five or six cards")
    evaluate.add_argument(
        "ruleset", metavar="RULESET", help="id of the ruleset that pays it, such as casino-1"
    )
    evaluate.add_argument("cards", metavar="CARD", nargs="+", help="card codes, such as Ah Kd Td 8c 8s")
    evaluate.set_defaults(run=_evaluate)

    verify = commands.add_parser(
        "verify",
        help="verify a certificate or an outcome",
        description="Verify what FILE holds: a certificate, an outcome, or a request with an outcome claimed"
        " for it. Needs no network. Exit status: 0 valid, 1 not valid, 2 nothing could be verified.",
    )
    verify.add_argument("file", metavar="FILE", help="a file, or - for standard input")
    verify.add_argument("--server-seed", metavar="HEX", help="the server seed, where the outcome hides it")
    verify.set_defaults(run=_verify, refused=2)

    bulk = commands.add_parser(
        "audit",
        help="settle recorded rounds again and compare, in bulk",
        description="Recompute recorded rounds, one a line (plain, .gz or .zst) or a row (.parquet, column"
        " outcome), and write each difference and a summary into a folder. Exit status: 0 all are right, 1"
        " not all are, or can be read and checked, 2 there could be no audit, 130 interrupted.",
    )
    bulk.add_argument("files", metavar="FILE", nargs="+", help="a file, or - for lines from standard input")
    bulk.add_argument(
        "--output",
        type=Path,
        default="audit",
        metavar="DIR",
        help="folder of the results (default: %(default)s)",
    )
    bulk.add_argument("--resume", action="store_true", help="go on with an audit that was broken off in DIR")
    power = bulk.add_mutually_exclusive_group()
    power.add_argument("--workers", type=_count, metavar="N", help="processes (default: one for each core)")
    power.add_argument(
        "--scheduler", metavar="ADDRESS", help="leave the work to a Dask cluster, tcp://HOST:PORT"
    )
    bulk.add_argument(
        "--no-signatures",
        dest="certificates",
        action="store_false",
        help="leave certificates within outcomes unchecked",
    )
    bulk.add_argument(
        "--lean",
        action=argparse.BooleanOptionalAction,
        help="confirm most records by compiled code, which takes half a minute to compile and then a fraction"
        " of the time; the results are the same (default: from a gigabyte on, where numba is installed, but"
        " not on a cluster)",
    )
    bulk.set_defaults(run=_audit, refused=2)
    for command in (verify, bulk):
        command.add_argument(
            "--jwks", type=Path, metavar="FILE", help="the public keys of the service that signed"
        )

    keys = commands.add_parser("keys", help="make, rotate and revoke keys; prints the new key file")
    actions = keys.add_subparsers(required=True, metavar="ACTION")
    actions.add_parser("new", help="a new key file").set_defaults(run=lambda _: new_keys())
    rotate = actions.add_parser("rotate", help="let the next keys become active and the active ones retire")
    revoke = actions.add_parser("revoke", help="let certificates of a retired key verify no more")
    for action, change in ((rotate, _rotate), (revoke, _revoke)):
        action.add_argument("file", type=Path, metavar="FILE", help="the present key file")
        action.set_defaults(run=change)
    revoke.add_argument("kid", metavar="KID", help="id of the key")
    revoke.add_argument("reason", metavar="REASON", help="what verifiers are told")

    rulesets = commands.add_parser("rulesets", help="list the rulesets, or show one whole")
    rulesets.add_argument("id", metavar="ID", nargs="?", help="id of a ruleset, such as casino-1")
    rulesets.set_defaults(run=_rulesets)

    conformance = commands.add_parser(
        "conformance",
        help="test a deployment with golden vectors",
        description="Ask the deployment at URL every case of a conformance kit and tell what differs."
        " Exit status: 0 nothing does, 1 something does, 2 nothing could be tested.",
    )
    conformance.add_argument(
        "deployment", metavar="URL", type=_deployment, help="such as https://host/prefix"
    )
    conformance.add_argument(
        "--kit",
        type=Path,
        metavar="FILE",
        help="a kit as /v1/conformance offers it (default: the newest here)",
    )
    conformance.add_argument(
        "--json",
        dest="shown",
        action="store_const",
        const=_as_json,
        default=report_text,
        help="report in JSON, with every difference",
    )
    conformance.set_defaults(run=_conformance, refused=2)
    return parser


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"a port is a number from 0 to 65535; got {text!r}")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number from 1; got {text!r}")
    return int(text)


def _serve(options: argparse.Namespace) -> None:
    # What is wrong is better told here than in the log of a worker.
    configured_rulesets(), configured_keys(), configured_origins()
    for name in DEFAULTS:
        whole_setting(name)
    os.environ["HOST"], os.environ["PORT"] = options.host, str(options.port)

    from gunicorn.app import wsgiapp  # no other command needs it

    # In this process, which has its tables already. On SIGUSR2 gunicorn runs this command line in a new one.
    sys.argv = [wsgiapp.__file__, "--config", str(shipped("deploy/gunicorn.conf.py"))]
    wsgiapp.run(prog="gunicorn")


def _settle(options: argparse.Namespace) -> Any:
    keys = configured_keys()
    request = unsealed(load(ROUND, parse_json(_read(options.file))), keys.sealer)
    return certify(settle_request(request, configured_rulesets()), keys.signer)


def _verify(options: argparse.Namespace) -> Any:
    keys = _verifying(options)
    text = _read(options.file).strip()
    shown = parse_json(text) if text.startswith(b"{") else {"certificate": text.decode(errors="replace")}
    shown = claim_of(shown)
    if options.server_seed:
        shown["server_seed"] = options.server_seed
    return verify_shown(shown, configured_rulesets(), keys)


def _verifying(options: argparse.Namespace) -> Keys:
    """The keys, with those from --jwks to verify with where it is given."""
    keys = configured_keys()
    if not options.jwks:
        return keys
    return keys._replace(verifying=_from_key_file(options.jwks, verification_keys))


def _audit(options: argparse.Namespace) -> Any:
    from service.audit.runner import audit  # no other command needs it

    names = ("output", "certificates", "resume", "workers", "scheduler", "lean")
    return audit(
        options.files,
        configured_rulesets(),
        _verifying(options).verifying,
        **{name: getattr(options, name) for name in names},
    )


def _rotate(options: argparse.Namespace) -> Any:
    return _from_key_file(options.file, rotated_keys)


def _revoke(options: argparse.Namespace) -> Any:
    return _from_key_file(options.file, partial(revoked_keys, kid=options.kid, reason=options.reason))


def _from_key_file(path: Path, make: Callable[[Any], Any]) -> Any:
    try:
        return make(parse_json(path.read_bytes()))
    except (MalformedKeys, MalformedJson) as error:
        raise MalformedKeys(f"{path}: {error}") from None


def _read(file: str) -> bytes:
    return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()


def _deck(options: argparse.Namespace) -> Any:
    members = ("server_seed", "client_seed", "nonce")
    return deck_document(load(DECK, {name: getattr(options, name) for name in members}))


def _evaluate(options: argparse.Namespace) -> Any:
    ruleset = find_ruleset(configured_rulesets(), options.ruleset).ruleset
    body = load(EVALUATE, {"ruleset": ruleset.id, "cards": " ".join(options.cards).split()})
    return hand_document(ruleset, body["cards"])


def _rulesets(options: argparse.Namespace) -> Any:
    registry = configured_rulesets()
    if options.id:
        return find_ruleset(registry, options.id).document
    return {id: published.document["title"] for id, published in registry.items()}


def _deployment(text: str) -> Deployment:
    try:
        return Deployment(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _conformance(options: argparse.Namespace) -> Any:
    kit = load_kit(options.kit.read_bytes()) if options.kit else newest_kit()
    with closing(options.deployment) as deployment:
        return run_kit(kit, deployment, deployment.address, _progress)


def _progress(asked: int, cases: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{asked} of {cases}", end="" if asked < cases else "\r", file=sys.stderr, flush=True)


def _explained(problem: Problem) -> str:
    """A problem for a terminal: its title, then every fault. Its type's cure speaks of calls over HTTP."""
    faults = [f"  {error['pointer'] or 'the document'}: {error['detail']}" for error in problem.errors]
    return "\n".join([f"russian-poker: {problem.type.title}", *(faults or [f"  {problem.detail}"])])


if __name__ == "__main__":
    sys.exit(main())
