"""The runner over sockets that do not do what they should: silence, nonsense, a host not trusted."""

import datetime
import socket
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Final

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from service.api import create_app
from service.conformance import client as http_client
from service.conformance.client import Deployment, Sent
from service.conformance.kits import Kit
from service.conformance.runner import report_text
from tests.api.servers import listening, serving_here
from tests.conformance.conftest import run


class Odd(BaseHTTPRequestHandler):
    """Answers that no deployment should give, by path; whatever it says, it closes the connection."""

    protocol_version = "HTTP/1.1"
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
    raw: Final = {
        "/moved": b"HTTP/1.1 308 Moved\r\nLocation: https://poker.example/\r\nContent-Length: 0\r\n\r\n",
        "/short": head + b"Content-Length: 99\r\n\r\n{}",
        "/nonsense": b"Hello!\r\n\r\n",
        "/large": head + b"\r\n" + b" " * 5000,
        "/once": head + b"Content-Length: 2\r\n\r\n{}",
    }

    def do_GET(self) -> None:
        self.wfile.write(self.raw.get(self.path.partition("/.well-known")[0], b""))
        self.close_connection = True

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def odd() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Odd)
    server.daemon_threads = True
    with listening(server):
        yield f"http://127.0.0.1:{server.server_port}"


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/moved", "the answer leads elsewhere, to https://poker.example/: ask there"),
        ("/short", "97 more expected"),
        ("/nonsense", "Hello!"),
        ("/large", "more than 4096 bytes"),
        ("/closed", "closed connection without response"),
    ],
)
def test_answers_that_cannot_be_read(
    path: str, told: str, odd: str, kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_client, "MAX_ANSWER", 4096)
    report = run(kit, odd + path)
    assert (report["conforms"], report["asked"], report["failed"]) == (False, 1, 1)
    (difference,) = report["failures"][0]["differences"]
    assert (difference["place"], difference["expected"]) == ("status", 200)
    assert told in difference["got"]
    assert f"{len(kit.cases) - 1} more were not asked" in report_text(report)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def silent(*, dripping: bool = False) -> Iterator[str]:
    """A server that takes connections and says nothing, or a byte now and then."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        ended: list[bool] = []

        def serve() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(Odd.head + b"\r\n" if dripping else b"")
                while not ended:
                    try:
                        connection.sendall(b" " if dripping else b"")
                        connection.settimeout(0.01)
                        if not connection.recv(1):
                            return
                    except TimeoutError:
                        pass
                    except OSError:
                        return

        thread = Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"
        ended.append(True)
        thread.join()


@pytest.mark.parametrize("dripping", [False, True])
def test_a_server_that_never_finishes(dripping: bool, kit: Kit) -> None:
    with silent(dripping=dripping) as address:
        report = run(kit, address, patience=0.3)
    assert "no whole answer within 0.3 seconds" in report_text(report)
    assert (report["asked"], report["conforms"]) == (1, False)


def test_nobody_there(kit: Kit) -> None:
    report = run(kit, f"http://127.0.0.1:{free_port()}")
    assert "refused" in report_text(report)
    report = run(kit, "http://nobody.invalid")
    assert "no answer: " in report_text(report)
    assert report["asked"] == 1


def test_a_connection_that_was_closed_meanwhile_is_opened_again(odd: str) -> None:
    with closing(Deployment(odd)) as deployment:
        for _ in range(3):
            assert deployment(Sent("GET", "/once")).body == b"{}"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "127.0.0.1:8080",
        "ftp://127.0.0.1",
        "http://",
        "http://127.0.0.1/?a=1",
        "http://127.0.0.1/#a",
        "http://anna:secret@127.0.0.1/",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:http",
        "http://127.0.0.1/a b",
        "http://127.0.0.1/ö",
        "http://127.0.0.1/\r\nX: 1",
    ],
)
def test_what_is_no_address(address: str) -> None:
    with pytest.raises(ValueError, match=r"address|[Pp]ort"):
        Deployment(address)


# HTTPS.


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for localhost, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    begin = datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)
    signed = (
        x509.CertificateBuilder(name, name, key.public_key(), 1, begin, begin.replace(year=2999))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    pem = serialization.Encoding.PEM
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    path.write_bytes(private + signed.public_bytes(pem))
    return path


def test_https_with_a_certificate_that_is_trusted_and_one_that_is_not(
    certificate: Path, kit: Kit, monkeypatch: pytest.MonkeyPatch
) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    small = kit._replace(cases=kit.cases[:20])
    with serving_here(create_app(), context) as port:
        address = f"https://localhost:{port}"
        assert "CERTIFICATE_VERIFY_FAILED" in report_text(run(small, address))
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        assert run(small, address)["conforms"]
