"""Commands take the URLs of files on web servers and in S3."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator

import pytest

from tests.acceptance.test_commands import HSI, NFT
from tests.remote_servers import S3_KEYS, Store, serve

pytestmark = pytest.mark.study("ingest/reading", "ingest/sources", "tapewise")

LATER, THIRD = (NFT.replace("97/10/01", f"97/10/0{day}") for day in (2, 3))
QUERY = (
    "SELECT path, loaded_count, held_count FROM mart.log_files WHERE path LIKE '{}%'"
    " ORDER BY path, log_file_id"
)


@pytest.fixture
def web() -> Iterator[Store]:
    with serve() as store:
        yield store


@pytest.fixture
def s3() -> Iterator[Store]:
    with serve(is_s3=True) as store:
        yield store


@pytest.fixture
def run(tapewise, s3, tmp_path):
    """Return a function that runs a command in a world where `s3` is S3."""
    environment = S3_KEYS | {"AWS_ENDPOINT_URL": s3.url, "NO_PROXY": "127.0.0.1"}

    def run(*words: str, status: int = 0):
        done = tapewise(*words, env=environment)
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture
def load(run, request):
    """Return a function that loads files into an archive of this test, and returns the command's output."""
    about = ["--archive", request.node.name, "--kind", "synthetic", "--timezone", "UTC"]
    return lambda *words, status=0: run("ingest", *about, *words, status=status)


@pytest.fixture
def list_loaded(run):
    """Return a function that lists the readings of files by path: how many lines were loaded and held."""

    def list_loaded(begin: str) -> list[tuple[object, ...]]:
        files = json.loads(run("sql", "--json", QUERY.format(begin)).stdout)
        return [(each.pop("path").removeprefix(begin), *each.values()) for each in files]

    return list_loaded


@pytest.fixture(params=["disk", "web", "s3"])
def put(request, web, s3, tmp_path) -> tuple[str, Callable[[str, str], None]]:
    """The beginning of paths, and a function that writes a file there."""
    if request.param == "disk":
        return f"{tmp_path}/", lambda name, text: (tmp_path / name).write_text(text) and None
    store, folder = (web, "/logs/") if request.param == "web" else (s3, "/logs/")
    begin = f"{web.url}/logs/" if request.param == "web" else "s3://logs/"
    return begin, lambda name, text: store.files.__setitem__(f"{folder}{name}", text.encode())


def test_nothing_counts_twice_wherever_the_file_is(run, load, list_loaded, put):
    begin, write = put
    write("a.log", NFT)
    load(f"{begin}a.log")
    assert "unchanged" in load(f"{begin}a.log").stdout
    assert list_loaded(begin) == [("a.log", 2, 0)]
    write("a.log", NFT + LATER + "unfinished")
    load(f"{begin}a.log")
    assert list_loaded(begin) == [("a.log", 4, 0)]
    write("b.log", NFT + LATER)  # a copy
    write("a.log", THIRD)  # replaced, as by a rotation
    load(f"{begin}a.log", f"{begin}b.log")
    assert list_loaded(begin) == [("a.log", 4, 0), ("a.log", 2, 0), ("b.log", 0, 4)]
    shown = run("explain", "line", f"{begin}b.log", "2").stdout
    assert "13166758" in shown


def test_an_object_is_transferred_once_for_detection_and_load(load, s3):
    s3.files |= {"/logs/a.log": NFT.encode(), "/logs/b.log": LATER.encode()}
    load("s3://logs/*.log")
    assert s3.count("GET") == 3  # the listing, and each file


