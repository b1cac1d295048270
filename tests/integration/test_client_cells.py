"""An archive may count each client of its own: its cells are a recount then, and answer as the facts do."""

import random
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tapewise.ingest.commands.explain import clients, list_command
from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.sources.archives import drop_archive
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.ingest.upkeep.client_counts import count_clients, drop_client_counts
from tapewise.ingest.upkeep.retention import forget_detail
from tapewise.ingest.upkeep.source_drops import drop_source
from tapewise.ingest.upkeep.source_replacements import replace_source
from tapewise.schema.database import Role, Warehouse
from tests.conftest import NOW, register
from tests.integration import request_logs
from tests.integration.evidence import ROLLUPS, check_warehouse, read_facts
from tests.integration.test_requests import FIRST_DAY, make_world
from tests.integration.test_second_passes import US, in_order
from tests.studies import with_seeds

pytestmark = pytest.mark.study("ingest", "schema", "sql")

ROUTES = "SELECT count(*) FROM core.routes WHERE client_id IS NOT NULL"

# Sums of what the functions select for one client: cells of days or single facts, which is all the same.
ANSWERS = {
    "days": """
        SELECT source, interface, direction, class_of_service, starts_on, sum(transfer_count),
            sum(failed_count), sum(saturated_count), sum(size_bytes), sum(unknown_size_count),
            sum(duration_us), sum(unknown_duration_count), sum(ambiguous_count), sum(day_only_count),
            sum(coarse_count), sum(below_clock_count), sum(flagged_saturated_count), sum(inconsistent_count),
            sum(rated_size_bytes), sum(rated_duration_us), max(largest), max(longest),
            bit_or(ten_minute_marks)
        FROM {days} GROUP BY source, interface, direction, class_of_service, starts_on
    """,
    "hours": """
        SELECT starts_on, hour, sum(n), sum(failed), sum(bytes), sum(unknown)
        FROM {days}, unnest(hours, hour_transfer_counts, hour_failed_counts, hour_size_bytes,
            hour_unknown_size_counts) AS part (hour, n, failed, bytes, unknown)
        GROUP BY starts_on, hour
    """,
    "rates": """
        SELECT starts_on, bin, sum(n) FROM {days}, unnest(rate_bins, rate_counts) AS part (bin, n)
        GROUP BY starts_on, bin
    """,
    "ten minutes": """
        SELECT starts_on, begin, sum(n)
        FROM {days}, unnest(ten_minute_offsets, ten_minute_counts) AS part (begin, n)
        GROUP BY starts_on, begin
    """,
    "first and last days": """
        SELECT interface, direction, min(first_on), max(last_on) FROM {sizes} GROUP BY interface, direction
    """,
    "sizes": """
        SELECT interface, direction, bin, sum(bytes), min(shortest)
        FROM {sizes}, unnest(size_bins, size_bytes, shortest_s) AS part (bin, bytes, shortest)
        GROUP BY interface, direction, bin
    """,
    "times": """
        SELECT interface, direction, bin, sum(n) FROM {sizes}, unnest(time_bins, time_counts) AS part (bin, n)
        GROUP BY interface, direction, bin
    """,
    "requests": """
        SELECT source, interface, direction, class_of_service, min(first_on), max(last_on),
            sum(request_count), sum(below_clock_count), sum(negative_count)
        FROM {request_days} GROUP BY source, interface, direction, class_of_service
    """,
    "quantities": """
        SELECT quantity, bin, sum(n) FROM {request_days} CROSS JOIN LATERAL (
            SELECT 'size' AS quantity, * FROM unnest(size_bins, size_counts) AS part (bin, n)
            UNION ALL SELECT 'time', * FROM unnest(duration_bins, duration_counts) AS part (bin, n)
            UNION ALL SELECT 'wait', * FROM unnest(wait_bins, wait_counts) AS part (bin, n)
        ) AS entries
        GROUP BY quantity, bin
    """,
    "hits": """
        SELECT source, interface, class_of_service, size_class, is_cached, is_joined, is_staging_bypassed,
            is_size_saturated, starts_on, sum(get_count), sum(size_bytes)
        FROM {hits}
        GROUP BY source, interface, class_of_service, size_class, is_cached, is_joined, is_staging_bypassed,
            is_size_saturated, starts_on
    """,
    "opens": """
        SELECT interface, direction, class_of_service, open_from_s, is_sized, is_staging_bypassed,
            sum(request_count), sum(open_us)
        FROM {opens}
        GROUP BY interface, direction, class_of_service, open_from_s, is_sized, is_staging_bypassed
    """,
    "users": """
        SELECT interface, direction, user_id, sum(n), sum(bytes)
        FROM {users}, unnest(user_ids, request_counts, part_bytes) AS part (user_id, n, bytes)
        GROUP BY interface, direction, user_id
    """,
}
ARGUMENTS = [
    "",
    ", since => '{day}'::timestamptz, until => '{day}'::timestamptz + interval '30 hours'",
    ", direction => 'get'",
    ", interface => 'nft', class_of_service => NULL",
]


