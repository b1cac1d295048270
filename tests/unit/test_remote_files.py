"""Files on web servers and in S3 are read as if they were on disk."""

import gzip
import io
import pickle
import tarfile
import time
import zipfile
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from urllib.parse import quote

import pytest

from tapewise.ingest.commands.paths import expand_paths
from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.ledger.log_files import ledger_path
from tapewise.ingest.nightly.sources import plan_round
from tapewise.ingest.reading import remote_access, remote_archives, remote_files
from tapewise.ingest.reading.files import open_log
from tapewise.ingest.reading.log_dates import DateRule
from tapewise.ingest.reading.members import count_bytes, find_change, identify_log, is_log
from tapewise.ingest.reading.prefixes import compare_prefix
from tapewise.ingest.reading.remote_paths import RemotePath, make_path
from tapewise.schema.errors import LogFileError
from tapewise.schema.settings import read_settings
from tests.remote_servers import S3_KEYS, Store, serve


@pytest.fixture(scope="module")
def web() -> Iterator[Store]:
    with serve() as store:
        yield store


@pytest.fixture(scope="module")
def s3() -> Iterator[Store]:
    """The server's address is read from the environment once, so all tests of a process share it."""
    with pytest.MonkeyPatch.context() as patch, serve(is_s3=True) as store:
        for name, value in (S3_KEYS | {"AWS_ENDPOINT_URL": store.url}).items():
            patch.setenv(name, value)
        remote_access._open_files.cache_clear()
        yield store
        remote_access._open_files.cache_clear()


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, web: Store, s3: Store) -> Iterator[None]:
    """Each test begins with empty servers and without copies of earlier tests."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    for store in (web, s3):
        vars(store).update(vars(Store(url=store.url)))
    yield
    remote_files._copies.close()
    remote_archives.drop_copies()


@pytest.fixture(params=["web", "s3"])
def place(request: pytest.FixtureRequest) -> tuple[Store, str, str]:
    """A server, the path of a folder in it, and the beginning of the folder's URL."""
    store = request.getfixturevalue(request.param)
    return (store, "/logs", f"{store.url}/logs") if request.param == "web" else (store, "/logs", "s3://logs")


def read(path: Path) -> list[str]:
    with open_log(path) as reader:
        return [line for block in reader.blocks() for line in block.lines["text"]]


def test_a_remote_file_is_read_like_one_on_disk(place):
    store, folder, url = place
    store.files |= {f"{folder}/a.log": b"a1\na2", f"{folder}/b.log.gz": gzip.compress(b"b1\n")}
    path = RemotePath(f"{url}/a.log")
    assert (str(path), path.name, ledger_path(path)) == (f"{url}/a.log", "a.log", f"{url}/a.log")
    assert read(path) == ["a1"]
    assert read(RemotePath(f"{url}/b.log.gz")) == ["b1"]
    assert (count_bytes(path), find_change(path), is_log(path)) == (5, 907_000_000, True)
    assert DateRule("time of change").find(path, find_format("cond"), "UTC").day == date(1998, 9, 28)
    with open_log(path) as reader:
        list(reader.blocks())
        assert reader.identity == identify_log(path)
    assert compare_prefix(path, 3).identity == identify_log(path)


def test_a_file_is_transferred_once_while_it_is_unchanged(place):
    store, folder, url = place
    store.files[f"{folder}/a.log"] = b"a1\n"
    path = RemotePath(f"{url}/a.log")
    assert read(path) == read(path) == ["a1"]
    assert store.count("GET") == 1
    store.files[f"{folder}/a.log"] = b"new\n"
    assert read(path) == ["new"]
    assert store.count("GET") == 1


def test_the_identity_is_that_of_the_version(place):
    store, folder, url = place
    path = RemotePath(f"{url}/a.log")
    identities = set()
    for content in (b"a1\n", b"a2\n", b"a1\na2\n"):
        store.files[f"{folder}/a.log"] = content
        identities.add(identify_log(path))
    assert len(identities) == 3
    store.files[f"{folder}/a.log"] = b"a1\n"
    assert identify_log(path) in identities


