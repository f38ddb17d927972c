"""Whether the files that decide outcomes, all code and all rulesets, are those of the release.

The manifest beside this module is in the format of ``sha256sum``, so that anybody can check it from outside:
``cd service && sha256sum -c MANIFEST.sha256``. Its own digest identifies the engine in every outcome.
"""

import marshal
import mmap
import struct
import time
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from importlib.util import MAGIC_NUMBER, cache_from_source
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parent
MANIFEST: Final = ROOT / "MANIFEST.sha256"
CHECK_EVERY: Final = 24 * 60 * 60
"""Seconds after which a check is repeated."""
_DECIDING: Final = ("**/*.py", "**/*.so", "**/*.pyd", "rulesets/*.toml")
_SETTINGS: Final = "deploy/gunicorn.conf.py"  # of the server, in a wheel; decides nothing


class FileCheck(NamedTuple):
    """One file: the digest that the manifest states and the one found, None where there is none."""

    file: str
    stated: str | None
    found: str | None

    @property
    def intact(self) -> bool:
        """Whether the file is that of the release."""
        return self.stated == self.found


def manifest_text(root: Path = ROOT) -> str:
    """The manifest of the files as they are now."""
    return "".join(f"{digest}  {file}\n" for file, digest in sorted(_digests(root).items()))


def check_files(root: Path = ROOT) -> Iterator[FileCheck]:
    """Every file that the manifest states or that decides outcomes, with both digests.

    The manifest comes first: it must be the one that was there when this process began.
    """
    manifest = _manifest(root)
    yield FileCheck(MANIFEST.name, ENGINE_DIGEST.removeprefix("sha256:"), _digest(manifest))
    lines = manifest.decode(errors="replace").splitlines()
    stated = {file: digest for digest, _, file in (line.partition("  ") for line in lines)}
    found = _digests(root)
    for file in sorted(stated.keys() | found.keys()):
        yield FileCheck(file, stated.get(file), found.get(file))
    for path in _foreign_bytecode(root):
        yield FileCheck(path.relative_to(root).as_posix(), None, _file_digest(path))


def _manifest(root: Path) -> bytes:
    try:
        return (root / MANIFEST.name).read_bytes()
    except OSError:
        return b""


def _digest(content: bytes) -> str:
    return sha256(content).hexdigest()


def _digests(root: Path) -> dict[str, str]:
    """The digest of every deciding file; what the system says where one cannot be read."""
    return {path.relative_to(root).as_posix(): _file_digest(path) for path in _deciding(root)}


def _deciding(root: Path) -> Iterator[Path]:
    files = (path for pattern in _DECIDING for path in root.glob(pattern))
    return (path for path in files if path != root / _SETTINGS)


def _file_digest(path: Path) -> str:
    try:
        return _digest(path.read_bytes())
    except OSError as error:
        return str(error.strerror)


def _foreign_bytecode(root: Path) -> Iterator[Path]:
    """Compiled files that Python would run in place of a source, and that are another program than it."""
    for source in _deciding(root):
        cached = Path(cache_from_source(source))
        if source.suffix == ".py" and source.is_file() and cached.is_file():
            compiled = cached.read_bytes()
            if _is_in_use(compiled[:16], source) and not _is_compiled_from(compiled[16:], source):
                yield cached


def _is_in_use(header: bytes, source: Path) -> bool:
    """Whether Python takes a compiled file: its magic number, and its time and size unless it waives them."""
    stat = source.stat()
    taken_by_time = struct.pack("<III", 0, int(stat.st_mtime) & 0xFFFFFFFF, stat.st_size & 0xFFFFFFFF)
    return header[:4] == MAGIC_NUMBER and (header[4:8] != bytes(4) or header[4:] == taken_by_time)


def _is_compiled_from(code: bytes, source: Path) -> bool:
    try:
        program = marshal.loads(code)  # noqa: S302  # the import has run it already
    except (ValueError, EOFError, TypeError):
        return False
    return bool(program == compile(source.read_bytes(), source, "exec", dont_inherit=True))


ENGINE_DIGEST: Final = "sha256:" + _digest(_manifest(ROOT))
"""Digest of the manifest: one name for all files that decide outcomes."""


class Integrity:
    """The state of the check, shared by all processes that are forked from the one that made it.

    ``report`` is told at each check which files are not those of the release.
    """

    def __init__(self, report: Callable[[Sequence[FileCheck]], None], root: Path = ROOT) -> None:
        self._report = report
        self._root = root
        self._lost = mmap.mmap(-1, 1)
        self._checked = 0.0
        self.check()

    def check(self) -> list[FileCheck]:
        """Check all files now."""
        checks = list(check_files(self._root))
        altered = [check for check in checks if not check.intact]
        self._checked = time.monotonic()
        self._lost[0] = bool(altered)
        self._report(altered)
        return checks

    @property
    def intact(self) -> bool:
        """Whether the last check, by whichever process, found every file as stated. Checks once a day."""
        if time.monotonic() - self._checked > CHECK_EVERY:
            self.check()
        return not self._lost[0]
