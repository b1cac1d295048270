"""Loads logs of five formats with pseudonyms, as a user would, and then looks for every original name."""

import base64
import gzip
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from tapewise.schema.backups import back_up
from tapewise.schema.database import Role, open_warehouse
from tapewise.schema.server.binaries import find_binaries
from tapewise.schema.settings import Settings
from tests.acceptance.conftest import run_command

pytestmark = pytest.mark.study("ingest", "tapewise")

SECRET = "b7e1d0c4a99f4c56b1d2e3f405162738"
ARCHIVE = "hidden"
# Every name begins with zq or is a number of nine digits, as in NFT's lines.
PATH = "/zqhome/zqkim/zqrun 7/zqout.tar"
NFT = """\
907531264 97/10/01 00:01:41 js 7700 0.425
907531265 97/10/01 00:02:41 kw 7700 0.425
907531266 97/10/01 00:03:41 js ********** 0.425
907531267 97/10/01 00:04:41 ss 7700 0.425
*** restarted by zqoperator ***
"""
PFTP = f"""\
Tue Mar 5 09:14:09 2019 zqhostone.example.org {PATH} b POPN_Cmd w r ftp zquserone fd 0
Tue Mar 5 09:14:22 2019 12.480 zqhostone.example.org 107 {PATH} b i PSTO_Cmd r ftp zquserone
Tue Mar 5 09:14:22 2019 12.480 zqhosttwo.example.org /zqbroken
"""
HSI = (
    "Tue Mar  5 09:14:22 2019 zqhostthree hsi zqusertwo 2211\tLH\t0\t0.03\t7340032\t24466.8\t4"
    "\tzqlocal 7\t~zqusertwo/zqfolder/zqfile.zqsuffix\tzqaccount\n"
    "Tue Mar  5 09:15:22 2019 zqhostthree hsi zqusertwo 2211\tFR\t0\t0.00\t0\t0.0\t0\t/zqold/a\t/zqnew/a\n"
    "Tue Mar  5 09:31:07 2019 zqhostfour htar zquserthree 2304\tcreate\tLH\t0\t536870912\t2.56"
    "\t209715.2\t/zqtar/a.tar\tzqftphost\t5\tzqproject\n"
    "Tue Mar  5 09:31:08 2019 zqhostfour htar zq\xe9\xff nonsense\n"
)
COND = """\
907531268 14:06:48 14:07:31 2360 102 17 put -d /zqscratch/zqjob 7/zqinput.tar
907531269 14:06:48 14:07:31 2361 102 18 zqcommand zqargument
zqwrong
"""
STAT = """\
97/11/05 15:54:31.012 3871  File failure (j-s) 1307 bytes in 0.731 seconds quota of zquserfour
97/11/05 15:54:32.012 3872  File zqverb (j-s) 1307 bytes
"""
NUMBERS = [f"90753126{digit}" for digit in range(4, 10)]
NAMES = [*NUMBERS, *sorted(set(re.findall("zq[a-z]+", NFT + PFTP + HSI + COND + STAT)))]
SECRETS = [SECRET, SECRET.encode().hex(), base64.b64encode(SECRET.encode()).decode().rstrip("=")]

CONFIG = f"""
pseudonym_key_file = "key"
[[archives]]
name = "{ARCHIVE}"
timezone = "UTC"
kind = "synthetic"
""" + "".join(
    f'[[archives.sources]]\nformat = "{name}"\npaths = ["logs/{name}*"]\npseudonymise = true\n'
    for name in ("nft", "pftp", "hsi", "cond", "stat")
)
BY_HAND = ["ingest", "--archive", ARCHIVE, "--kind", "synthetic", "--timezone", "UTC", "--format"]


@pytest.fixture(scope="module")
def home():
    """A home for these tests only: the shared one contains names."""
    folder = Path(tempfile.mkdtemp(prefix="tapewise-hidden-"))
    folder.chmod(0o755)  # when run as root, the server's own account must get in
    yield folder
    run_command(["--home", str(folder), "db", "stop"])
    shutil.rmtree(folder)


