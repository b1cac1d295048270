"""Files that are not logs, endless lines and damage are reported with file and line. Memory is bounded."""

import bz2
import gzip
import io
import itertools
import lzma
import os
import re
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import xxhash
from backports import zstd

from tapewise.ingest.reading import files
from tapewise.ingest.reading.files import LogFileReader, open_log
from tapewise.ingest.reading.identities import TICK_S, FileIdentity, identify_file
from tapewise.schema.errors import LogFileError, RewrittenFileError

LINES = b"".join(b"%06d 97/11/01 00:00:00 ks 977 1.25\n" % number for number in range(1000))


def read_lines(path: Path, block_bytes: int = 6_000_000, *, is_complete: bool = False) -> list[str]:
    with open_log(path, is_complete=is_complete) as reader:
        return [text for block in reader.blocks(block_bytes) for text in block.lines["text"]]


def make_tar() -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        entry = tarfile.TarInfo("a.log")
        entry.size = len(LINES)
        archive.addfile(entry, io.BytesIO(LINES))
    return made.getvalue()


def make_zip() -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("a.log", LINES)
    return made.getvalue()


COMPRESS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd.compress}
EVERY_COMPRESSION = pytest.mark.parametrize("compress", COMPRESS.values(), ids=COMPRESS)


@EVERY_COMPRESSION
@pytest.mark.parametrize("block_bytes", [1, 100, 511, 512, 513, 6_000_000])
def test_compressed_files_are_read_directly(compress, block_bytes: int, tmp_path: Path) -> None:
    path = tmp_path / "log"
    content = LINES if block_bytes > 1 else LINES[:1300]
    path.write_bytes(compress(content))
    assert read_lines(path, block_bytes, is_complete=True) == content.decode().splitlines()


@pytest.mark.parametrize(
    "content, kind",
    [
        (make_tar(), "a tar archive of files"),
        (make_zip(), "a zip archive of files"),
        (b"7z\xbc\xaf\x27\x1c...", "a 7z archive of files"),
        (b"\x1f\x9d\x90...", "compressed by compress (.Z)"),
        (LINES.decode().encode("utf-16"), "UTF-16 text"),
        (Path(sys.executable).read_bytes()[:5000], "a program"),
    ],
)
def test_a_file_that_is_not_a_log_is_refused(content: bytes, kind: str, tmp_path: Path) -> None:
    for name, made in (("plain", content), ("packed", gzip.compress(content))):
        path = tmp_path / name
        path.write_bytes(made)
        with pytest.raises(LogFileError, match=re.escape(f"{path}: is not a log but {kind}")) as raised:
            read_lines(path)
        assert raised.value.hint