@pytest.mark.parametrize(
    ("etags", "changed_s", "is_known"),
    [
        ("none", 907_000_000, True),
        ("weak", 907_000_000, True),
        ("strong", None, True),
        ("none", None, False),
        ("weak", None, False),
        # It may change again within the second that its time of change names.
        ("none", "now", False),
        ("strong", "now", False),
    ],
)
def test_without_an_etag_size_and_time_of_change_identify_a_version(web, etags, changed_s, is_known):
    web.files["/a.log"] = b"a1\n"
    web.etags, web.changed_s = etags, time.time() if changed_s == "now" else changed_s
    path = RemotePath(f"{web.url}/a.log")
    with open_log(path) as reader:
        assert (reader.identity is not None) == is_known
    if is_known:
        assert identify_log(path) == identify_log(path)
    else:
        with pytest.raises(LogFileError, match="does not say which version"):
            identify_log(path)
    read(path)
    web.count("GET")
    read(path)
    assert web.count("GET") == (0 if is_known else 1)


def test_a_folder_and_a_pattern_mean_the_files_in_it(place):
    store, folder, url = place
    names = ["a.log", "b/c.log", "b/d.txt", "b/.hidden.log", ".e/f.log", "z.log"]
    store.files |= {f"{folder}/{name}": b"x\n" for name in [*names, *(["b/"] if "s3" in url else [])]}

    def expand(text: str, *, is_recursive: bool = False) -> list[str]:
        paths = expand_paths([make_path(text)], is_recursive=is_recursive)
        return [str(path).removeprefix(f"{url}/") for path in paths]

    assert expand(f"{url}/", is_recursive=True) == ["a.log", "b/c.log", "b/d.txt", "z.log"]
    assert expand(f"{url}/b/", is_recursive=True) == ["b/c.log", "b/d.txt"]
    assert expand(f"{url}/a.log", is_recursive=True) == ["a.log"]
    store.count("GET")
    assert expand(f"{url}/*.log") == ["a.log", "z.log"]
    assert "s3" in url or store.count("GET") == 1  # folders that the pattern does not mean are not listed
    assert expand(f"{url}/[a-y]*/*.log") == ["b/c.log"]
    assert expand(f"{url}/b/c*") == ["b/c.log"]
    assert expand(f"{url}/none*") == ["none*"]
    store.count("HEAD")
    assert [count_bytes(path) for path in expand_paths([make_path(f"{url}/*.log")], is_recursive=False)] == [
        2
    ] * 2
    assert store.count("HEAD") == (0 if "s3" in url else 2)  # a listing of S3 has the properties of its files


def test_files_of_a_listing_have_the_identity_of_the_file(s3):
    s3.files |= {f"/logs/{number}.log": b"x\n" for number in range(5)}  # more than one answer lists
    paths = expand_paths([make_path("s3://logs/*.log")], is_recursive=False)
    assert len(paths) == 5
    assert [identify_log(path) for path in paths] == [identify_log(RemotePath(str(path))) for path in paths]


def test_errors_name_the_file_and_the_reason(place):
    store, folder, url = place
    store.files |= {f"{folder}/cut.log": b"a1\na2\n" * 9, f"{folder}/no.log": b""}
    store.cut.add(f"{folder}/cut.log")
    store.denied.add(f"{folder}/no.log")
    for name, reason in (
        ("none.log", "there is no such file"),
        ("no.log", "access is denied"),
        ("cut.log", "the transfer broke off"),
    ):
        path = RemotePath(f"{url}/{name}")
        with pytest.raises(LogFileError, match=f"^{path}: {reason}"):
            read(path)
    store.denied.add(f"{folder}" if "s3" in url else f"{folder}/")
    [path] = expand_paths([make_path(f"{url}/*.log")], is_recursive=False)
    with pytest.raises(LogFileError, match="access is denied"):
        read(path)
    assert not is_log(path)


def test_servers_that_cannot_be_reached():
    for url, reason in (
        ("http://127.0.0.1:1/a.log", "the server refuses the connection"),
        ("http://no-such-host.invalid/a.log", "the name of the server is not known"),
        ("https://127.0.0.1:1/a.log", "the server refuses the connection"),
        ("http:///a.log", "names no host"),
        ("s3://", "names no bucket"),
    ):
        with pytest.raises(LogFileError, match=reason):
            read(RemotePath(url))


def test_what_is_no_valid_url_is_said_without_its_secrets(web):
    for place in ("h:port", "u:secret@h:port", "u:sec/ret@h:port"):
        path = RemotePath(f"http://{place}/a.log")
        with pytest.raises(LogFileError, match=f"^{path}: this is not a valid URL") as raised:
            read(path)
        assert "sec" not in str(raised.value)
    with pytest.raises(LogFileError, match="the server answers with an error"):
        web.status = 500
        read(RemotePath(f"{web.url}/a.log"))