@pytest.fixture
def folder(tmp_path, tapewise):
    site = tmp_path / "site"
    (site / "logs").mkdir(parents=True)
    (site / "logs" / "nft.log").write_text(NFT)
    (site / "logs" / "pftp.log.gz").write_bytes(gzip.compress(PFTP.encode()))
    (site / "logs" / "hsi.log").write_bytes(HSI.encode("latin-1"))
    (site / "logs" / "cond.971105").write_text(COND)
    (site / "logs" / "stat.log").write_text(STAT)
    (site / "key").write_text(f"{SECRET}\n")
    (site / "key").chmod(0o600)
    (site / "tapewise.toml").write_text(CONFIG)
    yield site
    tapewise("archives", "drop", ARCHIVE, "--yes")


def read_everything(home) -> str:
    """Return as text every row of every table, PostgreSQL's own samples of values, and a dump."""
    with open_warehouse(Settings(home=home)) as warehouse, warehouse.connect(Role.OWNER) as connection:
        connection.autocommit = True
        connection.execute("ANALYZE")
        tables = connection.execute(
            "SELECT oid::regclass::text FROM pg_class WHERE relkind IN ('r', 'm') AND"
            " (oid = 'pg_statistic'::regclass"
            " OR relnamespace::regnamespace::text IN ('core', 'ledger', 'studies', 'public'))"
        ).fetchall()
        assert len(tables) > 20
        rows = [
            str(row)
            for (table,) in tables
            for row in connection.execute(f"SELECT t::text FROM {table} AS t").fetchall()
        ]
        dump = dump_plainly(warehouse)
    assert "COPY core.users" in dump
    return "\n".join([*rows, dump])


