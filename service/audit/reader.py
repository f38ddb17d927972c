"""Inputs cut into chunks of whole lines, about a megabyte each, one after the other.

Nothing that is read stays in memory, and no chunk depends on another: a chunk begins where one ended.
"""

import gzip
import os
import stat
import sys
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib import import_module
from itertools import islice
from typing import Any, BinaryIO, Final, NamedTuple, TypeAlias

from service.audit import present
from service.audit.records import MAX_LINE

CHUNK: Final = 2**20
"""Bytes of a chunk, and as many more as its last line takes."""
ROWS: Final = 256
"""Rows of a Parquet file in a chunk."""
COLUMN: Final = "outcome"
"""The column of a Parquet file that holds the records."""
STANDARD_INPUT: Final = "-"

_MAGIC: Final = {"gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd", "parquet": b"PAR1"}
_SUFFIXES: Final = {".gz": "gzip", ".zst": "zstd", ".parquet": "parquet"}
_ZSTD: Final = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
_MODULES: Final = {"zstd": _ZSTD, "parquet": "pyarrow"}


# A column is read page by page, not as a whole, and pages are held against their checksums, if they have any.
_PARQUET: Final = {"buffer_size": CHUNK, "pre_buffer": False, "page_checksum_verification": True}


class Input(NamedTuple):
    """A file to audit; ``size`` in bytes and ``modified`` in nanoseconds are 0 for what is no regular one."""

    name: str
    format: str
    size: int
    modified: int
    identity: tuple[int, int]

    @property
    def resumable(self) -> bool:
        """Whether it can be read a second time."""
        return self.format != "stream"


class Span(NamedTuple):
    """Whole lines of a plain file, to be read by whoever audits them."""

    path: str
    offset: int
    length: int


Payload: TypeAlias = Span | bytes | Sequence[bytes]


class Chunk(NamedTuple):
    """Some records of an input. ``end`` is where they end in it: bytes as decompressed, or rows.

    ``read`` is how much of the file was read for it, in bytes. After a ``fault`` the input goes no further.
    """

    file: int
    payload: Payload
    end: int
    read: int
    fault: str | None = None


_Piece: TypeAlias = tuple[Payload, int, int, str | None]  # what a Chunk has after its file


def inspect(name: str) -> Input:
    """What an input is. Raises ``OSError``, and ``RefusedAudit`` where its format needs an extra."""
    if name == STANDARD_INPUT:
        return Input(name, "stream", 0, 0, (0, 0))
    status = os.stat(name)
    identity = status.st_dev, status.st_ino
    if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
        return Input(name, "stream", 0, 0, identity)
    format = _SUFFIXES.get(os.path.splitext(name)[1]) or _recognised(name)
    if format in _MODULES:
        present(_MODULES[format], "audit")
    return Input(name, format, status.st_size, status.st_mtime_ns, identity)


def _recognised(name: str) -> str:
    with open(name, "rb") as file:
        start = file.read(4)
    return next((format for format, magic in _MAGIC.items() if start.startswith(magic)), "plain")


def chunks(inputs: Sequence[Input], file: int = 0, end: int = 0, size: int = CHUNK) -> Iterator[Chunk]:
    """Cut the inputs, from the place ``end`` of the input ``file`` on."""
    for place, input in islice(enumerate(inputs), file, None):
        for piece in _pieces(input, end, size):
            yield Chunk(place, *piece)
        end = 0


def passed(inputs: Sequence[Input], file: int, end: int) -> int:
    """Bytes of the files that are not read again when an audit goes on from a place."""
    plain = file < len(inputs) and inputs[file].format == "plain"
    return sum(input.size for input in inputs[:file]) + (end if plain else 0)


def lines(payload: Payload) -> Sequence[bytes]:
    """The lines of a chunk. Raises ``OSError`` where a file is no longer as it was."""
    content = loaded(payload)
    if not isinstance(content, bytes):
        return content
    found = content.split(b"\n")
    return found if found[-1] else found[:-1]