def test_an_error_without_a_known_reason_has_the_text_of_the_library_unless_the_url_has_secrets():
    error = RuntimeError("something odd")
    assert remote_access._explain(RemotePath("http://h/a.log"), error).message.endswith("something odd")
    hidden = remote_access._explain(RemotePath("http://u:secret@h/a.log"), error)
    assert hidden.message == "http://h/a.log: cannot be read: RuntimeError"


def test_a_configured_url_matches_files_or_nothing_or_cannot_be_listed(place, tmp_path):
    store, folder, url = place
    store.files |= {f"{folder}/a.log": b"x\n", f"{folder}/b.log": b"x\n"}

    def plan(*patterns: str) -> tuple[list[str], list[str]]:
        config = tmp_path / "tapewise.toml"
        config.write_text(
            '[[archives]]\nname = "a"\ntimezone = "UTC"\nkind = "measured"\n'
            f'[[archives.sources]]\nformat = "nft"\npaths = {list(patterns)}\n'
        )
        [found] = plan_round(read_settings(config=config))
        return [str(path) for path in found.paths], found.unmatched

    files = [f"{url}/a.log", f"{url}/b.log"]
    assert plan(f"{url}/*.log", files[0]) == (files, [])
    assert plan(f"{url}/c*", files[1]) == (files[1:], [f"nothing matches '{url}/c*'"])
    assert plan(f"{url}/c.log") == ([], [f"nothing matches '{url}/c.log'"])
    store.status = 403
    # Opening it will report the reason.
    for name in ("*.log", "a.log"):
        assert plan(f"{url}/{name}") == ([f"{url}/{name}"], [])


def test_servers_that_only_send_files_or_call_compressed_files_encoded(web):
    web.files["/a.log.gz"] = gzip.compress(b"a1\n")
    web.has_head, web.is_encoded = False, True
    path = RemotePath(f"{web.url}/a.log.gz")
    assert read(path) == ["a1"]
    assert count_bytes(path) == len(web.files["/a.log.gz"])


def pack(name: str, contents: dict[str, bytes]) -> bytes:
    """Return an archive of that name with these files."""
    packed = io.BytesIO()
    if name.endswith("zip"):
        with zipfile.ZipFile(packed, "w") as archive:
            for member, content in contents.items():
                archive.writestr(member, content)
    else:
        with tarfile.open(fileobj=packed, mode="w:gz" if name.endswith("gz") else "w") as archive:
            for member, content in contents.items():
                info = tarfile.TarInfo(member)
                info.size, info.mtime = len(content), 900_000_000
                archive.addfile(info, io.BytesIO(content))
    return packed.getvalue()


@pytest.mark.parametrize("name", ["old.tar.gz", "old.zip"])
def test_an_archive_means_its_files_and_is_transferred_once(place, name):
    store, folder, url = place
    contents = {
        "98/b 1.log": b"b1\nb2\n",
        "a?.log": b"a1\n",
        ".hidden": b"",
        "in.tar": pack("tar", {"x": b""}),
    }
    store.files[f"{folder}/{name}"] = pack(name, contents)
    paths = expand_paths([make_path(f"{url}/{name}")], is_recursive=False)
    is_plain = url.startswith("s3:")
    names = ["98/b 1.log", "a?.log", "in.tar"]
    assert [str(path) for path in paths] == [
        f"{url}/{name}/{each if is_plain else quote(each)}" for each in names
    ]
    assert [count_bytes(path) for path in paths[:2]] == [6, 3]
    assert [read(path) for path in paths[:2]] == [["b1", "b2"], ["a1"]]
    with pytest.raises(LogFileError, match="a tar archive"):
        read(paths[2])
    # Another process gets the paths with what the archive was when it was listed.
    remote_archives.drop_copies()
    again = pickle.loads(pickle.dumps(paths))
    assert read(again[1]) == ["a1"]
    assert [request.split(" ")[0] for request in store.requests] == ["GET", "GET"]
    # By its text alone, a file is found in the archive as it is now.
    store.files[f"{folder}/{name}"] = pack(name, {"98/b 1.log": b"new\n"})
    store.changed_s += 100
    alone = make_path(str(paths[0]))
    assert read(alone) == ["new"]
    assert identify_log(alone) != identify_log(paths[0]) == identify_log(paths[1])
    assert is_log(alone)
    assert not is_log(make_path(str(paths[1])))
    with pytest.raises(LogFileError, match=r"has no such file$"):
        read(make_path(str(paths[1])))


