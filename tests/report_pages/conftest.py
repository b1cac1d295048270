"""Reports of many kinds of logs, each written once per session: `make test-report-pages`.

The tests need Debian's chromium, and axe-core and html-validate from npm (`package-lock.json`). Without
these, they fail; they are not skipped.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from tapewise.dashboards.browser import CHROMIUM
from tests.acceptance.conftest import TREE, run_command

LOGS = TREE / "examples" / "logs"
NODE = TREE / ".tools" / "node" / "node_modules"
ZONE = ["--timezone", "America/Los_Angeles"]
# Lines that are not part of the project, and the date of those that carry none. Most are real.
SAMPLES = {
    "hpss-nersc/globuslogs.txt": None,
    "hpss-nersc/hpss_daily.txt": None,
    "hpss-nersc/hpssftplog.txt": None,
    "hpss-nersc/hsilog.txt": None,
    "llnl-unitree/cond.980505": "1998-05-05",
    "llnl-unitree/nft-971001.log": None,
    "llnl-unitree/stat.980505": None,
    "today/cta-taped-json-5.11.20.constructed.log": None,
    "today/dcache-billing-json.constructed.log": None,
    "today/dcache-billing.real.log": "2013-09-30",
    "today/eos-report-5.constructed.log": None,
    "today/eos-report-doc.real.log": None,
    "today/samqfs-archiver.real.log": None,
    "today/samqfs-stager.real.log": None,
    "today/xrdpfc-gstream.real.log": None,
    "today/gridftp.real.log": None,
}
# What somebody might write where a page shows it.
SCRIPT = "<script>document.title='broken'</script>\"'&</style>"
MADE = ("files", "archive", "nothing", "one line", "rejects", "script")
REPORTS = (*MADE, *SAMPLES)


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="tapewise-report-pages-"))
    folder.chmod(0o755)  # when run as root, the server's own account must get in
    yield folder
    run_command(["--home", str(folder / "home"), "db", "stop"])
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def write_report(folder: Path, request: pytest.FixtureRequest) -> Callable[[str], Path]:
    """Return a function that writes the report of that name, if it is not there yet."""

    def run(*arguments: object) -> None:
        done = run_command(["--home", str(folder / "home"), *map(str, arguments)], cwd=folder)
        assert done.returncode == 0, done.stderr

    def write_log(name: str, text: str) -> Path:
        path = folder / name
        path.write_text(text)
        return path

    def write(name: str) -> Path:
        page = folder / f"{name.replace('/', '-')}.html"
        if page.exists():
            return page
        hsi = (LOGS / "hsi.log").read_text(errors="replace")
        options: list[object] = ["--html", page, *ZONE]
        if name == "files":
            run("report", *options, *(LOGS / each for each in ("hsi.log", "nft.log", "stat.log.gz")))
        elif name == "archive":
            make_archive(run, folder)
            run("report", "--html", page, "--archive", f"hpss {SCRIPT}")
        elif name == "nothing":
            run("report", *options, write_log("empty.log", ""))
        elif name == "one line":
            run("report", *options, write_log("one.log", hsi.splitlines(keepends=True)[0]))
        elif name == "rejects":
            run("report", *options, "--format", "hsi", write_log("bad.log", f"{SCRIPT}\n" * 50))
        elif name == "script":
            # A slash cannot be in a file's name.
            run("report", *options, write_log(SCRIPT.replace("/", "") + ".log", hsi))
        else:
            date = ["--date", SAMPLES[name]] if SAMPLES[name] else []
            run("report", *options, *date, request.getfixturevalue("sample_logs") / name)
        return page

    return write


def make_archive(run: Callable[..., None], folder: Path) -> None:
    """Load made-up logs of two weeks, mounts by odd drives, outages and changes."""
    archive = ["--archive", f"hpss {SCRIPT}"]
    about = [*archive, "--kind", "synthetic", *ZONE]
    for name, file in (("hsi", "hsi.log"), ("cond", "cond.98102*.gz"), ("stat", "stat.log.gz")):
        run("ingest", *about, "--format", name, *LOGS.glob(file))
    run("ingest", *about, "--format", "unitree-tape", make_mounts(folder))
    outage = ["--since", "1998-10-26T07:00", "--until", "1998-10-26T13:00", "--kind", "scheduled"]
    run("outages", "add", *archive, *outage, "--note", SCRIPT)
    run("outages", "add", *archive, "--since", "1998-10-31T12:00", "--kind", "unscheduled", "--note", "?")
    run("config-changes", "add", *archive, "--since", "1998-10-21", "--kind", "other", "--note", SCRIPT)
    run("workload", "fit", *archive, "--name", "october")


def make_mounts(folder: Path) -> Path:
    """Write 120 mounts by three drives, one of them with an odd name."""
    lines = []
    for number in range(120):
        began = datetime(1998, 10, 20) + timedelta(hours=number)
        drive = ("d3-01", "d3-02", "<b>&\"'d3")[number % 3]
        task = f"op=stage by=client cap=4f21.{number:04} family=7"
        for after_s, what, unit in (
            *((0, f"tapesrvr received {task}", "-"), (30, f"tapesrvr mount {task}", "-")),
            *((90, f"tapesrvr positioned {task}", drive), (120, f"tapesrvr complete {task}", drive)),
            (400, "pdmsrvr dismount op=- by=- cap=- family=-", drive),
            (430, "pdmsrvr dismounted op=- by=- cap=- family=-", drive),
        ):
            at = f"{began + timedelta(seconds=after_s):%Y-%m-%d %H:%M:%S}.000"
            tape = f"copy=1 frag=- vsn=D{number:05} type=D3 unit={unit} block=- size=34713600 rc=0"
            lines.append(f"{at} {what} location=silo1 {tape}\n")
    path = folder / "tapes.log"
    path.write_text("".join(lines))
    return path


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        # Chromium's sandbox does not work for root. It is not needed, because only our pages are opened.
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()