def ask(
    warehouse: Warehouse, archive: str | None = "llnl", first_day: datetime = FIRST_DAY
) -> dict[tuple[str, str, str], list[str]]:
    """Return the answers for each client and a client that there is not."""
    found = {}
    with closing(warehouse.connect(Role.OWNER)) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        names = [name for (name,) in connection.execute("SELECT DISTINCT name FROM core.hosts ORDER BY 1")]
        for client in [*names, "nobody"]:
            for template in ARGUMENTS:
                more = template.format(day=(first_day + timedelta(days=2)).isoformat())
                asked = "NULL" if archive is None else f"'{archive}'"
                calls = {
                    name: f"mart.selected_{name}(archive => {asked}, client => '{client}'{more})"
                    for name in ("days", "sizes", "request_days", "hits", "opens", "users")
                }
                calls["users"] = (
                    "(SELECT interface, direction, user_ids, request_counts, size_bytes AS part_bytes"
                    f" FROM {calls['users']}) AS users"
                )
                for name, query in ANSWERS.items():
                    rows = connection.execute(query.format(**calls).encode()).fetchall()
                    found[name, client, template] = sorted(map(repr, rows))
    return found


def scan_facts(warehouse: Warehouse, function: str, archive: str, client: str = "j") -> int:
    """Return how many partitions of facts a question reads."""

    def count(node: dict[str, Any]) -> int:
        name = node.get("Relation Name", "")
        is_read = name.startswith(("transfers", "requests")) and node["Actual Loops"] > 0
        return is_read + sum(count(child) for child in node.get("Plans", ()))

    with closing(warehouse.connect(Role.OWNER)) as connection:
        row = connection.execute(
            "EXPLAIN (ANALYZE, FORMAT JSON)"
            f" SELECT * FROM mart.{function}(archive => {archive}, client => '{client}')".encode()
        ).fetchone()
    assert row is not None
    return count(row[0][0]["Plan"])


@pytest.fixture
def read(warehouse: Warehouse) -> Callable[..., None]:
    def read(path: Path, format_name: str, archive: str = "llnl") -> None:
        request = SourceRequest(
            archive,
            "synthetic",
            find_format(format_name),
            "UTC",
            format_name,
            is_counted=format_name != "stat",
            # The days of the archive are neither those of the lines nor those of UTC.
            archive_timezone="Asia/Kathmandu",
        )
        load_file(warehouse, register(warehouse, request), path, now=NOW)

    return read


def read_cells(warehouse: Warehouse) -> dict[str, Any]:
    facts = read_facts(warehouse)
    return {table: facts[table] for table in ROLLUPS}


def count_routes(warehouse: Warehouse) -> int:
    with closing(warehouse.connect(Role.OWNER)) as connection:
        row = connection.execute(ROUTES).fetchone()
    assert row is not None
    return int(row[0])


@pytest.mark.study("ingest", "schema")
@pytest.mark.parametrize("seed", range(4))
def test_cells_of_clients_are_a_recount_and_answer_as_the_facts_do(
    warehouse: Warehouse, read: Callable[..., None], tmp_path: Path, seed: int
) -> None:
    """Whenever the setting is switched on, and in whatever order lines that report one request are read."""
    files = make_world(seed, tmp_path)
    dice = random.Random(seed)
    dice.shuffle(files)
    begin = [1, 4, len(files) - 2, len(files)][seed]
    for number, (path, format_name) in enumerate(files, 1):
        read(path, format_name)
        if number == begin:
            count_clients(warehouse, "llnl", rows_at_once=dice.randrange(1, 40))
        check_warehouse(warehouse)
    counted, answers = read_cells(warehouse), ask(warehouse)
    assert count_routes(warehouse) > 2
    # Switching it off leaves what was never on.
    drop_client_counts(warehouse, "llnl")
    check_warehouse(warehouse)
    assert count_routes(warehouse) == 0
    from_facts = ask(warehouse)
    assert answers == from_facts
    # No line of these logs has an open time.
    assert {name for (name, _, _), rows in answers.items() if rows} == ANSWERS.keys() - {"opens"}
    count_clients(warehouse, "llnl")
    assert read_cells(warehouse) == counted

    replace_source(warehouse, "llnl", "nft", log_format=None, timezone="Asia/Tokyo", now=NOW)
    check_warehouse(warehouse)
    replace_source(warehouse, "llnl", "nft", log_format=None, timezone="UTC", now=NOW)
    check_warehouse(warehouse)
    assert read_cells(warehouse) == counted
    forget_detail(warehouse, "llnl", (FIRST_DAY + timedelta(days=2)).date(), NOW)
    check_warehouse(warehouse)
    # What is forgotten stays counted. (Hits may turn on days of which only cells are left.)
    forgotten = ask(warehouse)
    for key, rows in answers.items():
        if key[0] in ("days", "hours", "rates", "ten minutes", "sizes", "times"):
            assert forgotten[key] == rows
    for name in ("stat", "cond", "pftp", "nft"):
        if any(format_name == name for _, format_name in files):
            drop_source(warehouse, "llnl", name)
            check_warehouse(warehouse)
    assert count_routes(warehouse) == 0


