"""Inputs in chunks: every line once and in order, from whatever place on; of a damaged file what is good."""

import gzip
import io
import os
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from threading import Thread

import pytest

from service.audit import RefusedAudit
from service.audit.reader import Chunk, Input, Span, chunks, inspect, lines, loaded, passed
from service.audit.records import MAX_LINE

zstd = pytest.importorskip("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")

RECORDS = [b'{"number": %d, "rest": "%s"}' % (number, b"x" * (number * 7919 % 300)) for number in range(900)]
TEXT = b"".join(record + b"\n" for record in RECORDS)


def write_plain(path: Path, text: bytes) -> None:
    path.write_bytes(text)


def write_gzip(path: Path, text: bytes) -> None:
    path.write_bytes(gzip.compress(text[:5000]) + gzip.compress(text[5000:]))


def write_zstd(path: Path, text: bytes) -> None:
    options = {zstd.CompressionParameter.checksum_flag: 1}  # as the zstd command writes
    path.write_bytes(b"".join(zstd.compress(part, options=options) for part in (text[:5000], text[5000:])))


def write_parquet(path: Path, text: bytes) -> None:
    table = pyarrow.table({"id": range(text.count(b"\n")), "outcome": text.decode().split("\n")[:-1]})
    parquet.write_table(table, path, row_group_size=700, write_page_checksum=True)


WRITERS: dict[str, Callable[[Path, bytes], None]] = {
    "ndjson": write_plain,
    "gz": write_gzip,
    "zst": write_zstd,
    "parquet": write_parquet,
}


