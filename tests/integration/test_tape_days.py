"""The warehouse gives back the truth about made-up days of CTA and SAM-QFS, exactly.

The generator counts what happened in its own simulation, not what its lines contain. Each form of CTA's log
must give the same facts, in whatever order its files are loaded.
"""

import json
import random
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime, timedelta
from math import ceil
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from psycopg.rows import dict_row

from tapewise.examples.cta_lines import FORMS
from tapewise.examples.cta_truth import QUANTILES
from tapewise.examples.tape_days import write_days
from tapewise.ingest.formats.registry import find_format
from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.loading.loads import load_file
from tapewise.ingest.sources.sources import SourceRequest
from tapewise.ingest.upkeep.kept_answers import find_stale_calls
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.tables.mart_answers import name_computed
from tests.conftest import NOW, Site, register
from tests.integration.drive_recount import (
    HOUR_US,
    count_busy,
    count_days,
    count_remounts,
    find_day,
    list_rates,
    list_stays,
    list_waits,
    share_stays,
)
from tests.integration.evidence import check_warehouse
from tests.integration.recall_recount import (
    describe,
    first_in_drive,
    follow_recalls,
    last_in_drive,
    last_time,
    list_recalls,
)
from tests.integration.test_kept_answers import KEPT, ask, refresh

pytestmark = pytest.mark.study("examples", "ingest", "sql")

Row = dict[str, Any]

ZONE = "Europe/Zurich"
SEED = 7
DAY_COUNT = 3
FORMATS = {
    "json": "cta",
    "json-pushed": "cta",
    "json-strings": "cta",
    "text": "cta-text",
    "syslog": "cta-syslog",
}
# What the generator names a meaning, and what the warehouse names the reason.
REASONS = {
    "another message": "another message",
    "totals again": "totals of a session without a status, or of one that reads and writes no files",
    "only verified": "a file that is only verified",
    "no data": "a directory, a link, a removable-media file or an index",
    "given up": "a copy that was given up",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("days")
    write_days(SEED, DAY_COUNT, made)
    return made


@pytest.fixture(scope="module")
def truth(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "truth.json").read_bytes())


