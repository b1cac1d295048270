"""Files in tar and zip archives are read as if they were on disk."""

import gzip
import io
import lzma
import os
import tarfile
import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pytest
from backports import zstd

from tapewise.ingest.commands.paths import expand_paths
from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.reading import members
from tapewise.ingest.reading.files import open_log
from tapewise.ingest.reading.identities import identify_file
from tapewise.ingest.reading.log_dates import DateRule
from tapewise.ingest.reading.members import count_bytes, find_member, is_log, list_members
from tapewise.schema.errors import LogFileError

# In this order in each archive: it is not that of the names.
CONTENTS = {"1998/b.log": b"b1\nb2\n", "1998/a.log": b"a1\n", "c.log.gz": gzip.compress(b"c1\nc2\nc3\n")}
PASSED_OVER = {".DS_Store": b"?", "1998/._a.log": b"?"}
CHANGED_S = 907_000_000
FORMS = (
    *("logs.tar", "logs.tar.gz", "logs.tgz", "logs.TAR.BZ2", "logs.txz", "logs.tar.zst"),
    *("logs.zip", "deflated.zip"),
)


def write_tar(path: Path, contents: dict[str, bytes], *, has_others: bool = True) -> Path:
    name = path.name.lower()
    stream = io.BytesIO()
    mode = "w:gz" if name.endswith("gz") else "w:bz2" if name.endswith("bz2") else "w"
    with tarfile.open(fileobj=stream, mode=mode) as archive:
        for member, content in contents.items():
            info = tarfile.TarInfo(member)
            info.size, info.mtime = len(content), CHANGED_S
            archive.addfile(info, io.BytesIO(content))
        if has_others:
            folder = tarfile.TarInfo("1998")
            folder.type = tarfile.DIRTYPE
            archive.addfile(folder)
            link = tarfile.TarInfo("link.log")
            link.type, link.linkname = tarfile.SYMTYPE, "1998/a.log"
            archive.addfile(link)
    content = stream.getvalue()
    if name.endswith("xz"):
        content = lzma.compress(content)
    if name.endswith("zst"):
        content = zstd.compress(content)
    path.write_bytes(content)
    return path