@EVERY_COMPRESSION
def test_a_doubly_compressed_file_is_refused(compress, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(compress(compress(LINES)))
    with pytest.raises(LogFileError, match="is not a log but compressed twice"):
        read_lines(path)


def test_lines_that_end_with_cr_alone_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(LINES.replace(b"\n", b"\r"))
    with pytest.raises(LogFileError, match="its lines end with CR alone"):
        read_lines(path)


MAY_BE_LOGS = {
    "CRLF": LINES.replace(b"\n", b"\r\n"),
    "a user of cpio's number": b"070707" + LINES,
    "NULs": b"\0" * 600 + LINES,
    "CRs within a line": b"a\rb\rc\rd\re" + LINES,
    "one byte": b"P",
    "nothing": b"",
}


@pytest.mark.parametrize("content", MAY_BE_LOGS.values(), ids=MAY_BE_LOGS)
def test_a_file_that_may_be_a_log_is_read(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(content)
    assert len(read_lines(path, is_complete=True)) == content.count(b"\n") + (content == b"P")


@pytest.mark.parametrize("block_bytes", [7, 100, 1000])
@pytest.mark.parametrize("is_complete", [False, True])
def test_a_line_may_be_as_long_as_the_limit_and_no_longer(
    block_bytes: int, is_complete: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 1000)
    path = tmp_path / "log"
    begin, end = b"one\ntwo\n", b"\nfour\n"
    path.write_bytes(begin + b"x" * 1000 + end)
    assert [len(line) for line in read_lines(path, block_bytes)] == [3, 3, 1000, 4]
    for content in (begin + b"x" * 1001 + end, begin + b"x" * 1001):
        path.write_bytes(content)
        with pytest.raises(LogFileError, match=f"{path}: line 3 is longer than 1,000 bytes"):
            read_lines(path, block_bytes, is_complete=is_complete)


def test_a_file_without_newline_does_not_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "endless.gz"
    with gzip.open(path, "wb", compresslevel=1) as packed:
        for _ in range(400):
            packed.write(b"z" * 1_000_000)
    program = (
        "import resource, sys; from pathlib import Path; from tapewise.ingest.reading.files import open_log\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n"
        "    with open_log(Path(sys.argv[1])) as reader: list(reader.blocks())\n"
        "except Exception as error: print(error, file=sys.stderr)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=True, timeout=60
    )
    assert f"{path}: line 1 is longer than 16,777,216 bytes" in done.stderr
    assert int(done.stdout) < 80_000  # kB; the file holds 400 MB


@pytest.mark.study("ingest/reading")
@EVERY_COMPRESSION
def test_damage_is_reported_with_the_last_line_before_it(compress, tmp_path: Path) -> None:
    path = tmp_path / "log"
    # The content is random enough not to be compressed into a single block.
    content = b"".join(b"%x\n" % pow(3, number, 2**61 - 1) for number in range(200_000))
    packed = compress(content)
    path.write_bytes(packed[: len(packed) * 2 // 3])
    with pytest.raises(LogFileError, match="the compressed file ends early") as raised:
        read_lines(path)
    found = re.search(r"early, after ([\d,]+) whole lines", raised.value.message)
    assert found
    # Decompressors return whole blocks, of up to 900 kB for bz2.
    assert 60_000 <= int(found[1].replace(",", "")) <= 134_000


HEADERS = {
    "gz": gzip.compress(b"")[:10],
    "gz with a name": b"\x1f\x8b\x08\x08\x00\x00\x00\x00\x00\x03nft.log.1\x00",
    "gz halfway": b"\x1f\x8b\x08\x00",
    "bz2": b"BZh9",
    "xz": lzma.compress(b"x")[:12],
    "zst": zstd.compress(LINES)[:6],
}


@pytest.mark.parametrize("header", HEADERS.values(), ids=HEADERS)
def test_a_compressed_file_that_has_just_begun_has_no_lines_yet(header: bytes, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(header)
    with open_log(path) as reader:
        assert list(reader.blocks()) == []
        assert (reader.read_bytes, reader.waiting_bytes) == (0, 0)
    # If there is data after the header, the file has not been copied completely.
    path.write_bytes(gzip.compress(LINES)[:40])
    with pytest.raises(LogFileError, match="ends early, after 0 whole lines"):
        read_lines(path)


def test_no_bytes_are_lost_after_the_first_ones(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(LINES)
    for size in (1, 511, 512, 513, 10_000):
        with open_log(path) as reader:
            assert b"".join(read_all(reader, size)) == LINES


def read_all(reader: LogFileReader, size: int):
    while piece := reader.read(size):
        assert len(piece) <= size
        yield piece


OTHER = LINES.replace(b" ks ", b" sk ")
# Ways to change a file while it is being read.
REWRITES: dict[str, Callable[[Path, Callable[[bytes], bytes]], object]] = {
    "by another of equal length": lambda path, pack: path.write_bytes(pack(OTHER)),
    "by a longer one": lambda path, pack: path.write_bytes(pack(OTHER + OTHER)),
    "by a shorter one": lambda path, pack: path.write_bytes(pack(OTHER[:-370])),
    "by its own end": lambda path, pack: path.write_bytes(pack(LINES[370:])),
    "by nothing": lambda path, _: path.write_bytes(b""),
    "in its first line": lambda path, pack: overwrite(path, pack(OTHER[:37])),
}


def overwrite(path: Path, content: bytes) -> None:
    with path.open("r+b") as file:
        file.write(content)


def append(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


def read_and_change(path: Path, change: Callable[[], object]) -> tuple[list[str], FileIdentity | None]:
    """Change a file after reading its fifth block; return its lines and the identity recorded for it."""
    with open_log(path) as reader:
        blocks = reader.blocks(1000)
        texts = [text for block in itertools.islice(blocks, 5) for text in block.lines["text"]]
        change()
        texts += [text for block in blocks for text in block.lines["text"]]
        return texts, reader.identity


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
@pytest.mark.parametrize("rewrite", REWRITES.values(), ids=REWRITES)
def test_a_file_rewritten_while_it_is_read_is_refused(rewrite, pack, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(pack(LINES))
    with pytest.raises(RewrittenFileError, match=f"{path}: was rewritten while it was read"):
        read_and_change(path, lambda: rewrite(path, pack))


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gz"])
def test_a_file_may_grow_while_it_is_read(pack, tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(pack(LINES))
    texts, identity = read_and_change(path, lambda: append(path, pack(b"more\n") + pack(b"half")))
    assert texts[:1000] == LINES.decode().splitlines()
    assert texts[1000:] in ([], ["more"])
    assert identity is None  # the file has changed, so there is more to read


def test_a_file_may_be_renamed_or_deleted_while_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log"

    def rotate() -> None:
        path.rename(tmp_path / "log.1")
        path.write_bytes(OTHER)

    for change in (rotate, path.unlink, lambda: os.utime(path, (1e9, 1e9))):
        path.write_bytes(LINES)
        assert read_and_change(path, change) == (LINES.decode().splitlines(), None)


def test_a_file_must_still_begin_as_before(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(LINES)
    with open_log(path) as reader:
        blocks = list(reader.blocks(1000))
        known = (reader.read_bytes, reader.digest)
    for content, count in ((LINES, 1000), (LINES + OTHER, 2000)):
        path.write_bytes(content)
        with open_log(path, begins_with=known) as reader:
            assert sum(block.newline_count for block in reader.blocks(1000)) == count
    assert len(blocks) > 1
    for content in (OTHER + LINES, LINES[:-37], b""):
        path.write_bytes(content)
        with open_log(path, begins_with=known) as reader, pytest.raises(RewrittenFileError):
            list(reader.blocks(1000))
    path.write_bytes(LINES)
    with open_log(path, begins_with=(0, xxhash.xxh3_128().hexdigest())) as reader:
        assert list(reader.blocks())


def test_the_identity_of_a_file_is_taken_before_its_first_byte_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(LINES)
    assert read_and_change(path, lambda: None)[1] == identify_file(path)
    with open_log(path) as reader:
        append(path, LINES)
        assert sum(block.newline_count for block in reader.blocks()) == 2000
        assert reader.identity is None
    link = tmp_path / "link"
    link.symlink_to("log")
    assert read_and_change(link, lambda: None)[1] == identify_file(link) == identify_file(path)


def test_a_file_is_not_read_within_the_clock_tick_of_its_last_change(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(LINES)
    began_s = time.monotonic()
    with open_log(path) as reader:
        next(reader.blocks())
    assert time.monotonic() - began_s >= TICK_S


def test_a_clock_of_whole_seconds_gives_no_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def identify_coarsely(file: Path | int) -> FileIdentity:
        found = identify_file(file)
        return replace(found, ctime_ns=found.ctime_ns // 10**9 * 10**9)

    monkeypatch.setattr(files, "identify_file", identify_coarsely)
    path = tmp_path / "log"
    path.write_bytes(LINES)
    assert read_and_change(path, lambda: None) == (LINES.decode().splitlines(), None)
    with pytest.raises(RewrittenFileError):  # rewritten within the same second, with the same length
        read_and_change(path, lambda: path.write_bytes(OTHER))