def loaded(payload: Payload) -> bytes | Sequence[bytes]:
    """The payload with its bytes. Raises ``OSError``."""
    if not isinstance(payload, Span):
        return payload
    with open(payload.path, "rb") as file:
        file.seek(payload.offset)
        content = file.read(payload.length)
    if len(content) != payload.length:
        raise OSError(f"{payload.path} became shorter while it was read")
    return content


# Each of these goes through one input from a place in it on.


def _pieces(input: Input, end: int, size: int) -> Iterator[_Piece]:
    if input.format in _MAGIC and not input.size:
        return iter([(b"", 0, 0, f"an empty file is no {input.format} file")])
    if input.format == "plain":
        return _spans(input, end, size)
    if input.format == "parquet":
        return _rows(input, end)
    return _blocks(input, end, size)


def _spans(input: Input, end: int, size: int) -> Iterator[_Piece]:
    with open(input.name, "rb") as file:
        while end < input.size:
            start, end = end, file.seek(min(end + size, input.size))
            kept, skipped = _rest_of_line(file)
            span = Span(input.name, start, end - start + len(kept))
            end += len(kept) + skipped
            yield span, end, end - start, None


def _blocks(input: Input, end: int, size: int) -> Iterator[_Piece]:
    with ExitStack() as stack:
        raw: BinaryIO = sys.stdin.buffer
        if input.name != STANDARD_INPUT:
            raw = stack.enter_context(open(input.name, "rb"))
        stream, broken = _decompressed(input.format, raw)
        missing = end
        while missing and (part := stream.read1(min(missing, CHUNK))):  # audited before, so it can be read
            missing -= len(part)
        before, fault = 0, None
        while fault is None:
            block, skipped, fault = _block(stream, size, broken)
            if not block and not fault:
                return
            end += len(block) + skipped
            read = raw.tell() if input.resumable else 0
            yield block, end, read - before, fault and f"the {input.format} stream breaks here: {fault}"
            before = read


def _decompressed(format: str, raw: Any) -> tuple[Any, tuple[type[Exception], ...]]:
    """What reads a stream, and what that raises where it is damaged."""
    if format == "gzip":
        return gzip.GzipFile(fileobj=raw), (OSError, EOFError, zlib.error)
    if format == "zstd":
        zstd = import_module(_ZSTD)
        return zstd.ZstdFile(raw), (OSError, EOFError, zstd.ZstdError)
    return raw, (OSError,)


def _block(stream: Any, size: int, broken: tuple[type[Exception], ...]) -> tuple[bytes, int, str | None]:
    """The next lines, how many bytes after them were left out, and what is wrong behind them."""
    parts, missing, skipped = list[bytes](), size, 0
    try:
        while missing and (part := stream.read1(missing)):
            parts.append(part)
            missing -= len(part)
        if not missing:
            kept, skipped = _rest_of_line(stream)
            parts.append(kept)
    except broken as error:
        good = b"".join(parts)
        return good[: good.rfind(b"\n") + 1], 0, str(error) or type(error).__name__
    return b"".join(parts), skipped, None


def _rest_of_line(stream: Any) -> tuple[bytes, int]:
    """What is left of a line, or enough to show that it is too long and how many bytes were left out."""
    kept: bytes = stream.readline(MAX_LINE + 1)
    skipped, part = 0, kept
    while part and not part.endswith(b"\n"):
        part = stream.readline(MAX_LINE)
        skipped += len(part)
    return kept, skipped


def _rows(input: Input, end: int) -> Iterator[_Piece]:
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    row = read = 0
    try:
        with parquet.ParquetFile(input.name, **_PARQUET) as file:
            if COLUMN not in file.schema_arrow.names:
                raise arrow.ArrowInvalid(f"the file has no column {COLUMN}")
            for batch in file.iter_batches(ROWS, columns=[COLUMN], use_threads=False):
                row += len(batch)
                if row > end:
                    records = batch.column(COLUMN).cast(arrow.large_binary()).to_pylist()
                    share = input.size * row // file.metadata.num_rows - read
                    yield [record or b"" for record in records[end - row :]], row, share, None
                    read, end = read + share, row
    except (OSError, arrow.ArrowException) as error:
        yield (), end, input.size - read, f"the rows cannot be read on: {error}"