@pytest.mark.study("ingest", "schema")
@pytest.mark.parametrize("begin", [1, 3])
def test_open_times_of_clients_are_a_recount_and_answer_as_the_facts_do(
    warehouse: Warehouse, tmp_path: Path, begin: int
) -> None:
    """Of two clients and none, whether the setting is switched on before the last files or after them."""
    lines = [
        (at, line.replace(" n ", " m ", 1) if number % 2 == 0 else line)
        for number, (at, line) in enumerate(request_logs.make_log("site", 1, is_late=True))
    ]
    for number, part in enumerate((2, 0, 1), 1):
        request_logs.read_log(warehouse, tmp_path, "site", lines[part::3], f"part{part}")
        if number == begin:
            assert count_clients(warehouse, "made", rows_at_once=30).client_count == 2
        check_warehouse(warehouse)
    answers = ask(warehouse, "made", request_logs.FIRST_DAY)
    assert len(answers["opens", "m", ""]) > 10
    assert answers["opens", "m", ""] != answers["opens", "n", ""]
    drop_client_counts(warehouse, "made")
    assert ask(warehouse, "made", request_logs.FIRST_DAY) == answers


@pytest.mark.parametrize("seed", with_seeds(1, 3, "schema", "ingest"))
def test_clients_follow_lines_that_move_to_the_second_pass_of_an_hour(
    warehouse: Warehouse, tmp_path: Path, seed: int
) -> None:
    dice = random.Random(seed)
    lines = [line.replace(" ks ", dice.choice([" ks ", " js "])) for line in in_order(seed)]
    # On Gambier, the day ended between the two passes.
    zone = ["Pacific/Gambier", US, "UTC"][seed]
    request = SourceRequest("llnl", "synthetic", find_format("nft"), US, "nft", archive_timezone=zone)
    source = register(warehouse, request)
    count_clients(warehouse, "llnl")
    for number, part in enumerate((lines[60:90], lines)):
        log = tmp_path / f"log.{number}"
        log.write_text("".join(part))
        load_file(warehouse, source, log, now=NOW)
        check_warehouse(warehouse)
    assert count_routes(warehouse) == 2
    counted, answers = read_cells(warehouse), ask(warehouse)
    drop_client_counts(warehouse, "llnl")
    assert ask(warehouse) == answers
    count_clients(warehouse, "llnl")
    assert read_cells(warehouse) == counted
    drop_client_counts(warehouse, "llnl")


def test_an_archive_that_counts_clients_and_one_that_does_not(
    warehouse: Warehouse, read: Callable[..., None], tmp_path: Path
) -> None:
    for path, format_name in make_world(5, tmp_path):
        for archive in ("llnl", "sdsc"):
            read(path, format_name, archive)
    before = ask(warehouse, archive=None)
    count_clients(warehouse, "llnl")
    check_warehouse(warehouse)
    assert ask(warehouse, archive=None) == before
    for function in ("days", "sizes", "request_days", "hits", "opens", "users"):
        name = f"selected_{function}"
        assert scan_facts(warehouse, name, "'llnl'") == 0
        assert scan_facts(warehouse, name, "'sdsc'") > 0
        assert scan_facts(warehouse, name, "NULL") > 0
        count_clients(warehouse, "sdsc")
        assert scan_facts(warehouse, name, "NULL") == 0
        drop_client_counts(warehouse, "sdsc")
    count_clients(warehouse, "sdsc")
    assert ask(warehouse, archive=None) == before
    with closing(warehouse.connect(Role.OWNER)) as connection:
        drop_archive(connection, "llnl")
    check_warehouse(warehouse)
    assert count_routes(warehouse) > 0


