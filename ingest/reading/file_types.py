"""Recognises files that are not logs (or not yet) by their first bytes: tar files, programs and so on."""

import re
from pathlib import Path

from tapewise.ingest.reading.member_paths import find_container
from tapewise.schema.errors import LogFileError

# How many bytes are examined. A tar file's signature is in the middle of its first block.
HEAD_BYTES = 512
# A line may contain one or two CRs.
FEW = 2

_NAME_MEMBERS = (
    "Name a log file in it, such as {path}/NAME. The archive's own name must end in .tar, .tar.gz, .zip or"
    " the like."
)
_UNPACK = "Extract the log files from it, and name those."
_DECOMPRESS = "Decompress it first; gz, bz2, xz and zst are read as they are."
# The signature's offset, the signature, the kind of file, and what to do. Signatures with which a log line
# could begin are left out: cpio's has six digits, like a user id.
_MARKS = (
    (257, b"ustar", "a tar archive of files", _NAME_MEMBERS),
    (0, b"PK\x03\x04", "a zip archive of files", _NAME_MEMBERS),
    (0, b"PK\x05\x06", "a zip archive of files", _NAME_MEMBERS),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive of files", _UNPACK),
    (0, b"Rar!\x1a\x07", "a rar archive of files", _UNPACK),
    (0, b"\x1f\x9d", "compressed by compress (.Z)", _DECOMPRESS),
    (0, b"\x04\x22\x4d\x18", "compressed by lz4", _DECOMPRESS),
    (0, b"LZIP\x01", "compressed by lzip", _DECOMPRESS),
    (0, b"\x1f\x8b\x08", "compressed twice", "Decompress it once."),
    (0, b"BZh91AY&SY", "compressed twice", "Decompress it once."),
    (0, b"\xfd7zXZ\x00", "compressed twice", "Decompress it once."),
    (0, b"\x28\xb5\x2f\xfd", "compressed twice", "Decompress it once."),
    (0, b"\xff\xfe", "UTF-16 text", "Convert it to UTF-8: iconv -f UTF-16 -t UTF-8."),
    (0, b"\xfe\xff", "UTF-16 text", "Convert it to UTF-8: iconv -f UTF-16 -t UTF-8."),
    (0, b"\x7fELF", "a program", "Name log files only."),
    (0, b"%PDF-", "a PDF document", "Name log files only."),
    (
        0,
        b"PGDMP",
        "a backup of PostgreSQL",
        "`tapewise db restore` reads it.",
    ),
    (0, b"PAR1", "a Parquet file", "Name log files only."),
    (0, b"SQLite format 3\x00", "an SQLite database", "Name log files only."),
)


# A file that has just begun to be compressed contains a (perhaps incomplete) header and no data.
_HEADER_ALONE = re.compile(
    rb"\x1f\x8b(?:\x08?|\x08.{1,7}|\x08\x08.{6}[^\0]*\0?)|BZh[1-9]?|\xfd7zXZ\0.{0,6}|\x28\xb5\x2f\xfd.{0,14}",
    re.DOTALL,
)


def is_header_alone(content: bytes) -> bool:
    """Whether `content`, the entire content of a compressed file, is only a header or part of one."""
    return _HEADER_ALONE.fullmatch(content) is not None


def check_head(path: Path, head: bytes) -> None:
    """Raise LogFileError if `head`, the first HEAD_BYTES of the decompressed file, cannot begin a log.

    Other binary content is allowed here, because its lines will be escaped and rejected one by one.
    """
    for place, mark, kind, hint in _MARKS:
        if head.startswith(mark, place):
            # The files of an archive in an archive cannot be named.
            advice = _UNPACK if find_container(path) is not None else hint.format(path=path)
            raise LogFileError(f"{path}: is not a log but {kind}", hint=advice)
    if head.count(b"\r") > FEW and b"\n" not in head:  # the lines end with CR, so no newline will come
        raise LogFileError(
            f"{path}: its lines end with CR alone",
            hint="Convert them to newlines: tr '\\r' '\\n' < OLD > NEW.",
        )
