import io
import json
import logging
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from service.observability import logs

SEED = "0123456789abcdef" * 4

ROOT = Path(__file__).parents[2]

Line = dict[str, Any]
Log = Callable[..., Line]


@pytest.fixture
def log() -> Log:
    """Logs a message and returns the line written, read back."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.JsonFormatter())
    logger = logging.Logger("some.logger")
    logger.addHandler(handler)

    def write(message: str, *args: object, **options: Any) -> Line:
        logger.info(message, *args, **options)
        assert stream.getvalue().count("\n") == 1, "one record, one line"
        assert SEED not in stream.getvalue()
        line = json.loads(stream.getvalue())
        assert isinstance(line, dict)
        return line

    return write


def run(statement: str) -> tuple[list[Line], list[Line]]:
    """What a process with the service's logging writes to stdout and to stderr."""
    script = f"""
import logging.config
from service.observability import logs
logging.config.dictConfig(logs.dict_config())
{statement}
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, check=True, timeout=60
    )
    out, err = ([json.loads(line) for line in text.splitlines()] for text in (done.stdout, done.stderr))
    return out, err


def test_a_line_holds_time_level_logger_message_and_extras(log: Log) -> None:
    line = log("dealt %d of %s", 5, "52", extra={"ruleset": "casino-1", "boxes": 3})
    time = line.pop("time")
    assert line == {
        "level": "info",
        "logger": "some.logger",
        "message": "dealt 5 of 52",
        "ruleset": "casino-1",
        "boxes": 3,
    }
    assert len(time) == len("2020-01-01T00:00:00.000Z")


def test_time_is_utc_with_milliseconds() -> None:
    record = logging.makeLogRecord({"created": 1_000_000_000.0625})
    assert json.loads(logs.JsonFormatter().format(record))["time"] == "2001-09-09T01:46:40.062Z"


def test_an_extra_field_does_not_replace_the_loggers_name(log: Log) -> None:
    assert log("hello", extra={"logger": "liar", "level": "liar"})["logger"] == "some.logger"


def test_a_traceback_with_a_seed_is_logged_without_it(log: Log) -> None:
    with pytest.raises(ValueError, match=SEED) as caught:
        int(SEED, 8)
    error = RuntimeError(f"seed {SEED.upper()} is bad")
    error.__cause__ = caught.value
    line = log("failed", exc_info=error)
    assert f"RuntimeError: seed {logs.REDACTED} is bad" in line["exception"]
    assert f"ValueError: invalid literal for int() with base 8: '{logs.REDACTED}'" in line["exception"]
    assert SEED.upper() not in line["exception"]


@pytest.mark.parametrize(
    ("text", "written"),
    [
        (SEED, logs.REDACTED),
        (f"0x{SEED}, sha256:{SEED}", f"0x{logs.REDACTED}, sha256:{logs.REDACTED}"),
        (SEED + SEED + "ab", logs.REDACTED),
        (f"\x1f{SEED}", f"\x1f{logs.REDACTED}"),
        (f"\\u{SEED}", f"\\u{logs.REDACTED}"),
        (SEED[1:], SEED[1:]),
    ],
    ids=["alone", "prefixed", "longer", "after a control character", "after a backslash", "63 digits"],
)
def test_a_run_of_64_hex_digits_is_never_written(log: Log, text: str, written: str) -> None:
    line = log("it is %s", text, extra={"field": text, "nested": {"key": [text]}, "number": int(SEED, 16)})
    assert line["message"] == f"it is {written}"
    assert line["field"] == written
    assert line["number"] == logs.REDACTED


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (None, None),
        (True, True),
        (0.5, 0.5),
        (float("nan"), None),
        (-(2**63) + 1, -(2**63) + 1),
        (2**64, "18446744073709551616"),
        ("\ud800", "\\ud800"),
        ("Да\n", "Да\n"),
        ({"a": 1}, "{'a': 1}"),
        (b"\xff", "b'\\xff'"),
    ],
)
def test_whatever_is_logged_gets_written(log: Log, value: object, written: object) -> None:
    assert log("hello", extra={"field": value})["field"] == written


def test_a_request_is_one_line_on_stdout() -> None:
    (line,), err = run(
        "logs.log_request(operation='settle', method='POST', status=200, milliseconds=0.71239,"
        " request_id='abc', ruleset='casino-1')"
    )
    assert line.pop("time")
    assert line == {
        "level": "info",
        "logger": "service.access",
        "message": "POST settle 200",
        "operation": "settle",
        "method": "POST",
        "status": 200,
        "duration_ms": 0.712,
        "request_id": "abc",
        "ruleset": "casino-1",
    }
    assert err == []


def test_a_failed_request_is_an_error_with_its_problem() -> None:
    (line,), _ = run(
        "logs.log_request(operation=None, method='GET', status=500, milliseconds=1, request_id='abc',"
        " problem='internal-error')"
    )
    assert (line["level"], line["operation"], line["problem"]) == ("error", "unmatched", "internal-error")


def test_other_lines_go_to_stderr_and_gunicorns_access_lines_nowhere() -> None:
    out, err = run(
        "logging.getLogger('service.api').info('ready')\n"
        "logging.getLogger('gunicorn.error').warning('slow')\n"
        "logging.getLogger('gunicorn.access').info('GET /some/path')"
    )
    assert out == []
    assert [line["message"] for line in err] == ["ready", "slow"]


def test_the_level_can_be_chosen() -> None:
    assert logs.dict_config(level="WARNING")["root"]["level"] == "WARNING"


@pytest.mark.parametrize("incoming", ["a", "A-b_c.9", "0" * 48])
def test_a_short_plain_request_id_is_kept(incoming: str) -> None:
    assert logs.request_id(incoming) == incoming


@pytest.mark.parametrize("incoming", [None, "", "a b", "abc\n", "é", "٣", "0" * 49, SEED])
def test_any_other_request_id_is_replaced(incoming: str | None) -> None:
    made = logs.request_id(incoming)
    assert made != incoming
    assert logs.request_id(made) == made
    assert logs.request_id(incoming) != made