def test_days_forgotten_before_are_unknown_and_names_stay(
    warehouse: Warehouse, read: Callable[..., None], tmp_path: Path
) -> None:
    profiles = """
        SELECT sum(transfer_count)::int, sum(hour_count)::int
        FROM mart.hour_profiles(client => %s)
    """
    state = "SELECT has_client_cells, client_cells_since FROM mart.archives"
    for number, (day, client) in enumerate(
        [("97/12/31", "j"), ("98/01/02", "j"), ("98/01/05", "k"), ("98/01/08", "j"), ("98/01/09", "k")]
    ):
        log = tmp_path / f"nft.{number}"
        log.write_text(f"000001 {day} 12:00:00 {client}s {10**number} 1.0\n")
        read(log, "nft")
    with closing(warehouse.connect(Role.OWNER, autocommit=True)) as connection:

        def ask_days(client: str) -> list[Any]:
            return connection.execute(
                "SELECT starts_on, transfer_count FROM mart.selected_days(client => %s) ORDER BY 1", [client]
            ).fetchall()

        forget_detail(warehouse, "llnl", date(1998, 1, 2), NOW)
        assert connection.execute(state).fetchone() == (False, None)
        counts = count_clients(warehouse, "llnl")
        assert (counts.is_changed, counts.client_count, counts.since) == (True, 2, date(1998, 1, 2))
        assert not count_clients(warehouse, "llnl").is_changed
        assert connection.execute(state).fetchone() == (True, date(1998, 1, 2))
        kept = [(date(1998, 1, 2), 1), (date(1998, 1, 8), 1)]
        assert ask_days("j") == kept
        in_service = connection.execute(profiles, ["j"]).fetchone()
        forget_detail(warehouse, "llnl", date(1998, 1, 9), NOW)
        check_warehouse(warehouse)
        # The client has no facts any more, but it is still known who it is.
        assert ask_days("j") == kept
        assert connection.execute(profiles, ["j"]).fetchone() == in_service
        dropped = drop_client_counts(warehouse, "llnl")
        assert (dropped.is_changed, dropped.client_count) == (True, 2)
        assert not drop_client_counts(warehouse, "llnl").is_changed
        assert ask_days("j") == []
        assert connection.execute(state).fetchone() == (False, None)
        assert connection.execute("SELECT name FROM core.hosts").fetchall() == [("k",)]
        check_warehouse(warehouse)


def test_the_command_deletes_counts_only_if_it_is_asked_to(
    read: Callable[..., None], warehouse: Warehouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither option is not --off, and counts of forgotten days are deleted only after a question."""

    @contextmanager
    def open_it(settings: object) -> Iterator[Warehouse]:
        yield warehouse

    monkeypatch.setattr("tapewise.ingest.commands.explain.open_ready_warehouse", open_it)

    def run(*options: str, answer: str = "") -> tuple[int, str]:
        result = CliRunner().invoke(clients, ["llnl", *options], input=answer)
        return result.exit_code, result.output

    for number, day in enumerate(("98/01/02", "98/01/08")):
        (tmp_path / f"nft.{number}").write_text(f"000001 {day} 12:00:00 js 7 1.0\n")
        read(tmp_path / f"nft.{number}", "nft")
    assert run("--off") == (0, "Archive 'llnl' already counts no single clients.\n")
    assert run("--on") == (0, "Archive 'llnl' now counts each client separately: 1 client so far.\n")
    assert run("--on") == (0, "Archive 'llnl' already counts each client separately: 1 client so far.\n")
    listed = CliRunner().invoke(list_command).output
    assert listed.startswith("llnl (") and listed.endswith("; counts single clients\n")
    for options in ((), ("--on", "--off")):
        status, said = run(*options)
        assert status == 2
        assert "Give one of --on and --off." in said
    # What is forgotten before --on is never counted, so nothing is lost.
    assert run("--off")[0] == 0
    forget_detail(warehouse, "llnl", date(1998, 1, 1), NOW)
    assert run("--on")[0] == 0
    assert run("--off")[0] == 0
    assert run("--on")[0] == 0
    forget_detail(warehouse, "llnl", date(1998, 1, 5), NOW)
    status, said = run("--off", answer="n\n")
    assert status == 1
    assert "on days before 1998-01-05" in said
    assert count_routes(warehouse) > 0
    status, said = run("--off", "--yes")
    assert (status, count_routes(warehouse)) == (0, 0)
    assert said.endswith("The cells of 1 client are deleted.\n")
    assert "single clients" not in CliRunner().invoke(list_command).output
