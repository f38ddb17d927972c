"""Log lines in JSON, one object a line: requests on stdout, everything else on stderr.

A request's line names operation and types, never path, query or body. Should a seed get into a line all the
same, by way of an exception's text for instance, the formatter blots it out.
"""

import logging
import re
from datetime import UTC, datetime
from functools import lru_cache
from random import getrandbits
from time import time
from typing import Any, Final

import orjson

REDACTED: Final = "[64 hex digits]"

_ACCESS: Final = logging.getLogger("service.access")
_SEED: Final = re.compile(r"[0-9A-Fa-f]{64,}")
_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,48}")
_SIMPLE: Final = frozenset({str, int, float, bool, type(None)})
_STANDARD: Final = vars(logging.makeLogRecord({})).keys() | {"taskName"}


class JsonFormatter(logging.Formatter):
    """Writes time (UTC), level, logger and message, then the record's extra fields, then its exception.

    Extra fields are numbers, booleans, None or text; anything else is written as its ``str()``. In all text a
    run of 64 or more hex digits, which a seed would be, becomes ``[64 hex digits]``.
    """

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line of JSON."""
        members = {
            "time": f"{_second(int(record.created))}.{int(record.created % 1 * 1000):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        for name, value in vars(record).items():
            if name not in _STANDARD:
                members.setdefault(name, value)
        if record.exc_info:
            members["exception"] = self.formatException(record.exc_info)
        return _line(members)


@lru_cache(maxsize=1)
def _second(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _line(members: dict[str, Any]) -> str:
    if _SIMPLE.issuperset(map(type, members.values())):
        try:
            line = orjson.dumps(members).decode()
        except TypeError:  # a long number, half a surrogate pair
            pass
        else:
            if not _SEED.search(line):
                return line
    return orjson.dumps({name: _plain(value) for name, value in members.items()}).decode()


def _plain(value: object) -> str | int | float | None:
    # Whatever is logged, orjson must be able to write it: it knows 64 bits and no lone surrogates.
    if value is None or isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**63):
        return value
    return _SEED.sub(REDACTED, str(value).encode(errors="backslashreplace").decode())


def dict_config(level: str = "INFO") -> dict[str, Any]:
    """Settings for ``logging.config.dictConfig`` and for gunicorn's ``logconfig_dict``.

    ``level`` is the least level written, except that gunicorn's own messages obey its ``loglevel``.
    """
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonFormatter}},
        "handlers": {
            name: {"class": "logging.StreamHandler", "formatter": "json", "stream": f"ext://sys.{name}"}
            for name in ("stdout", "stderr")
        },
        "root": {"level": level, "handlers": ["stderr"]},
        "loggers": {
            "service.access": {"handlers": ["stdout"], "propagate": False},
            "gunicorn.error": {"handlers": [], "propagate": True},
            # It would write raw paths; service.access takes its place.
            "gunicorn.access": {"handlers": [], "propagate": False},
        },
    }


def log_request(
    *,
    operation: str | None,
    method: str,
    status: int,
    milliseconds: float,
    request_id: str,
    ruleset: str | None = None,
    problem: str | None = None,
) -> None:
    """Log an answered request, as an error if the service failed it (5xx).

    ``operation`` is the name of the endpoint, never the path; None, as for a path that leads nowhere, is
    written as ``unmatched``. ``ruleset`` is a known id, ``problem`` the short name of a problem type.
    """
    level = logging.ERROR if status >= 500 else logging.INFO
    if not _ACCESS.isEnabledFor(level):
        return
    fields = {
        "operation": operation or "unmatched",
        "method": method,
        "status": status,
        "duration_ms": round(milliseconds, 3),
        "request_id": request_id,
        "ruleset": ruleset,
        "problem": problem,
    }
    _ACCESS.handle(_AccessRecord(level, {name: value for name, value in fields.items() if value is not None}))


class _AccessRecord(logging.LogRecord):
    """The record of an access line, made in a fraction of the usual time: of no thread, no line of code."""

    def __init__(self, level: int, fields: dict[str, Any]) -> None:
        vars(self).update(_UNSAID)
        vars(self).update(fields)
        self.levelno, self.levelname = level, logging.getLevelName(level)
        self.created = time()
        self.msecs = self.created % 1 * 1000
        self.args = fields


_UNSAID: Final = vars(
    logging.LogRecord(_ACCESS.name, 0, "", 0, "%(method)s %(operation)s %(status)d", None, None)
)


def request_id(incoming: str | None) -> str:
    """The id under which a request is logged: the caller's ``X-Request-Id``, or a new one in its place.

    The caller's is taken if it is 1 to 48 letters, digits, dots, hyphens and underscores, which no seed is.
    """
    if incoming is not None and _REQUEST_ID.fullmatch(incoming):
        return incoming
    return f"{getrandbits(128):032x}"  # names a request, guards nothing