def test_what_cannot_be_read_is_reported_and_the_rest_is_loaded(load, list_loaded, web, s3):
    web.files |= {"/logs/a.log": NFT.encode(), "/logs/cut.log": LATER.encode(), "/logs/no.log": b""}
    web.cut.add("/logs/cut.log")
    web.denied.add("/logs/no.log")
    s3.denied.add("/closed")
    begin = f"{web.url}/logs/"
    names = ["none.log", "no.log", "cut.log", "a.log"]
    unreachable = ["http://127.0.0.1:1/a.log", "s3://closed/*.log"]
    done = load(*(f"{begin}{name}" for name in names), *unreachable, status=1)
    for line in (
        f"{begin}none.log: there is no such file (404)",
        f"{begin}no.log: access is denied (403)",
        f"{begin}cut.log: the transfer broke off",
        "http://127.0.0.1:1/a.log: the server refuses the connection",
        "s3://closed/*.log: access is denied",
    ):
        assert line in done.stderr
    assert list_loaded(begin) == [("a.log", 2, 0)]


def test_secrets_of_a_url_are_neither_stored_nor_printed(run, load, list_loaded, web):
    web.files["/logs/a.log"] = f"{NFT}nonsense\n".encode()
    web.password = "Basic dXNlcjpwYTU1d29yZA=="  # user:pa55word
    url, begin = web.url.replace("//", "//user:pa55word@") + "/logs/a.log", f"{web.url}/logs/"
    outputs = [
        load("--format", "nft", url),
        load(f"{url}x", status=1),
        load("--format", "nft", "--dry-run", url),
        run("detect", url, f"{url}x", status=1),
    ]
    outputs += [run("explain", "line", url, "3"), run("rejects", "--file", url)]
    assert not [done for done in outputs if "pa55word" in done.stdout + done.stderr]
    assert list_loaded(begin) == [("a.log", 2, 0)]
    # Without the password, the file cannot be read again, and nothing changes.
    assert "access is denied" in run("rejects", "--file", url, "--retry", status=1).stderr
    assert list_loaded(begin) == [("a.log", 2, 0)]


def test_other_commands_take_urls(run, web, tmp_path):
    web.files |= {"/nft.log": NFT.encode(), "/hsi.log": HSI.encode(), "/odd": b"?\n"}
    shown = run("detect", "-r", f"{web.url}/").stdout
    assert f"{web.url}/nft.log: nft" in shown
    assert f"{web.url}/odd: no format detected" in shown
    assert f"{web.url}/nft.log" in run("report", "--timezone", "UTC", f"{web.url}/nft.log").stdout
    web.files["/x.log"] = b"Mon Jul 13 09:12:14 1998 2 host 1234 /f b _ o r user ftp 0 * c\n"
    assert "facts" in run("formats", "check", "xferlog", f"{web.url}/x.log").stdout


def test_the_nightly_job_reads_urls(run, list_loaded, s3, tmp_path, request):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("c.log", THIRD)
    s3.files |= {"/night/a.log": NFT.encode(), "/night/b.log": LATER.encode()}
    s3.files["/night/old.zip"] = packed.getvalue()
    (tmp_path / "tapewise.toml").write_text(
        f'[[archives]]\nname = "{request.node.name}"\nkind = "synthetic"\ntimezone = "UTC"\n'
        '[[archives.sources]]\nname = "nft"\nformat = "nft"\npaths = ["s3://night/*"]\n'
    )
    for _ in range(2):
        run("--config", "tapewise.toml", "ingest")
        assert list_loaded("s3://night/") == [("a.log", 2, 0), ("b.log", 2, 0), ("old.zip/c.log", 2, 0)]
    # Two pages of each of two listings, two files once, and the archive with each listing.
    assert s3.count("GET") == 8
    assert "13166758" in run("explain", "line", "s3://night/old.zip/c.log", "2").stdout


def test_several_processes_read_urls(load, list_loaded, web):
    line = NFT.splitlines(keepends=True)[1]
    text = "".join(line.replace("00:01:42", f"{hour:02}:01:42") for hour in range(24)) * 90
    web.files |= {
        f"/many/{number}.log": text.replace("001194", f"00119{number}").encode() for number in range(3)
    }
    load("-j", "2", *(f"{web.url}/many/{number}.log" for number in range(3)))
    assert [each[1] for each in list_loaded(f"{web.url}/many/")] == [2160] * 3