def write_zip(path: Path, contents: dict[str, bytes], date_time=(1998, 10, 20, 12, 0, 0)) -> Path:
    kind = zipfile.ZIP_DEFLATED if path.name == "deflated.zip" else zipfile.ZIP_STORED
    with zipfile.ZipFile(path, "w", kind) as archive:
        archive.mkdir("1998")
        for member, content in contents.items():
            info = zipfile.ZipInfo(member)
            info.date_time, info.compress_type = date_time, kind
            archive.writestr(info, content)
    return path


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes an archive of that name."""

    def write(name: str, contents: dict[str, bytes] | None = None) -> Path:
        contents = CONTENTS | PASSED_OVER if contents is None else contents
        is_zip = name.endswith("zip")
        return write_zip(tmp_path / name, contents) if is_zip else write_tar(tmp_path / name, contents)

    return write


def read(path: Path) -> list[str]:
    with open_log(path) as reader:
        return [line for block in reader.blocks() for line in block.lines["text"]]


@pytest.mark.parametrize("form", FORMS)
def test_the_files_of_an_archive_are_listed_and_read_in_any_order(write, form):
    container = write(form)
    paths = list_members(container)
    assert paths == [container / name for name in CONTENTS]
    expected = [["b1", "b2"], ["a1"], ["c1", "c2", "c3"]]
    assert [read(path) for path in paths] == expected
    assert [read(path) for path in paths[::-1]] == expected[::-1]
    assert [count_bytes(path) for path in paths] == [len(content) for content in CONTENTS.values()]


def test_an_archive_among_paths_means_its_files(write, tmp_path):
    container = write("logs.tar.gz")
    plain = tmp_path / "z.log"
    plain.touch()
    inside = tuple(container / name for name in CONTENTS)
    assert expand_paths([plain, container, inside[1]], is_recursive=False) == (plain, *inside)
    assert expand_paths([tmp_path], is_recursive=True) == (*inside, plain)
    assert expand_paths([tmp_path / "*.gz"], is_recursive=False) == inside


def test_a_folder_may_be_called_like_an_archive(tmp_path):
    log = tmp_path / "logs.tar" / "a.log"
    log.parent.mkdir()
    log.write_text("a1\n")
    assert find_member(log) is None
    assert read(log) == ["a1"]
    assert expand_paths([log], is_recursive=False) == (log,)


def test_files_are_read_in_one_pass_over_the_archive(write, monkeypatch):
    container = write("logs.tar.gz")
    opened = []
    real = members._TarReader
    monkeypatch.setattr(
        members, "_TarReader", lambda archive: (opened.append(archive.path), real(archive))[1]
    )
    paths = list_members(container)
    members._last_tar.close()
    for path in paths:
        read(path)
    assert opened == [container]
    read(paths[0])
    assert opened == [container] * 2


def test_a_file_has_the_identity_of_its_archive(write):
    container = write("logs.tar")
    path = list_members(container)[0]
    assert identify_file(path) == identify_file(container)
    with open_log(path) as reader:
        list(reader.blocks())
        assert reader.identity == identify_file(container)
        # The archive changes, so nothing is certain, although the copy that is read has not changed.
        os.utime(container, (1, 1))
        assert not reader.is_unchanged()
        assert reader.identity is None


def test_an_archive_that_has_changed_is_listed_and_read_again(write):
    path = list_members(write("logs.tar"))[1]
    assert read(path) == ["a1"]
    write("logs.tar", {"1998/a.log": b"new\n"})
    assert read(path) == ["new"]
    assert not is_log(path.with_name("b.log"))
    with pytest.raises(LogFileError, match=r"b\.log: .*logs\.tar has no such file"):
        read(path.with_name("b.log"))


@pytest.mark.parametrize("form", ["logs.tar", "logs.zip"])
@pytest.mark.parametrize(
    ("contents", "reason"),
    [
        ({}, "there are no files in this archive"),
        (PASSED_OVER, "there are no files in this archive"),
        ({"../a.log": b"a\n"}, r"the name of its file \.\./a\.log leads out of it"),
        ({"a.log": b"a\n", "/a.log": b"b\n"}, "has two files called a.log"),
        ({"a.log": b"a\n", "./a.log": b"b\n"}, "has two files called a.log"),
    ],
)
def test_archives_that_cannot_be_used_are_refused(write, form, contents, reason):
    container = write(form, contents)
    with pytest.raises(LogFileError, match=reason):
        list_members(container)
    assert expand_paths([container], is_recursive=False) == (container,)
    with pytest.raises(LogFileError, match=reason):
        read(container)


@pytest.mark.parametrize("form", FORMS)
def test_a_cut_archive_is_refused_whole(write, form):
    container = write(form, {f"{number}.log": os.urandom(999) + b"\n" for number in range(9)})
    container.write_bytes(container.read_bytes()[:5000])
    with pytest.raises(LogFileError, match="cannot be read") as raised:
        list_members(container)
    if form.endswith(".zip"):  # whose list of files is at its end
        assert raised.value.message.endswith(": it ends early")


def test_a_file_that_is_no_zip_archive_is_not_called_cut(write):
    container = write("logs.zip")
    container.write_bytes(b"no archive")
    with pytest.raises(LogFileError, match="not a zip file"):
        list_members(container)


def test_an_archive_with_a_damaged_header_is_refused_whole(write):
    container = write("logs.tar", {f"{number}.log": b"x\n" for number in range(3)})
    content = bytearray(container.read_bytes())
    content[content.index(b"1.log")] ^= 1
    container.write_bytes(content)
    with pytest.raises(LogFileError, match=r"logs\.tar: cannot be read: a header in it is damaged"):
        list_members(container)


def test_a_damaged_file_of_a_zip_archive_is_refused(write):
    container = write("logs.zip")
    content = bytearray(container.read_bytes())
    content[content.index(b"b1\nb2")] ^= 1
    container.write_bytes(content)
    paths = list_members(container)
    with pytest.raises(LogFileError, match=r"logs\.zip: cannot be read: .*CRC"):
        read(paths[0])
    assert read(paths[1]) == ["a1"]


def test_an_archive_that_its_name_does_not_show_says_what_to_do(write):
    container = write("logs.tar").rename(write("logs.tar").with_name("logs"))
    with pytest.raises(LogFileError, match="is not a log but a tar archive") as raised:
        read(container)
    assert "must end in .tar" in (raised.value.hint or "")


def test_an_archive_in_an_archive_has_to_be_extracted(write):
    inner = write("inner.zip").read_bytes()
    with pytest.raises(LogFileError, match="is not a log but a zip archive") as raised:
        read(write("logs.tar", {"inner.zip": inner}) / "inner.zip")
    assert (raised.value.hint or "").startswith("Extract")


def test_a_day_can_be_the_one_on_which_the_file_in_the_archive_was_changed(write, tmp_path):
    rule, log_format = DateRule("time of change"), find_format("hsi-client")
    in_tar, in_zip = (list_members(write(form))[0] for form in ("logs.tar", "logs.zip"))
    assert rule.find(in_tar, log_format, "UTC").day == date(1998, 9, 28)
    local = rule.find(in_zip, log_format, "UTC").day
    assert abs((local - date(1998, 10, 20)).days) <= 1  # a zip file has local times
    odd = list_members(write_zip(tmp_path / "odd.zip", CONTENTS, (1998, 0, 0, 0, 0, 0)))[0]
    with pytest.raises(LogFileError, match="does not say when this file was changed"):
        rule.find(odd, log_format, "UTC")