def test_the_command_gives_the_same_lines_for_the_same_seed(folder: Path, tmp_path: Path):
    command = [sys.executable, "-m", "tapewise.examples.tape_days", "--seed", str(SEED)]
    subprocess.run([*command, "--days", str(DAY_COUNT), "--into", tmp_path], check=True)
    made = {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    again = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert len(made) == 4 * len(FORMS) + 3
    assert again == made


def read(warehouse: Warehouse, path: Path, format_name: str, source: str) -> FileResult:
    request = SourceRequest("made", "synthetic", find_format(format_name), ZONE, source, True)
    return load_file(warehouse, register(warehouse, request), path, now=NOW)


def fetch(warehouse: Warehouse, query: str) -> list[Row]:
    with (
        closing(warehouse.connect(Role.OWNER)) as connection,
        connection.cursor(row_factory=dict_row) as cursor,
    ):
        return cursor.execute(query.encode()).fetchall()


def us(column: str) -> str:
    """A time as microseconds since 1970, without any rounding."""
    return f"(extract(EPOCH FROM {column}) * 1000000)::bigint AS {column.rpartition('.')[2]}"


def step_us(column: str, name: str) -> str:
    """Seconds that a log reports with six digits, as microseconds."""
    return f"round({column} * 1000000)::bigint AS {name}"


def in_order(rows: list[Row]) -> list[tuple[Any, ...]]:
    """Rows as sorted tuples of their names and values, so that lists can be compared in any order."""
    return sorted((tuple(sorted(row.items())) for row in rows), key=str)


STEPS = (
    "mount_requested_at",
    "mounted_at",
    "positioned_at",
    "transferred_at",
    "dismount_requested_at",
    "dismounted_at",
)
LOCAL_DAY = f"(first_event_at AT TIME ZONE '{ZONE}')::date - DATE '1970-01-01' AS day"
MOUNTS = f"""
    SELECT vsn, drive, tape_type, requester, {LOCAL_DAY}, {", ".join(us(step) for step in STEPS)},
        -- The truth knows that a mount had no file. The warehouse does not, if no event reports one.
        coalesce(transfer_count, 0) AS transfer_count, coalesce(failed_count, 0) AS failed_count,
        coalesce(repacker_count, 0) AS repacker_count, size_bytes, {step_us("transfer_s", "transfer_us")}
    FROM mart.mounts
"""
OPERATIONS = f"""
    SELECT task, operations.requester, class_of_service, operations.vsn, operations.drive, block_offset,
        operations.size_bytes, is_failed, {us("operations.received_at")}, {us("operations.positioned_at")},
        {us("operations.transferred_at")}, {us("mounts.mount_requested_at")}
    FROM mart.tape_operations AS operations LEFT JOIN mart.mounts AS mounts USING (mount_id)
"""
SUMMARIES = f"""
    SELECT mount_key, task, requester, vsn, tape_type, drive, location, class_of_service, is_mounted,
        is_failed, file_count, size_bytes,
        {
    ", ".join(
        step_us(f"{name}_s", f"{name}_us")
        for name in ("duration", "mount", "position", "transfer", "flush", "wait", "unload", "dismount")
    )
}
    FROM mart.mount_summaries
"""
STAGES = f"""
    SELECT {us("staged_at")}, vsn, drive, class_of_service, size_bytes,
        {step_us("duration_s", "duration_us")}, is_failed
    FROM mart.stages
"""
MIGRATIONS = f"""
    SELECT {us("migrated_at")}, vsn, drive, class_of_service, size_bytes,
        {step_us("duration_s", "duration_us")}
    FROM mart.migrations
"""
QUERIES = {
    "mounts": MOUNTS,
    "tape_operations": OPERATIONS,
    "mount_summaries": SUMMARIES,
    "stages": STAGES,
    "migrations": MIGRATIONS,
}


def check_facts(warehouse: Warehouse, truth: dict[str, Any]) -> None:
    for name, query in QUERIES.items():
        found, true = in_order(fetch(warehouse, query)), in_order(truth[name])
        assert len(found) == len(true), name
        differences = [pair for pair in zip(found, true, strict=True) if pair[0] != pair[1]]
        assert not differences, (name, len(differences), differences[0])


def list_files(folder: Path, form: str) -> list[Path]:
    return sorted((folder / f"cta-{form}").iterdir())


@pytest.mark.study("ingest", "examples")
@pytest.mark.parametrize("form", FORMS)
def test_each_form_of_the_log_gives_the_truth_in_any_order_of_files(
    warehouse: Warehouse, folder: Path, truth: dict[str, Any], form: str
):
    files = list_files(folder, form)
    random.Random(form).shuffle(files)
    for path in files:
        tally = read(warehouse, path, FORMATS[form], "cta").tally
        counts = Counter(truth["cta"]["lines"][path.name.split(".")[0]])
        assert tally.line_count == counts.pop("lines")
        assert not tally.rejected
        assert tally.ignored == {REASONS[name]: counts.pop(name) for name in [*counts] if name in REASONS}
        assert tally.loaded == counts
    check_facts(warehouse, truth["cta"])
    check_warehouse(warehouse)


@pytest.mark.study("ingest", "examples")
def test_it_makes_no_difference_how_the_log_is_cut_into_files_of_several_forms(
    warehouse: Warehouse, folder: Path, truth: dict[str, Any], tmp_path: Path
):
    draw = random.Random(3)
    pieces = []
    for path in list_files(folder, "json"):
        written = {form: (folder / f"cta-{form}" / path.name).read_text().split("\n")[:-1] for form in FORMS}
        count = len(written["json"])
        cuts = [0, *sorted(draw.sample(range(1, count), 7)), count]
        for number in range(len(cuts) - 1):
            form = draw.choice(("json", "json-pushed", "json-strings"))
            piece = tmp_path / f"{path.name.removesuffix('.log')}.{number}.log"
            lines = written[form][cuts[number] : cuts[number + 1]]
            piece.write_text("".join(f"{line}\n" for line in lines))
            # Files of one host are one source, so that lines are compared with those of its other files.
            pieces.append((piece, form, path.name.split(".")[0]))
    draw.shuffle(pieces)
    for piece, form, source in pieces:
        read(warehouse, piece, FORMATS[form], source)
    check_facts(warehouse, truth["cta"])
    check_warehouse(warehouse)


def load_without(warehouse: Warehouse, folder: Path, lost: str, into: Path) -> None:
    """Load the days as JSON, without the lines that contain this text."""
    for path in list_files(folder, "json"):
        kept = [line for line in path.read_text().splitlines(keepends=True) if lost not in line]
        (into / path.name).write_text("".join(kept))
        read(warehouse, into / path.name, "cta", "cta")


def test_stays_are_distinguished_without_the_requests_to_mount(
    warehouse: Warehouse, folder: Path, truth: dict[str, Any], tmp_path: Path
):
    load_without(warehouse, folder, "Selected next mount", tmp_path)
    expected = [
        row
        | {"mount_requested_at": None, "tape_type": None}
        | {"day": (row["mounted_at"] + 7200 * 10**6) // (86_400 * 10**6)}
        for row in truth["cta"]["mounts"]
        if row["mounted_at"] is not None
    ]
    operations = [row | {"mount_requested_at": None} for row in truth["cta"]["tape_operations"]]
    check_facts(warehouse, truth["cta"] | {"mounts": expected, "tape_operations": operations})


def test_stays_are_distinguished_without_the_lines_that_a_cartridge_is_mounted(
    warehouse: Warehouse, folder: Path, truth: dict[str, Any], tmp_path: Path
):
    load_without(warehouse, folder, "Tape mounted for", tmp_path)
    expected = []
    for row in truth["cta"]["mounts"]:
        is_seen = any(row[step] is not None for step in STEPS[2:])
        expected.append(row | {"mounted_at": None, "drive": row["drive"] if is_seen else None})
    check_facts(warehouse, truth["cta"] | {"mounts": expected})


@pytest.fixture(scope="module")
def loaded(site: Site, folder: Path) -> Iterator[Warehouse]:
    """A warehouse with the days as JSON; tests only read it."""
    with site.clone() as warehouse:
        for path in list_files(folder, "json"):
            read(warehouse, path, "cta", "cta")
        for name in ("archiver", "stager"):
            request = SourceRequest("sam", "synthetic", find_format("samqfs"), ZONE, name, True)
            load_file(warehouse, register(warehouse, request), folder / "samqfs" / f"{name}.log", now=NOW)
        yield warehouse


def test_mounts_are_counted_by_drive_and_day(loaded: Warehouse, truth: dict[str, Any]):
    rows = fetch(
        loaded, f"SELECT drive, day, count(*) FROM (SELECT drive, {LOCAL_DAY} FROM mart.mounts) GROUP BY 1, 2"
    )
    assert sorted(([*row.values()] for row in rows), key=str) == sorted(truth["cta"]["mount_counts"], key=str)


def test_drive_hours_are_divided_by_day_and_task(loaded: Warehouse, truth: dict[str, Any]):
    rows = fetch(
        loaded,
        f"""
        WITH tasks AS (
            SELECT mount_id, min(task) AS task FROM mart.tape_operations GROUP BY mount_id
        ),
        stays AS (
            SELECT mounts.*, coalesce(tasks.task, 'none') AS task
            FROM mart.mounts LEFT JOIN tasks USING (mount_id)
        )
        SELECT drive, day::date - DATE '1970-01-01' AS day, task, sum(extract(EPOCH FROM
            least(dismounted_at, (day + INTERVAL '1 day') AT TIME ZONE '{ZONE}')
            - greatest(mounted_at, day AT TIME ZONE '{ZONE}')) * 1000000)::bigint AS us
        FROM stays
        CROSS JOIN generate_series(
            date_trunc('day', mounted_at AT TIME ZONE '{ZONE}'), dismounted_at AT TIME ZONE '{ZONE}', '1 day'
        ) AS day
        GROUP BY 1, 2, 3
        """,
    )
    assert sorted([*row.values()] for row in rows) == truth["cta"]["drive_us"]
    # A mount extends over a midnight.
    assert any(
        row["mounted_at"]
        and row["dismounted_at"]
        and (row["mounted_at"] + 72 * 10**8) // 864 * 10**8
        != (row["dismounted_at"] + 72 * 10**8) // 864 * 10**8
        for row in truth["cta"]["mounts"]
    )


def test_drives_are_used_as_plain_python_counts(loaded: Warehouse, truth: dict[str, Any]):
    stays = list_stays(truth["cta"]["mounts"], truth["cta"]["tape_operations"])
    days = count_days(stays, ZoneInfo(ZONE))
    found = {
        (row["drive"], str(row["starts_on"])): row
        for row in fetch(loaded, "SELECT * FROM mart.drive_hours('made', period => 'day')")
    }
    assert {key for key, row in found.items() if row["occupied_s"] or row["mount_count"]} == {*days}
    for key, counted in days.items():
        assert found[key]["mount_count"] == counted["begun"]
        assert found[key]["occupied_s"] == pytest.approx(counted["occupied_us"] / 1e6, abs=1e-5)
        assert found[key]["lazy_wait_s"] == pytest.approx(counted["lazy_us"] / 1e6, abs=1e-5)
    usage = fetch(
        loaded, "SELECT sum(mount_count) AS mounts, sum(occupied_s) AS s FROM mart.drive_usage('made')"
    )
    assert usage[0]["mounts"] == len(stays)
    assert usage[0]["s"] == pytest.approx(sum(row["until"] - row["from"] for row in stays) / 1e6)

    (ends,) = fetch(
        loaded,
        f"SELECT {us('first_event_at')}, {us('last_event_at')} FROM mart.tape_coverage"
        " WHERE archive = 'made'",
    )
    busy = count_busy(stays, ends["first_event_at"], ends["last_event_at"])
    assert len(busy) > 3
    assert {
        row["busy_count"]: row["span_s"]
        for row in fetch(loaded, "SELECT busy_count, span_s FROM mart.drives_busy('made')")
    } == {count: pytest.approx(us / 1e6, abs=1e-5) for count, us in busy.items()}

    (remounts,) = fetch(
        loaded,
        """
        SELECT sum(mount_count)::integer AS mounts, sum(followed_count)::integer AS followed,
            sum(remount_1h_count)::integer AS within_1h, sum(remount_24h_count)::integer AS within_24h,
            sum(file_count)::integer AS files, sum(size_bytes)::bigint AS size_bytes
        FROM mart.mount_days('made')
        """,
    )
    followed, within_1h, within_24h = count_remounts(stays, ends["last_event_at"])
    assert 0 < within_1h < within_24h < followed
    assert remounts == {
        "mounts": len(stays),
        "followed": followed,
        "within_1h": within_1h,
        "within_24h": within_24h,
        "files": sum(row["transfer_count"] for row in stays),
        "size_bytes": sum(row["size_bytes"] or 0 for row in stays),
    }

    failures = fetch(loaded, "SELECT * FROM mart.mount_failures('made', grouped_by => 'drive')")
    counted = defaultdict(lambda: [0, 0])
    for row in stays:
        counted[row["drive"]][0] += row["failed_count"]
        counted[row["drive"]][1] += row["transfer_count"]
    assert {row["drive"]: [row["failed_count"], row["file_count"]] for row in failures} == counted
    assert sum(row["failed_count"] for row in failures) > 0


def test_needs_of_drives_follow_what_plain_python_counts(loaded: Warehouse, truth: dict[str, Any]):
    zone = ZoneInfo(ZONE)
    stays = list_stays(truth["cta"]["mounts"], truth["cta"]["tape_operations"])
    (ends,) = fetch(
        loaded,
        f"SELECT {us('first_event_at')}, {us('last_event_at')} FROM mart.tape_coverage"
        " WHERE archive = 'made'",
    )
    first, last = (date.fromisoformat(find_day(moment, zone)) for moment in ends.values())
    whole = [str(first + timedelta(days=number)) for number in range(1, (last - first).days)]
    occupied_s: Counter[str] = Counter()
    for (_, day), counted in count_days(stays, zone).items():
        occupied_s[day] += counted["occupied_us"] / 1e6
    by_hour: Counter[int] = Counter()
    for row in stays:
        begin = row["from"]
        while begin < row["until"]:
            end = min(row["until"], (begin // HOUR_US + 1) * HOUR_US)
            by_hour[begin // HOUR_US] += end - begin
            begin = end
    begun = [row for row in stays if find_day(row["from"], zone) in whole]
    per_day_h = sum(occupied_s[day] for day in whole) / len(whole) / 3600
    assert len(whole) > 1
    assert per_day_h > 0

    (needed,) = fetch(
        loaded, "SELECT * FROM mart.drives_needed('made', growth_ratio => 50, busy_ratio => 0.6)"
    )
    assert (str(needed["first_on"]), str(needed["last_on"])) == (whole[0], whole[-1])
    assert (needed["day_count"], needed["mount_count"]) == (len(whole), len(begun))
    assert needed["size_bytes"] == sum(row["size_bytes"] or 0 for row in begun)
    assert needed["drive_hours_per_day"] == pytest.approx(per_day_h)
    busiest = max(at for hour, at in by_hour.items() if find_day(hour * HOUR_US, zone) in whole) / HOUR_US
    assert needed["busiest_hour_drive_count"] == pytest.approx(busiest)
    assert needed["needed_count"] == ceil(per_day_h * 50 / 0.6 / 24)
    assert needed["busiest_hour_needed_count"] == ceil(busiest * 50)


def test_small_files_pay_what_plain_python_shares(loaded: Warehouse, truth: dict[str, Any]):
    operations = truth["cta"]["tape_operations"]
    expected = share_stays(list_stays(truth["cta"]["mounts"], operations), operations)
    found = fetch(loaded, "SELECT * FROM mart.small_file_tax('made', native_rate_bytes_per_s => 400e6)")
    rows = {
        (row["task"], None if row["size_to_bytes"] is None else len(str(row["size_to_bytes"])) - 1): row
        for row in found
    }
    assert len(rows) == len(found) > 8
    assert {*rows} == {*expected}
    for key, (files, size_bytes, us, reading_us) in expected.items():
        row = rows[key]
        assert (row["file_count"], row["size_bytes"] or 0) == (files, size_bytes), key
        assert row["occupied_s"] == pytest.approx(us / 1e6, abs=1e-4), key
        assert row["transferring_s"] == pytest.approx(reading_us / 1e6, abs=1e-4), key
        assert row["tax_s"] == pytest.approx(us / 1e6 - size_bytes / 400e6, abs=1e-4), key


def test_rates_of_tapes_are_those_of_plain_python(loaded: Warehouse, truth: dict[str, Any]):
    expected = list_rates(truth["cta"]["tape_operations"])
    found = fetch(loaded, "SELECT * FROM mart.tape_rates('made', grouped_by => '{task,size}')")
    rows = {(row["task"], len(str(row["size_to_bytes"])) - 1): row for row in found}
    assert {key: row["file_count"] for key, row in rows.items()} == {
        key: len(rates) for key, rates in expected.items()
    }
    for key, rates in expected.items():
        if rates:
            row = rows[key]
            assert row["min_rate_bytes_per_s"] == pytest.approx(rates[0])
            assert row["p50_rate_bytes_per_s"] == pytest.approx(rates[ceil(len(rates) / 2) - 1])
            assert row["max_rate_bytes_per_s"] == pytest.approx(rates[-1])
            assert row["mean_rate_bytes_per_s"] == pytest.approx(sum(rates) / len(rates))


def test_clients_wait_while_the_repacker_holds_drives(loaded: Warehouse, truth: dict[str, Any]):
    operations = truth["cta"]["tape_operations"]
    waits = list_waits(list_stays(truth["cta"]["mounts"], operations), operations)
    rows = fetch(loaded, "SELECT * FROM mart.repack_waits('made') WHERE tape_type IS NOT NULL")
    assert {row["is_repacking"]: row["request_count"] - row["unfinished_count"] for row in rows} == {
        is_repacking: len(found) for is_repacking, found in waits.items() if found
    }
    for row in rows:
        found = waits[row["is_repacking"]]
        assert row["mean_s"] == pytest.approx(sum(found) / len(found) / 1e6)
        assert row["p50_s"] == pytest.approx(found[(len(found) - 1) // 2] / 1e6)
        assert row["longest_s"] == pytest.approx(found[-1] / 1e6)


@pytest.mark.parametrize(
    ("name", "view", "step"),
    [
        ("mounted_to_positioned", "mounts", "position"),
        ("positioned_to_read", "tape_operations", "transfer"),
        ("read_to_unload", "mounts", "lazy_wait"),
        ("unload_to_unmount", "mounts", "dismount"),
    ],
)
def test_steps_of_mounts(loaded: Warehouse, truth: dict[str, Any], name: str, view: str, step: str):
    (row,) = fetch(
        loaded, f"SELECT * FROM mart.mount_steps('made') WHERE view_name = '{view}' AND step = '{step}'"
    )
    waits = truth["cta"]["waits"][name]
    _, p50_us, p95_us = waits["quantiles_us"]
    assert row["step_count"] == waits["count"]
    assert row["mean_s"] == pytest.approx(waits["sum_us"] / waits["count"] / 1e6)
    assert [row["p50_s"], row["p95_s"]] == [pytest.approx(p50_us / 1e6), pytest.approx(p95_us / 1e6)]


@pytest.mark.parametrize(
    ("name", "view", "begin", "end"),
    [
        ("requested_to_mounted", "mounts", "mount_requested_at", "mounted_at"),
        ("mounted_to_positioned", "mounts", "mounted_at", "positioned_at"),
        ("positioned_to_read", "tape_operations", "positioned_at", "transferred_at"),
        ("read_to_unload", "mounts", "transferred_at", "dismount_requested_at"),
        ("unload_to_unmount", "mounts", "dismount_requested_at", "dismounted_at"),
    ],
)
def test_waits(loaded: Warehouse, truth: dict[str, Any], name: str, view: str, begin: str, end: str):
    (row,) = fetch(
        loaded,
        f"""
        SELECT count(us), sum(us)::bigint AS sum_us,
            percentile_disc(ARRAY[{", ".join(map(str, QUANTILES))}]) WITHIN GROUP (ORDER BY us)
                AS quantiles_us
        FROM (SELECT (extract(EPOCH FROM {end} - {begin}) * 1000000)::bigint AS us FROM mart.{view})
        """,
    )
    assert row == truth["cta"]["waits"][name]
    assert row["count"] > 50


@pytest.mark.parametrize("retry_s", [86_400, 600])
def test_failures_of_stages_by_cartridge_and_drive(
    loaded: Warehouse, folder: Path, truth: dict[str, Any], retry_s: int
):
    operations = [row for row in truth["cta"]["tape_operations"] if row["task"] == "stage"]
    # A file and its requester, as the truth has them.
    files: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for each in sorted(operations, key=last_time):
        files[each["vsn"], each["block_offset"], each["requester"]].append(each)
    lines = (line for path in list_files(folder, "json") for line in path.read_text().splitlines())
    last_us = max(round(float(json.loads(line)["epoch_time"]) * 1e6) for line in lines)
    counts: dict[tuple[str, str | None], Counter[str]] = defaultdict(Counter)
    for attempts in files.values():
        for number, each in enumerate(attempts):
            count = counts[each["vsn"], each["drive"]]
            count["attempt"] += 1
            if not each["is_failed"]:
                continue
            count["failed"] += 1
            later = [
                other["is_failed"] is False
                for other in attempts[number + 1 :]
                if last_time(other) - last_time(each) <= retry_s * 10**6
            ]
            is_followed = last_us - last_time(each) >= retry_s * 10**6
            if later or is_followed:
                count["retried" if later else "not_retried"] += 1
            if any(later) or is_followed:
                count["made_good" if any(later) else "not_made_good"] += 1
    names = ("attempt", "failed", "retried", "not_retried", "made_good", "not_made_good")
    rows = fetch(
        loaded,
        f"""
        SELECT vsn, drive, {", ".join(f"coalesce({name}_count, 0) AS {name}" for name in names)}
        FROM mart.failures('made', direction => 'get', grouped_by => '{{volume,drive}}', retry_s => {retry_s})
        WHERE counted_per = 'tape operation'
        """,
    )
    assert {(row.pop("vsn"), row.pop("drive")): Counter(row) for row in rows} == {
        group: Counter({name: count[name] for name in names}) for group, count in counts.items()
    }
    assert sum(count["made_good"] for count in counts.values()) > 5


def test_the_views_steps_are_those_waits(loaded: Warehouse, truth: dict[str, Any]):
    (row,) = fetch(
        loaded,
        """
        SELECT round(sum(position_s) * 1000000)::bigint AS mounted_to_positioned,
            round(sum(lazy_wait_s) * 1000000)::bigint AS read_to_unload,
            round(sum(dismount_s) * 1000000)::bigint AS unload_to_unmount
        FROM mart.mounts
        """,
    )
    assert row == {name: truth["cta"]["waits"][name]["sum_us"] for name in row}


def test_recalls_of_each_user(loaded: Warehouse, truth: dict[str, Any]):
    rows = fetch(
        loaded,
        """
        SELECT users.name, operations.is_failed, operations.size_bytes,
            (extract(EPOCH FROM operations.transferred_at - operations.received_at) * 1000000)::bigint AS us
        FROM mart.tape_operations AS operations
        JOIN core.tape_events AS events ON events.kind = 'received'
            AND events.capability_key = operations.capability_key
            AND events.happened_at = operations.received_at
        JOIN core.users AS users ON users.id = events.user_id
        """,
    )
    found = {}
    for name in {row["name"] for row in rows}:
        own = [row for row in rows if row["name"] == name]
        spans = sorted(row["us"] for row in own if row["us"] is not None)
        found[name] = {
            "count": len(spans),
            "sum_us": sum(spans),
            "quantiles_us": [spans[ceil(p * len(spans)) - 1] for p in QUANTILES],
            "asked": len(own),
            "failed": sum(row["is_failed"] is True for row in own),
            "read_bytes": sum(row["size_bytes"] for row in own if row["is_failed"] is False),
        }
    assert found == truth["cta"]["recalls"]


def test_sessions_are_totalled_once_each(loaded: Warehouse, truth: dict[str, Any]):
    names = list(next(iter(truth["cta"]["sessions"]["by_drive"].values())))
    sums = ", ".join(f"coalesce(sum({name}), 0)::bigint AS {name}" for name in names)
    rows = fetch(loaded, f"SELECT drive, {sums} FROM ({SUMMARIES}) GROUP BY drive")
    assert {row.pop("drive"): row for row in rows} == truth["cta"]["sessions"]["by_drive"]
    (counts,) = fetch(
        loaded,
        """
        SELECT count(*) FILTER (WHERE is_mounted IS NULL) AS killed,
            count(*) FILTER (WHERE NOT is_mounted) AS mountless, count(*) FILTER (WHERE is_failed) AS failed
        FROM mart.mount_summaries
        """,
    )
    assert {"by_drive": truth["cta"]["sessions"]["by_drive"]} | counts == truth["cta"]["sessions"]
    assert min(counts.values()) > 5


def test_samqfs(warehouse: Warehouse, folder: Path, truth: dict[str, Any]):
    for name in ("stager", "archiver"):
        path = folder / "samqfs" / f"{name}.log"
        tally = read(warehouse, path, "samqfs", name).tally
        counts = Counter(truth["samqfs"]["lines"][path.name])
        assert tally.line_count == counts.total() == path.read_bytes().count(b"\n")
        ignored: Counter[str] = Counter()
        for meaning in [*counts]:
            if meaning in REASONS:
                ignored[REASONS[meaning]] += counts.pop(meaning)
        assert (tally.loaded, tally.ignored, tally.rejected.total()) == (counts, ignored, 0)
    copies = fetch(
        warehouse,
        f"""
        SELECT {us("migrated_at")}, operation, vsn, drive, copy_number, class_of_service, size_bytes
        FROM mart.migrations
        """,
    )
    assert in_order(copies) == in_order(truth["samqfs"]["migrations"])
    sets = fetch(
        warehouse,
        "SELECT class_of_service, count(*), sum(size_bytes)::bigint AS bytes FROM mart.migrations GROUP BY 1",
    )
    assert {row["class_of_service"]: [row["count"], row["bytes"]] for row in sets} == truth["samqfs"][
        "archive_sets"
    ]
    stages = fetch(
        warehouse,
        f"""
        SELECT {us("staged_at")}, vsn, drive, copy_number, users.name AS user, size_bytes, is_failed,
            {us("started_at")}, duration_s
        FROM mart.stages JOIN core.users AS users ON users.id = stages.user_id
        """,
    )
    assert in_order(stages) == in_order(truth["samqfs"]["stages"])
    assert sum(row["is_failed"] for row in stages) == truth["samqfs"]["failed_count"] > 0
    starts = fetch(
        warehouse,
        f"""
        SELECT {us("started_at")}, {us("ended_at")}, vsn, copy_number, users.name AS user, size_bytes, outcome
        FROM mart.stage_starts AS starts JOIN core.users AS users ON users.id = starts.user_id
        """,
    )
    assert in_order(starts) == in_order(truth["samqfs"]["stage_starts"])
    outcomes = Counter(row["outcome"] for row in starts)
    assert outcomes["cancelled"] == truth["samqfs"]["cancelled_count"] > 0
    assert outcomes["unfinished"] == truth["samqfs"]["lost_end_count"] > 0
    check_warehouse(warehouse)


@pytest.mark.parametrize("counted_per", ["stage", "request"])
def test_recall_latencies_agree_with_a_recount_of_the_lines(
    loaded: Warehouse, folder: Path, counted_per: str
):
    groups: dict[tuple[str, str], dict[str, Any]] = {}
    for recall in follow_recalls(list_files(folder, "json")):
        group = groups.setdefault(
            (recall.tape_pool, recall.day(ZoneInfo(ZONE))),
            {"waits_us": [], "recall": 0, "unfinished": 0, "failed": 0, "over": 0},
        )
        for asked_us in recall.asked_us[: 1 if counted_per == "stage" else None]:
            group["recall"] += 1
            group["unfinished"] += recall.outcome == "unfinished"
            group["failed"] += recall.outcome == "failed"
            if recall.outcome == "read":
                group["waits_us"].append(recall.last_us - asked_us)
                group["over"] += recall.last_us - asked_us > 400_000_000
    expected = {
        key: {
            "recall_count": group["recall"],
            "timed_count": len(group["waits_us"]),
            "unfinished_count": group["unfinished"],
            "failed_count": group["failed"],
            "over_target_count": group["over"] + group["unfinished"],
            **describe(group["waits_us"], group["unfinished"]),
        }
        for key, group in groups.items()
    }
    rows = fetch(
        loaded,
        "SELECT class_of_service, starts_on::text, recall_count, timed_count, unfinished_count,"
        " over_target_count, coalesce(failed_count, 0) AS failed_count, "
        + ", ".join(
            f"round(p{percent}{name}_s * 1000000)::bigint AS p{percent}{name}_s"
            for percent in (50, 90, 95, 99)
            for name in ("", "_low", "_high")
        )
        + " FROM mart.recall_latencies('made', grouped_by => '{class_of_service,day}', target_s => 400)"
        f" WHERE counted_per = '{counted_per}'",
    )
    found = {(row.pop("class_of_service"), row.pop("starts_on")): row for row in rows}
    assert found == expected
    assert sum(group["unfinished"] for group in groups.values()) > 3
    assert sum(group["over"] for group in groups.values()) > 30


def test_recalls_of_each_hour_agree_with_a_recount_of_the_lines(loaded: Warehouse, folder: Path):
    hours = Counter(recall.last_us // 3_600_000_000 for recall in follow_recalls(list_files(folder, "json")))
    rows = fetch(
        loaded,
        "SELECT extract(EPOCH FROM starts_at)::bigint / 3600 AS hour, recall_count"
        " FROM mart.recall_latencies('made', grouped_by => '{hour}') WHERE counted_per = 'stage'",
    )
    assert {row["hour"]: row["recall_count"] for row in rows} == hours
    assert len(hours) == len(rows) > 10


def test_recalls_that_could_have_been_batched_agree_with_a_recount_of_the_truth(
    loaded: Warehouse, truth: dict[str, Any]
):
    stays: dict[str, list[Row]] = defaultdict(list)
    for mount in sorted((row for row in truth["cta"]["mounts"] if row["drive"]), key=first_in_drive):
        stays[mount["vsn"]].append(mount)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    is_counted = set()
    is_missed_by_mount: dict[tuple[str, int], list[bool]] = defaultdict(list)
    day_of_mount = {}
    recalls = list_recalls(truth["cta"]["tape_operations"])
    for attempts in sorted(recalls, key=lambda each: last_time(each[-1])):
        last = attempts[-1]
        asked_at = min((each["received_at"] for each in attempts if each["received_at"]), default=None)
        day = str(datetime.fromtimestamp(last_time(last) / 1e6, ZoneInfo(ZONE)).date())
        counts[day].update(recall_count=1, unasked_count=asked_at is None)
        own = last["mount_requested_at"] and [
            number
            for number, mount in enumerate(stays[last["vsn"]])
            if mount["mount_requested_at"] == last["mount_requested_at"]
        ]
        if own:
            before = stays[last["vsn"]][own[0] - 1] if own[0] else None
            is_missed = bool(before and asked_at and asked_at <= last_in_drive(before))
            key = (last["vsn"], own[0])
            day_of_mount.setdefault(key, day)
            is_missed_by_mount[key].append(is_missed)
            counts[day].update(mounted_count=1, mount_count=key not in is_counted, batchable_count=is_missed)
            is_counted.add(key)
    for key, are_missed in is_missed_by_mount.items():
        counts[day_of_mount[key]].update(batchable_mount_count=all(are_missed))
    names = ["recall_count", "unasked_count", "mounted_count", "mount_count", "batchable_count"]
    names += ["batchable_mount_count"]
    rows = fetch(
        loaded,
        f"SELECT starts_on::text, {', '.join(f'sum({name})::bigint AS {name}' for name in names)}"
        " FROM mart.recall_batches('made') GROUP BY starts_on",
    )
    assert {row.pop("starts_on"): row for row in rows} == {
        day: {name: counter[name] for name in names} for day, counter in counts.items()
    }
    assert sum(counter["batchable_mount_count"] for counter in counts.values()) > 3


def test_kept_answers_about_tapes_are_those_that_are_computed(loaded: Warehouse):
    calls = [
        call
        for call in find_stale_calls(loaded, None, least_rows=1)
        if KEPT[call.function].folder.parent.name == "tape"
    ]
    computed = {
        call: ask(loaded, name_computed(call.function), f"archive => '{call.archive}'") for call in calls
    }
    # CTA's and SAM-QFS's logs do not report when files were put.
    with_rows = {call.function for call, rows in computed.items() if rows}
    assert {call.function for call in calls} - with_rows == {"not_on_tape", "time_to_tape"}
    assert refresh(loaded, calls) == len(calls)
    assert not {*calls} & {*find_stale_calls(loaded, None, least_rows=1)}
    assert {call: ask(loaded, call.function, f"archive => '{call.archive}'") for call in calls} == computed
