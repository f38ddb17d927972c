"""A deployment as its callers see it: asked over HTTP, one connection kept alive, and never for long."""

import http.client
import time
from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from service.conformance.comparison import Answer

PATIENCE: Final = 10.0
"""Seconds that an answer may take."""
MAX_ANSWER: Final = 8 * 1024 * 1024
"""Most bytes of an answer."""
_CHUNK: Final = 64 * 1024


class Sent(NamedTuple):
    """A request as it leaves; ``path`` is that of the contract, whatever stands before it at a deployment."""

    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = {}


class NoAnswer(Exception):
    """Nobody answered, or not in a way that can be read; the text says what happened."""


class Deployment:
    """One deployment at an address such as ``https://poker.example/api``. Call it to ask it.

    Raises ``ValueError`` for an address that is none.
    """

    def __init__(self, address: str, patience: float = PATIENCE) -> None:
        parts = urlsplit(address)
        kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
        if parts.scheme not in kinds or not parts.hostname or parts.query or parts.fragment or parts.username:
            raise ValueError("an address is http:// or https://, a host, and a path if there is one")
        if not address.isascii() or not address.isprintable() or " " in address:
            raise ValueError("an address has printable ASCII characters only, and no spaces")
        self.address = address.rstrip("/")
        self._prefix = parts.path.rstrip("/")
        self._patience = patience
        self._connection = kinds[parts.scheme](parts.hostname, parts.port, timeout=patience)

    def __call__(self, sent: Sent) -> Answer:
        """The answer to a request. Raises ``NoAnswer``."""
        kept = self._connection.sock is not None
        try:
            try:
                return self._ask(sent)
            except (http.client.BadStatusLine, ConnectionError):
                if not kept:  # else it was closed since the last answer, which is nobody's fault
                    raise
                self.close()
                return self._ask(sent)
        except TimeoutError:
            problem = f"no whole answer within {self._patience:g} seconds"
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            problem = str(error) or type(error).__name__
        self.close()
        raise NoAnswer(problem)

    def _ask(self, sent: Sent) -> Answer:
        until = time.monotonic() + self._patience
        headers = {"User-Agent": "russian-poker-conformance", **sent.headers}
        self._connection.request(sent.method, self._prefix + sent.path, sent.body, headers)
        body = b""
        with self._connection.getresponse() as response:
            while part := response.read1(_CHUNK):
                body += part
                if len(body) > MAX_ANSWER:
                    raise OSError(f"the answer has more than {MAX_ANSWER} bytes")
                if time.monotonic() > until:
                    raise TimeoutError
        if response.length:
            raise http.client.IncompleteRead(body, response.length)
        told = {name.lower(): ", ".join(response.headers.get_all(name, [])) for name in response.headers}
        if 300 <= response.status < 400:
            raise OSError(f"the answer leads elsewhere, to {told.get('location', 'nowhere')}: ask there")
        return Answer(response.status, told, body)

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        self._connection.close()