def dump_plainly(warehouse) -> str:
    done = subprocess.run(
        [find_binaries(18).find_tool("pg_dump"), f"--dbname={warehouse.url(Role.OWNER)}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_hidden(text: str) -> None:
    lower = text.lower()
    assert [name for name in [*NAMES, *SECRETS] if name in lower] == []


def test_no_name_and_no_key_is_anywhere(tapewise, folder, home, tmp_path):
    configured = ["--config", str(folder / "tapewise.toml")]
    said = ""

    def run(*arguments: str, status: int = 0, **options) -> subprocess.CompletedProcess[str]:
        nonlocal said
        done = tapewise(*configured, *arguments, **options)
        assert done.returncode == status, done.stderr
        said += done.stdout + done.stderr
        return done

    nft = str(folder / "logs" / "nft.log")
    run(*BY_HAND, "nft", "--pseudonymise", "--dry-run", nft)
    assert "line 3: not a line of this format\n" in said
    run("ingest", "--dry-run", "--json")
    run("ingest", "--prometheus", str(tmp_path / "tapewise.prom"))
    assert said.count(" loaded ") > 5
    run("status", "--archive", ARCHIVE)
    run("doctor", status=1)  # the logs are old, so the doctor reports silent sources
    assert "Names are replaced by pseudonyms in 5 of 5 sources" in said

    # The pseudonyms stay the same when a log is loaded again, and when another process loads a longer copy
    # with the key from its environment.
    run("ingest", "--json")
    (folder / "logs" / "copy.log").write_text(
        NFT + NFT.splitlines(keepends=True)[0].replace("00:01", "00:09")
    )
    environment = {"TAPEWISE_PSEUDONYM_KEY": SECRET, "TAPEWISE_CONFIG": str(folder / "none.toml")}
    (folder / "none.toml").touch()
    copy = [*BY_HAND, "nft", "--pseudonymise", "--json", str(folder / "logs" / "copy.log")]
    done = tapewise(*copy, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    balance = json.loads(done.stdout)
    assert (balance["loaded_count"], balance["held_count"]) == (1, 2)

    everything = read_everything(home)
    assert_hidden(everything)
    assert_hidden(said + done.stdout + (tmp_path / "tapewise.prom").read_text())
    with open_warehouse(Settings(home=home)) as warehouse, warehouse.connect(Role.OWNER) as connection:
        names = connection.execute(
            "SELECT name FROM core.users UNION ALL SELECT name FROM core.hosts UNION ALL"
            " SELECT account FROM core.transfers WHERE account IS NOT NULL"
        ).fetchall()
        assert len(names) > 10
        assert [name for (name,) in names if not re.fullmatch("p[0-9a-f]{16}", name)] == []
        # The names of NFT's machines are too short to be searched for.
        operations = connection.execute(
            "SELECT DISTINCT operation FROM core.transfers WHERE interface = 'nft'"
        ).fetchall()
        assert operations == [("put",)]
        counted = connection.execute("SELECT count(text), count(*) FROM ledger.rejected_lines").fetchone()
        assert counted is not None and counted[0] == 0 and counted[1] >= 7
        # A file's open and its transfer are still one request; a user in two logs is still one user.
        requests = connection.execute("SELECT open_id, transfer_id FROM core.requests WHERE open_id > 0")
        assert all(None not in row for row in requests.fetchall())
        homes = connection.execute(
            "SELECT users.name = substr(archive_path, 2, 17) FROM core.transfers"
            " JOIN core.users ON users.id = user_id WHERE archive_path LIKE '~%'"
        ).fetchall()
        assert homes == [(True,)]
        back_up(warehouse, tmp_path / "backup")


def test_explain_shows_a_line_to_anyone_who_has_the_key_and_the_file(tapewise, folder):
    with_key = ["--config", str(folder / "tapewise.toml")]
    assert tapewise(*with_key, "ingest").returncode == 0
    log = str(folder / "logs" / "nft.log")
    fates = [
        ("1", "907531264", "loaded into core.transfers"),
        ("2", "907531265", "ignored: no archive involved"),
        ("5", "zqoperator", "rejected: not a line of this format"),
    ]
    for number, name, fate in fates:
        shown = tapewise(*with_key, "explain", "line", log, number).stdout
        assert name in shown and fate in shown
        hidden = tapewise("explain", "line", log, number).stdout
        assert "(the names of this source are pseudonyms" in hidden
        assert name not in hidden
    assert "only the key of the source's pseudonyms can" in tapewise("explain", "line", log, "2").stdout


def test_lines_are_read_again_only_with_the_key(tapewise, folder, home):
    with_key = ["--config", str(folder / "tapewise.toml")]
    assert tapewise(*with_key, "ingest").returncode == 0
    without = tapewise("rejects", "--archive", ARCHIVE, "--retry")
    assert without.returncode == 1
    assert without.stderr.count("are pseudonyms, and their key is missing") == 5
    again = tapewise(*with_key, "rejects", "--archive", ARCHIVE, "--retry")
    assert (again.returncode, again.stderr) == (0, "")
    assert_hidden(without.stdout + without.stderr + again.stdout + read_everything(home))


def test_a_source_keeps_its_key(tapewise, folder):
    config = folder / "tapewise.toml"
    run = ["--config", str(config), "ingest"]
    assert tapewise(*run).returncode == 0
    log = str(folder / "logs" / "nft.log")
    plain = tapewise(*BY_HAND, "nft", log)
    assert plain.returncode == 1
    assert (
        "the names of source 'nft' of archive 'hidden' are pseudonyms, but none are requested" in plain.stderr
    )

    other = {"TAPEWISE_PSEUDONYM_KEY": f"{SECRET}x"}
    done = tapewise(*run, env=other)
    assert done.returncode == 1
    assert done.stderr.count("were made with key") == 5
    assert SECRET not in done.stdout + done.stderr
    wrong = tapewise("--config", str(config), "doctor", env=other).stdout
    assert wrong.count("WRONG    settings  The pseudonyms of source") == 5

    (folder / "key").unlink()
    gone = tapewise(*run)
    assert (gone.returncode, gone.stdout) == (1, "")
    assert "site/key cannot be read" in gone.stderr
    config.write_text(CONFIG.replace('pseudonym_key_file = "key"\n', ""))
    none = tapewise(*run)
    assert none.returncode == 2
    assert "archives[hidden].sources[nft].pseudonymise: there is no key for it" in none.stderr
    assert "openssl rand" in none.stderr


def test_a_key_that_others_can_read_is_reported(tapewise, folder):
    configured = ["--config", str(folder / "tapewise.toml")]
    assert tapewise(*configured, "ingest").returncode == 0
    assert "the pseudonym key." not in tapewise(*configured, "doctor").stdout
    (folder / "key").chmod(0o644)
    assert "the pseudonym key." in tapewise(*configured, "doctor").stdout
