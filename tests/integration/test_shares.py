"""Recounts shares and popularity from the lines of HSI logs (made up), one by one, unlike `mart.shares`."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import psycopg
import pytest

from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.schema.database import Role, Warehouse
from tests.conftest import NOW, Site, register

pytestmark = pytest.mark.study("sql", together=True)

ZONE = ZoneInfo("America/Los_Angeles")
DIRECTIONS = {"LH": "put", "HL": "get"}


@dataclass(frozen=True)
class Line:
    """A line that moved a file, with what the fields say."""

    at: datetime
    interface: str
    direction: str
    user: str
    client: str
    class_of_service: str
    path: str
    account: str
    size_bytes: int
    code: int

    @property
    def on(self) -> date:
        return self.at.date()

    def holder(self, held_by: str, depth: int) -> str:
        """Return the account, or the first folders of the path."""
        return self.account if held_by == "account" else "/".join(self.path.split("/")[:-1][: depth + 1])


def make_log(path: Path) -> None:
    """Write lines of HSI and HTAR from December 1997 to 29 November 1998, with a few large users."""
    rng = random.Random(26)
    at = datetime(1997, 12, 20, 8, tzinfo=UTC)
    lines = []
    while at < datetime(1998, 11, 30, 7, 59, tzinfo=UTC):
        # The hour that comes twice is left out, because lines do not say which one they mean.
        local = at.astimezone(ZONE)
        if not (local.date() == date(1998, 10, 25) and local.hour == 1):
            user = min(int(rng.paretovariate(0.7)), 40)
            client = f"data{min(int(rng.paretovariate(0.5)), 9):02}.example.gov"
            code = rng.choice([0, 0, 0, 0, -1])
            size = int(rng.lognormvariate(12, 3)) + 1
            operation = rng.choice(["LH", "HL", "HL"])
            class_of_service = rng.choice(["22", "22", "23", "5"])
            number = min(int(rng.paretovariate(0.3)), 400)
            name = f"/home/g{number % 7}/{'s/' * (number % 3)}f{number}"
            account = f"a{user % 5}"
            head = f"{local:%a %b} {local.day:2} {local:%H:%M:%S %Y} {client}"
            if rng.random() < 0.8:
                lines.append(
                    f"{head} hsi u{user} 1\t{operation}\t{code}\t0.03\t{size}\t5000.0\t{class_of_service}"
                    f"\tx\t{name}\t{account}\n"
                )
            else:
                verb = {"LH": "create", "HL": "extract"}[operation]
                lines.append(
                    f"{head} htar u{user} 1\t{verb}\t{operation}\t{code}\t{size}\t1.00\t5000.0\t{name}.tar\t"
                    f"\t{class_of_service}\t{account}\n"
                )
        at += timedelta(seconds=rng.expovariate(1 / 9000))
    path.write_text("".join(lines), encoding="utf-8")


def read_lines(path: Path) -> list[Line]:
    found = []
    for text in path.read_text(encoding="utf-8").splitlines():
        head, *fields = text.split("\t")
        *clock, client, program, user, _ = head.split()
        at = datetime.strptime(" ".join(clock), "%a %b %d %H:%M:%S %Y").replace(tzinfo=ZONE)
        if program == "hsi":
            operation, code, _, size, _, class_of_service, _, name, account = fields
        else:
            _, operation, code, size, _, _, name, _, class_of_service, account = fields
        found.append(
            Line(
                at,
                program,
                DIRECTIONS[operation],
                user,
                client,
                class_of_service,
                name,
                account,
                int(size),
                int(code),
            )
        )
    return found


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[Line]:
    path = tmp_path_factory.getbasetemp() / "shares.log"
    make_log(path)
    return read_lines(path)


@pytest.fixture(scope="module")
def loaded(
    site: Site, lines: list[Line], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[psycopg.Connection]:
    with site.clone() as warehouse:
        load(warehouse, tmp_path_factory.getbasetemp() / "shares.log")
        with closing(warehouse.connect(Role.OWNER)) as connection:
            connection.execute("ANALYZE core.transfers, core.requests")
            yield connection


def load(warehouse: Warehouse, path: Path) -> None:
    request = SourceRequest("hpss", "synthetic", find_format("hsi"), str(ZONE), "hsi")
    load_file(warehouse, register(warehouse, request), path, now=NOW)


def midnight(on: date) -> datetime:
    return datetime(on.year, on.month, on.day, tzinfo=ZONE)


def find_gini(amounts: list[int]) -> float:
    """Return half the mean difference of all pairs, divided by the mean."""
    differences = sum(abs(one - other) for one in amounts for other in amounts)
    return differences / (2 * len(amounts) * sum(amounts))


# The log's last day is 29 November, a Sunday. On 25 October, clocks go back.
RANGES = [
    ("day", None, date(1998, 11, 28), date(1998, 11, 28)),
    ("week", None, date(1998, 11, 16), date(1998, 11, 22)),
    ("month", None, date(1998, 10, 1), date(1998, 10, 31)),
    ("month", date(1998, 5, 1), date(1998, 4, 1), date(1998, 4, 30)),
    ("year", date(1998, 11, 1), date(1997, 12, 20), date(1997, 12, 31)),
    (None, None, date(1997, 12, 20), date(1998, 11, 29)),
]
FILTERS = [
    {},
    {"direction": "get"},
    {"interface": "htar", "class_of_service": "22"},
    {"client": "data01.example.gov"},
]


@pytest.mark.parametrize("filters", FILTERS, ids=str)
@pytest.mark.parametrize("shared_by", ["user", "client", "class_of_service"])
@pytest.mark.parametrize(("period", "until", "starts_on", "ends_on"), RANGES)
def test_shares(
    loaded: psycopg.Connection,
    lines: list[Line],
    period: str | None,
    until: date | None,
    starts_on: date,
    ends_on: date,
    shared_by: str,
    filters: dict[str, str],
):
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for line in lines:
        is_asked = all(getattr(line, name) == value for name, value in filters.items())
        if line.code == 0 and starts_on <= line.on <= ends_on and is_asked:
            counts[getattr(line, shared_by)] += 1
            sizes[getattr(line, shared_by)] += line.size_bytes
    assert counts or period == "day"
    seconds = midnight(ends_on + timedelta(days=1)).timestamp() - midnight(starts_on).timestamp()
    for ranked_by, amounts in (("requests", counts), ("bytes", sizes)):
        arguments = filters | {
            "shared_by": shared_by,
            "ranked_by": ranked_by,
            "period": period,
            "until": until and midnight(until),
        }
        given = ", ".join(f"{name} => %({name})s" for name in arguments)
        rows = loaded.execute(
            "SELECT coalesce(users.name, holder), amount.*, running, mean_rate_bytes_per_s,"
            f" requests_per_hour, gini, starts_on, ends_on FROM mart.shares('hpss', {given}) AS shares"
            f" LEFT JOIN core.users ON '{shared_by}' = 'user' AND users.id::text = holder"
            " CROSS JOIN LATERAL (VALUES (request_count, size_bytes)) AS amount"
            " CROSS JOIN LATERAL (VALUES (CASE %(ranked_by)s WHEN 'bytes' THEN running_size_ratio"
            " ELSE running_request_ratio END)) AS curve (running) ORDER BY holder_rank".encode(),
            arguments,
        ).fetchall()
        assert {row[0]: (row[1], row[2]) for row in rows} == {
            name: (counts[name], sizes[name]) for name in counts
        }
        largest = sorted(amounts.values(), reverse=True)
        assert [amounts[row[0]] for row in rows] == largest
        for place, (name, _, _, running, rate, per_hour, gini, first_on, last_on) in enumerate(rows, 1):
            assert running == pytest.approx(sum(largest[:place]) / sum(largest))
            assert rate == pytest.approx(sizes[name] / seconds)
            assert per_hour == pytest.approx(counts[name] * 3600 / seconds)
            assert gini == pytest.approx(find_gini(largest), abs=1e-12)
            assert (first_on, last_on) == (starts_on, ends_on)


HELD_BY = [("account", 1), ("path", 2), ("path", 3)]


@pytest.mark.parametrize(("shared_by", "depth"), HELD_BY)
def test_project_shares(loaded: psycopg.Connection, lines: list[Line], shared_by: str, depth: int) -> None:
    since, until = date(1998, 3, 1), date(1998, 9, 15)
    filters = FILTERS[depth]
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for line in lines:
        is_asked = all(getattr(line, name) == value for name, value in filters.items())
        if line.code == 0 and since <= line.on < until and is_asked:
            counts[line.holder(shared_by, depth)] += 1
            sizes[line.holder(shared_by, depth)] += line.size_bytes
    arguments = filters | {"since": midnight(since), "until": midnight(until), "shared_by": shared_by}
    given = ", ".join(f"{name} => %({name})s" for name in arguments)
    for ranked_by, amounts in (("requests", counts), ("bytes", sizes)):
        rows = loaded.execute(
            "SELECT holder, request_count, size_bytes,"
            " CASE %(ranked_by)s WHEN 'bytes' THEN running_size_ratio ELSE running_request_ratio END"
            f" FROM mart.project_shares('hpss', {given}, ranked_by => %(ranked_by)s, path_depth => %(depth)s)"
            " ORDER BY holder_rank".encode(),
            arguments | {"ranked_by": ranked_by, "depth": depth},
        ).fetchall()
        assert len(rows) > 1
        assert {row[0]: row[1:3] for row in rows} == {name: (counts[name], sizes[name]) for name in counts}
        largest = sorted(amounts.values(), reverse=True)
        for place, row in enumerate(rows, 1):
            assert amounts[row[0]] == largest[place - 1]
            assert row[3] == pytest.approx(sum(largest[:place]) / sum(largest))


@dataclass
class Version:
    holder: str
    size_bytes: int
    is_put: bool
    get_count: int
    used_at: float


@pytest.mark.parametrize(("held_by", "depth"), HELD_BY)
def test_project_cold_data(loaded: psycopg.Connection, lines: list[Line], held_by: str, depth: int) -> None:
    versions: dict[str, Version] = {}
    end = 0.0
    for line in lines:
        if line.code == 0:
            end = line.at.timestamp()
            if line.direction == "put" or line.path not in versions:
                versions[line.path] = Version(line.holder(held_by, depth), 0, line.direction == "put", 0, end)
            version = versions[line.path]
            # Without a put, the largest size is that of the file.
            version.size_bytes = line.size_bytes if line.direction == "put" else version.size_bytes
            if line.direction == "get":
                version.get_count += 1
                if not version.is_put:
                    version.size_bytes = max(version.size_bytes, line.size_bytes)
            version.used_at = end
    edges = [0, 2, 30]
    expected: defaultdict[tuple[str, int], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for version in versions.values():
        idle_days = (end - version.used_at) / 86400
        found = expected[version.holder, max(edge for edge in edges if edge <= idle_days)]
        is_never_read = version.is_put and version.get_count == 0
        found[0] += 1
        found[1] += version.size_bytes
        found[2] += is_never_read
        found[3] += version.size_bytes * is_never_read
    rows = loaded.execute(
        "SELECT holder, idle_from_days::integer, file_count, size_bytes, never_read_count, never_read_bytes"
        " FROM mart.project_cold_data('hpss', held_by => %s, path_depth => %s, idle_days => '{2,30}')",
        [held_by, depth],
    ).fetchall()
    assert {(row[0], row[1]): [*row[2:]] for row in rows} == expected


@pytest.mark.parametrize("client", [None, "data01.example.gov"])
def test_popularity(loaded: psycopg.Connection, lines: list[Line], client: str | None):
    # A put to the same path makes another version, which later gets read.
    versions: Counter[str] = Counter()
    gets: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for line in lines:
        if line.code == 0 and line.direction == "put":
            versions[line.path] += 1
        elif line.code == 0 and (client is None or line.client == client):
            gets[line.path][versions[line.path]] += 1
    counts = sorted((count for of_path in gets.values() for count in of_path.values()), reverse=True)
    rows = loaded.execute(
        "SELECT file_count, top_file_count, get_count, top_get_count, fewest_get_count"
        " FROM mart.popularity('hpss', client => %s, top_ratios => '{0.01,0.1,0.5}') ORDER BY top_ratio",
        [client],
    ).fetchall()
    tops = [-(-len(counts) * percent // 100) for percent in (1, 10, 50)]
    assert counts[0] > 1
    assert rows == [(len(counts), top, sum(counts), sum(counts[:top]), counts[top - 1]) for top in tops]