@pytest.fixture(params=WRITERS)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The records in every format."""
    path = tmp_path / f"records.{request.param}"
    WRITERS[request.param](path, TEXT)
    return str(path)


def cut(*names: str, file: int = 0, end: int = 0, size: int = 10_000) -> list[Chunk]:
    return list(chunks([inspect(name) for name in names], file, end, size))


def read(found: list[Chunk]) -> list[bytes]:
    return [line for chunk in found for line in lines(chunk.payload)]


NAMED = {"gz": "gzip", "zst": "zstd"}


@pytest.mark.parametrize("size", [1, 100, 10_000, 2**20])
def test_every_line_comes_once_and_in_order(file: str, size: int) -> None:
    found = cut(file, size=size)
    assert read(found) == RECORDS
    assert [chunk.fault for chunk in found] == [None] * len(found)
    assert sum(chunk.read for chunk in found) == os.stat(file).st_size
    if size < 10_000 and not file.endswith("parquet"):
        assert len(found) > 10
        assert max(len(loaded(chunk.payload)) for chunk in found) < size + 400


def test_one_goes_on_wherever_another_ended(file: str) -> None:
    whole = cut(file, file)
    assert len(whole) > 6
    for place, chunk in enumerate(whole):
        rest = cut(file, file, file=chunk.file, end=chunk.end)
        assert read(rest) == read(whole[place + 1 :])
        assert [one.end for one in rest] == [one.end for one in whole[place + 1 :]]
    assert all(one.end < other.end for one, other in pairwise(whole) if one.file == other.file)
    assert cut(file, file=1) == []


def test_one_may_go_on_in_the_middle_of_a_batch_of_rows(tmp_path: Path) -> None:
    path = tmp_path / "records.parquet"
    write_parquet(path, TEXT)
    for end in (1, 100, 699, 701):
        assert read(cut(str(path), end=end)) == RECORDS[end:]


def test_a_plain_file_is_read_by_whoever_audits_it(tmp_path: Path) -> None:
    path = tmp_path / "records.ndjson"
    path.write_bytes(TEXT)
    found = cut(str(path))
    assert all(isinstance(chunk.payload, Span) for chunk in found)
    path.write_bytes(TEXT[:-1])
    with pytest.raises(OSError, match="shorter"):
        lines(found[-1].payload)


@pytest.mark.parametrize("format", WRITERS)
def test_a_format_is_told_by_its_first_bytes_too(format: str, tmp_path: Path) -> None:
    path = tmp_path / "records"
    WRITERS[format](path, TEXT)
    assert read(cut(str(path))) == RECORDS


@pytest.mark.parametrize("format", ["ndjson", "gz", "zst"])
@pytest.mark.parametrize(
    ("text", "records"),
    [
        (b"", []),
        (b"\n", [b""]),
        (b"a", [b"a"]),
        (b"a\n\n\r\nb", [b"a", b"", b"\r", b"b"]),
        (b"a\x0bb\x85c\xe2\x80\xa8d\re\n", [b"a\x0bb\x85c\xe2\x80\xa8d\re"]),
    ],
)
def test_only_a_newline_ends_a_line(format: str, text: bytes, records: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / f"records.{format}"
    WRITERS[format](path, text)
    for size in (1, 3, 100):
        assert read(cut(str(path), size=size)) == records


@pytest.mark.parametrize("format", ["ndjson", "gz", "zst"])
def test_a_line_too_long_is_cut_short_and_the_rest_goes_on(format: str, tmp_path: Path) -> None:
    path = tmp_path / f"records.{format}"
    for length in (MAX_LINE + 1, 5 * MAX_LINE):
        for last in (b"", b"\nz\n"):
            WRITERS[format](path, b"a\n" + b"x" * length + last)
            for size in (1, 3, 1000, 2**20):
                found = cut(str(path), size=size)
                first, long, *rest = read(found)
                assert (first, rest) == (b"a", [b"z"] if last else [])
                assert MAX_LINE < len(long) <= MAX_LINE + 1 + size
                assert max(len(loaded(chunk.payload)) for chunk in found) <= MAX_LINE + 1 + size
                for chunk in found:
                    assert read(cut(str(path), end=chunk.end, size=size)) == read(
                        found[found.index(chunk) + 1 :]
                    )


# Damaged files.


@pytest.mark.parametrize("format", ["gz", "zst"])
@pytest.mark.parametrize("kept", [1, 4, 0.2, 0.5, 0.9, -1])
def test_a_stream_cut_short_gives_what_is_good_of_it(format: str, kept: float, tmp_path: Path) -> None:
    path, other = tmp_path / f"records.{format}", tmp_path / "other.ndjson"
    WRITERS[format](path, TEXT)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * kept) if 0 < kept < 1 else int(kept)])
    other.write_bytes(b"a\nb\n")
    for size in (300, 10_000):
        found = cut(str(path), str(other), size=size)
        broken = [chunk for chunk in found if chunk.file == 0]
        good = read(broken)
        assert good == RECORDS[: len(good)]
        assert [bool(chunk.fault) for chunk in broken] == [False] * (len(broken) - 1) + [True]
        assert f"the {NAMED[format]} stream breaks here" in str(broken[-1].fault)
        assert read(found)[len(good) :] == [b"a", b"b"]
        if kept == 0.9:
            assert len(good) > 20


@pytest.mark.parametrize("format", ["gz", "zst", "parquet"])
def test_altered_bytes_are_never_read_as_if_nothing_were(format: str, tmp_path: Path) -> None:
    path = tmp_path / f"records.{format}"
    WRITERS[format](path, TEXT)
    content = path.read_bytes()
    faults = 0
    for place in range(0, len(content), len(content) // 40):
        path.write_bytes(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :])
        found = cut(str(path))
        broken = any(chunk.fault for chunk in found)
        faults += broken
        assert broken or read(found) == RECORDS
    assert faults > 10


@pytest.mark.parametrize("format", ["gz", "zst", "parquet"])
@pytest.mark.parametrize("content", [b"", b"x", TEXT])
def test_a_file_that_is_not_what_it_is_named_is_damaged(format: str, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / f"records.{format}"
    path.write_bytes(content)
    found = cut(str(path))
    assert read(found) == []
    assert [bool(chunk.fault) for chunk in found] == [True]


def test_bytes_behind_the_last_member_are_told(tmp_path: Path) -> None:
    path = tmp_path / "records.gz"
    path.write_bytes(gzip.compress(TEXT) + b"rest")
    found = cut(str(path))
    assert read(found) == RECORDS
    assert found[-1].fault


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"outcomes": ["{}"]}, "no column outcome"),
        ({"outcome": [{"status": "settled"}]}, "cannot be read"),
        ({"outcome": [5]}, "cannot be read"),
    ],
    ids=["name", "struct", "number"],
)
def test_a_parquet_file_needs_a_column_of_text(table: dict[str, object], told: str, tmp_path: Path) -> None:
    path = str(tmp_path / "records.parquet")
    parquet.write_table(pyarrow.table(table), path)
    (chunk,) = cut(path)
    assert told in str(chunk.fault)


@pytest.mark.parametrize("type", ["string", "large_string", "binary", "large_binary", "dictionary"])
def test_a_parquet_column_may_have_any_type_of_text(type: str, tmp_path: Path) -> None:
    path = str(tmp_path / "records.parquet")
    column = pyarrow.array(["{}", None, '{\n"ö": 1}'])
    to = (
        pyarrow.dictionary(pyarrow.int8(), pyarrow.string())
        if type == "dictionary"
        else getattr(pyarrow, type)()
    )
    parquet.write_table(pyarrow.table({"outcome": column.cast(to)}), path)
    assert read(cut(path)) == [b"{}", b"", '{\n"ö": 1}'.encode()]


# What is no regular file.


def test_standard_input_is_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert read(cut("-")) == RECORDS
    assert not inspect("-").resumable


def test_a_pipe_is_lines(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = Thread(target=lambda: path.write_bytes(TEXT))
    writer.start()
    assert read(cut(str(path))) == RECORDS
    writer.join()
    assert not inspect(str(path)).resumable


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    for name in ("missing", "."):
        with pytest.raises(OSError, match=name if name == "missing" else "directory"):
            inspect(str(tmp_path / name))


@pytest.mark.parametrize(("format", "module"), [("zst", "zstd"), ("parquet", "pyarrow")])
def test_a_missing_library_is_named_with_its_extra(
    format: str, module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"records.{format}"
    WRITERS[format](path, TEXT)
    monkeypatch.setattr("service.audit.find_spec", lambda _: None)
    with pytest.raises(RefusedAudit, match=rf"{module}.*pip install '\.\[audit\]'"):
        inspect(str(path))
    WRITERS["gz"](tmp_path / "records.gz", TEXT)
    assert read(cut(str(tmp_path / "records.gz"))) == RECORDS


def test_how_much_is_behind_one() -> None:
    inputs = [Input(name, format, 100, 0, (0, 0)) for name, format in (("a", "gzip"), ("b", "plain"))]
    assert [passed(inputs, file, 30) for file in range(3)] == [0, 130, 200]


def test_a_record_behind_a_megabyte_of_blanks_is_not_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "records.ndjson"
    path.write_bytes(b"a\n" + b" " * (3 * MAX_LINE) + b"b\n" + b"c\n")
    assert [len(line) > MAX_LINE for line in read(cut(str(path)))] == [False, True, False]
