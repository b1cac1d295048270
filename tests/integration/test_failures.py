"""Recounts failures and retries from the lines of HSI's log, one by one, unlike `mart.failures`."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tapewise.schema.database import Role, Warehouse
from tests.conftest import Site
from tests.integration.example_archive import LOGS, ZONE, load_example

pytestmark = pytest.mark.study("ingest", "sql", together=True)

COLUMNS = ("attempt", "failed", "retried", "not_retried", "made_good", "not_made_good")
DIRECTIONS = {"LH": "put", "HL": "get"}


@dataclass(frozen=True)
class Attempt:
    """A line of HSI's log that moved a file, or tried to."""

    line_number: int
    interface: str
    direction: str
    client: str
    user: str
    code: int
    path: str
    ended_s: float


def read_attempts(path: Path) -> list[Attempt]:
    """Return the attempts that an HSI log reports, without its damaged lines."""
    found = []
    last_local, is_second_pass = datetime(1998, 10, 1), False
    for number, text in enumerate(path.read_text(encoding="latin-1").split("\n")):
        fields = text.split("\t")
        words = fields[0].split()
        if len(words) != 9 or len(fields) < 5:
            continue
        try:
            local = datetime.strptime(" ".join(words[:5]), "%a %b %d %H:%M:%S %Y")
        except ValueError:  # a damaged line
            continue
        if local.year != 1998 or not fields[4].isdigit():  # a damaged line
            continue
        # Clocks went back, and show an hour twice; the lines are in order.
        is_second_pass = is_second_pass or last_local - local > timedelta(minutes=30)
        last_local = local
        ended = local.replace(tzinfo=ZoneInfo(ZONE), fold=int(is_second_pass))
        client, program, user = words[5:8]
        operation, code, archive_path = (
            (fields[1], fields[2], fields[8]) if program == "hsi" and len(fields) > 8
            else (fields[2], fields[3], fields[7]) if program == "htar" else ("", "", "")
        )  # fmt: skip
        if operation in DIRECTIONS:
            found.append(
                Attempt(
                    number,
                    program,
                    DIRECTIONS[operation],
                    client,
                    user,
                    int(code),
                    archive_path,
                    ended.timestamp(),
                )
            )
    return found


def recount(
    attempts: list[Attempt], last_s: float, retry_s: float, *columns: str
) -> dict[tuple[str | int, ...], Counter[str]]:
    """Look for the retries of each failure among all attempts on the same file."""
    counts: dict[tuple[str | int, ...], Counter[str]] = {}
    by_file: dict[tuple[str, str, str], list[Attempt]] = {}
    for each in attempts:
        by_file.setdefault((each.user, each.direction, each.path), []).append(each)
    for each in attempts:
        group = tuple(getattr(each, name) for name in ("interface", "direction", *columns))
        count = counts.setdefault(group, Counter())
        count["attempt"] += 1
        if each.code == 0:
            continue
        count["failed"] += 1
        waits = [
            (other.ended_s - each.ended_s, other.code == 0)
            for other in by_file[each.user, each.direction, each.path]
            if (other.ended_s, other.line_number) > (each.ended_s, each.line_number)
            or (other.ended_s == each.ended_s and other.code == 0)
        ]
        in_time = [is_good for wait, is_good in waits if wait <= retry_s]
        is_followed = last_s - each.ended_s >= retry_s
        if in_time or is_followed:
            count["retried" if in_time else "not_retried"] += 1
        if any(in_time) or is_followed:
            count["made_good" if any(in_time) else "not_made_good"] += 1
    return counts


@pytest.fixture(scope="module")
def loaded(site: Site) -> Iterator[Warehouse]:
    with site.clone() as warehouse:
        load_example(warehouse)
        yield warehouse


@pytest.mark.parametrize("retry_s", [86_400, 600, 200_000])
def test_failures_of_hsi_and_htar(loaded: Warehouse, retry_s: int):
    attempts = read_attempts(LOGS / "hsi.log")
    with closing(loaded.connect(Role.OWNER)) as connection:
        rows = connection.execute(
            f"SELECT interface, direction, {', '.join(f'{name}_count' for name in COLUMNS)}"
            " FROM mart.failures('example', grouped_by => '{interface,direction}', retry_s => %s)"
            " WHERE interface IN ('hsi', 'htar')".encode(),
            [retry_s],
        ).fetchall()
        (last,) = connection.execute(
            "SELECT max(last_event_at) FROM mart.log_files WHERE is_counted"
        ).fetchall()
    true = recount(attempts, last[0].timestamp(), retry_s)
    assert sum(count["failed"] for count in true.values()) > 900
    assert sum(count["retried"] - count["made_good"] for count in true.values()) > 0
    assert {(row[0], row[1]): [*row[2:]] for row in rows} == {
        group: [count[name] for name in COLUMNS] for group, count in true.items()
    }


@pytest.mark.parametrize("day", [date(1998, 10, day) for day in (25, 28, 30)])
def test_failures_of_a_morning(loaded: Warehouse, day: date):
    """By code and client, of any day on which the logs end: on one of these, clocks go back."""
    midnight = datetime.combine(day, time(), ZoneInfo(ZONE)).timestamp()
    # Day and clock are those of the archive, and a day may have 25 hours.
    next_midnight = datetime.combine(day + timedelta(days=1), time(), ZoneInfo(ZONE)).timestamp()
    until = datetime.fromtimestamp(next_midnight, UTC) + timedelta(hours=1)
    with closing(loaded.connect(Role.OWNER)) as connection:
        rows = connection.execute(
            "SELECT interface, direction, client, status_code, starts_on, attempt_count, failed_count,"
            " made_good_count, not_made_good_count"
            " FROM mart.morning_failures('example', until => %s) WHERE interface IN ('hsi', 'htar')",
            [until],
        ).fetchall()
        (last,) = connection.execute(
            "SELECT max(last_event_at) FROM mart.log_files WHERE is_counted"
        ).fetchall()
    found = recount(read_attempts(LOGS / "hsi.log"), last[0].timestamp(), 86_400, "client", "code", "ended_s")
    true: dict[tuple[str | int, ...], Counter[str]] = {}
    for (*group, ended_s), count in found.items():
        if midnight <= float(ended_s) < next_midnight:
            true.setdefault(tuple(group), Counter()).update(count)
    attempts = Counter[tuple[str | int, ...]]()
    for group, count in true.items():
        attempts[group[:3]] += count["attempt"]
    assert len(rows) >= 5
    assert {row[:4]: row[4:] for row in rows} == {
        group: (
            day, attempts[group[:3]], *(count[name] for name in ("failed", "made_good", "not_made_good"))
        )
        for group, count in true.items()
        if count["failed"]
    }  # fmt: skip


def test_where_no_log_reports_failures_nothing_is_known(loaded: Warehouse):
    with closing(loaded.connect(Role.OWNER)) as connection:
        rows = connection.execute(
            "SELECT interface, unknown_count = attempt_count, failed_count, failed_ratio IS NULL"
            " FROM mart.failures('example', grouped_by => '{interface}') ORDER BY interface"
        ).fetchall()
    assert [row for row in rows if row[0] in ("ftp", "nft", "pftp")] == [
        ("ftp", True, None, True),
        ("nft", False, 219, False),
        ("pftp", True, None, True),
    ]