def test_archives_without_a_version_and_what_is_wrong_with_them(web):
    store, folder, url = web, "/logs", f"{web.url}/logs"
    whole = pack("old.tar", {"a.log": b"a1\n", "b.log": b"b1\n"})
    store.files |= {f"{folder}/cut.tar": whole[:1000], f"{folder}/old.tar": whole}
    store.etags, store.changed_s = "none", None
    for name, reason in ("no.zip", "there is no such file"), ("cut.tar", "unexpected end of data"):
        [path] = expand_paths([make_path(f"{url}/{name}")], is_recursive=False)
        with pytest.raises(LogFileError, match=reason):
            read(path)
    first, second = expand_paths([make_path(f"{url}/old.tar")], is_recursive=False)
    store.requests.clear()
    assert (read(second), read(first)) == (["b1"], ["a1"])  # the other way around, too
    assert store.requests == []
    # The content says whether it is the same archive.
    assert expand_paths([make_path(f"{url}/old.tar")], is_recursive=False)[0].found == first.found
    assert find_change(first) == 900_000_000


def test_an_empty_folder_is_an_error(s3):
    [path] = expand_paths([make_path("s3://logs/none/")], is_recursive=True)
    with pytest.raises(LogFileError, match=r"s3://logs/none/: there are no files in this folder"):
        read(path)


def test_secrets_are_used_and_in_no_text(web):
    web.files["/a.log"] = b"a1\n"
    web.password = "Basic dXNlcjpzZWNyZXQ="  # user:secret
    path = RemotePath(f"{web.url}/a.log".replace("//", "//user:secret@"))
    assert read(path) == ["a1"]
    assert path == RemotePath(f"{web.url}/a.log")
    web.password = "another"
    with pytest.raises(LogFileError) as raised:
        read(path)
    for text in (str(path), repr(path), path.name, ledger_path(path), str(raised.value), repr(raised.value)):
        assert "secret" not in text
    with pytest.raises(LogFileError, match=r"^s3://logs/a\.log: a key of S3 does not belong into a path"):
        read(RemotePath("s3://key:secret@logs/a.log"))


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("HTTP://User:pw@Host:80/Logs/a.log#part", "http://host:80/Logs/a.log"),
        ("https://h/a.log?file=b.log&page=2", "https://h/a.log?file=b.log&page=2"),
        ("https://h/a.log?X-Amz-Signature=5&X-Amz-Date=9", "https://h/a.log"),
        ("https://h/a.log?name=b&sig=5&se=2026&sp=r", "https://h/a.log?name=b"),
        ("https://h/a.log?se=2026&sp=r", "https://h/a.log?se=2026&sp=r"),
        ("https://h/a.log?token=5&sp=r", "https://h/a.log?sp=r"),
        ("https://h/a.log?authz=Bearer%20x&run=3&auth=y", "https://h/a.log?run=3"),
        ("https://h/a.log?private_token=x&jwt=y&pwd=z", "https://h/a.log"),
        ("http://kim:s3cr3t/W@host/a.log", "http://host/a.log"),
        ("http://kim:pa?s3cr3t@host/a.log", "http://host/a.log"),
        ("http://kim:pa#s3cr3t@host/a.log", "http://host/a.log"),
        ("http://host:8080/kim@n7/a.log", "http://host:8080/kim@n7/a.log"),
        ("http://host/a:b/kim@n7.log", "http://host/a:b/kim@n7.log"),
        ("http://[::1]:8080/kim@n7.log", "http://[::1]:8080/kim@n7.log"),
        ("http://[::1/a//./b.log", "http://[::1/a//./b.log"),
        ("S3://Bucket/a//b #?.log", "s3://Bucket/a//b #?.log"),
    ],
)
def test_the_name_of_a_url_has_no_secrets(url, text):
    path = make_path(url)
    assert str(path) == text
    assert path.url.partition(":")[0] in ("http", "https", "s3")
    copy = pickle.loads(pickle.dumps(path))  # as in another process, which opens the file
    assert (copy, copy.url, hash(copy)) == (path, path.url, hash(path))


def test_paths_on_this_machine_stay_what_they_are():
    for text in ("a.log", "http:/a.log", "s3:a", "dir/s3://a"):
        assert type(make_path(text)) is type(Path())
    assert make_path("s3://b/a.log") != Path("s3:/b/a.log")


def test_without_the_extra_the_message_names_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "fsspec.asyn", None)
    with pytest.raises(LogFileError, match="reading it needs the Python package fsspec") as raised:
        read(RemotePath("http://127.0.0.1:1/a.log"))
    assert "'.[remote]'" in (raised.value.hint or "")
