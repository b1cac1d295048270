"""`tapewise demo`: the main job on the example logs, from log files to answers on the terminal."""

import json
import shlex
import sys
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click
import psycopg

from ingest.formats import find_format
from ingest.loads import FileResult, load_file
from ingest.progress import show_progress
from ingest.reading import Tally
from ingest.results import describe_result
from ingest.sources import SourceRequest, make_source
from schema.database import Role, Warehouse, open_warehouse
from schema.errors import LogFileError
from schema.settings import Settings
from schema.upgrade import newest_revision, upgrade
from tapewise.tables import print_table

EXAMPLES = Path(__file__).parent.parent / "examples" / "logs"
ARCHIVE = "example"
ZONE = "America/Los_Angeles"
LOGS = (("nft.log", "nft"), ("pftp.log.gz", "pftp"), ("hsi.log", "hsi"))
# UniTree's, behind NFT and FTP: what is in NFT's log is counted there.
UNITREE_LOGS = (("cond.*.gz", "cond", True), ("stat.log.gz", "stat", False))

BAR_WIDTH = 40
QUERY = "SELECT * FROM mart.activity WHERE period = 'month'"


@click.command()
@click.pass_obj
def demo(settings: Settings) -> None:
    """Read the example logs into archive 'example' and show what they tell.

    The logs are made up: two weeks of an archive like LLNL's of 1998, with the truth they were made
    from beside them. Run again, it counts nothing twice.

    Example: tapewise --home .demo demo
    """
    if not EXAMPLES.is_dir():
        raise LogFileError(f"{EXAMPLES}: the example logs are not there", hint="The demo runs in a checkout.")
    _say(f"1. A PostgreSQL {settings.postgres_version} of its own, below {settings.home}")
    with open_warehouse(settings) as warehouse:
        upgrade(lambda: warehouse.connect(Role.OWNER))
        click.echo(f"It is up; the warehouse is of revision {newest_revision()}.")
        _say("2. The logs: every line is loaded, held already, ignored or rejected")
        click.echo("These logs are made up (examples/README.md), and some lines are broken on purpose.\n")
        _ingest(warehouse)
        _ingest_unitree(warehouse)
        with closing(warehouse.connect(Role.READER)) as connection:
            _show_activity(connection)
            _show_open_times(connection)
            _show_requests(connection)
            _show_cache_hits(connection)
            _show_envelopes(connection)
    _show_next(settings)


def _say(heading: str) -> None:
    click.secho(f"\n{heading}\n", bold=True)


def _ingest(warehouse: Warehouse) -> None:
    now = datetime.now(UTC)
    for name, format_name in LOGS:
        request = SourceRequest(ARCHIVE, "synthetic", find_format(format_name), ZONE, format_name)
        with closing(warehouse.connect()) as connection:
            source = make_source(connection, request)
        path = Path(_shorten(str(EXAMPLES / name)))
        with show_progress(path) as tell:
            result = load_file(warehouse, source, path, now=now, progress=tell)
        click.echo("\n".join(describe_result(result)))


def _ingest_unitree(warehouse: Warehouse) -> None:
    """Load UniTree's logs; one balance stands for all the files of a kind."""
    now = datetime.now(UTC)
    for pattern, format_name, is_counted in UNITREE_LOGS:
        request = SourceRequest(ARCHIVE, "synthetic", find_format(format_name), ZONE, format_name, is_counted)
        with closing(warehouse.connect()) as connection:
            source = make_source(connection, request)
        total = Tally()
        paths = [Path(_shorten(str(path))) for path in sorted(EXAMPLES.glob(pattern))]
        results = [load_file(warehouse, source, path, now=now) for path in paths]
        for result in results:
            total.line_count += result.tally.line_count
            total.held_count += result.tally.held_count
            total.loaded += result.tally.loaded
            total.ignored += result.tally.ignored
            total.rejected += result.tally.rejected
        is_unchanged = all(result.is_unchanged for result in results)
        summed = FileResult(Path(_shorten(str(EXAMPLES / pattern))), total, 0, is_unchanged)
        click.echo("\n".join(describe_result(summed)))


def _show_activity(connection: psycopg.Connection) -> None:
    _say("3. Requests and bytes by day, interface and direction (days of the archive's own zone)")
    rows = connection.execute(
        """
        SELECT starts_on, interface,
            sum(transfer_count) FILTER (WHERE direction = 'put') AS puts,
            round(sum(size_bytes) FILTER (WHERE direction = 'put') / 1e9, 2) AS put_gb,
            sum(transfer_count) FILTER (WHERE direction = 'get') AS gets,
            round(sum(size_bytes) FILTER (WHERE direction = 'get') / 1e9, 2) AS get_gb,
            sum(failed_count) AS failed
        FROM mart.activity
        WHERE archive = %s AND period = 'day'
        GROUP BY starts_on, interface
        ORDER BY starts_on, interface
        """,
        [ARCHIVE],
    ).fetchall()
    days: set[Any] = set()
    shown = []
    for day, *rest in rows:
        shown.append(["" if day in days else f"{day:%a %Y-%m-%d}", *rest])
        days.add(day)
    print_table(["day", "interface", "puts", "GB put", "gets", "GB got", "failed"], shown)


def _show_open_times(connection: psycopg.Connection) -> None:
    _say("4. How long gets waited for their file to open (HSI's log is the one that says so)")
    rows = connection.execute(
        """
        WITH bins (from_s, to_s, meaning) AS (
            VALUES (0, 1, 'disk'), (1, 2, 'disk'), (2, 3, 'disk'), (3, 8, 'disk'), (8, 60, 'seek only'),
                (60, 130, 'library mount'), (130, NULL, 'shelf, queue or contention')
        )
        SELECT from_s, to_s, meaning, sum(request_count) AS opens, sum(request_ratio) AS ratio
        FROM bins
        JOIN mart.open_times(archive => %s, direction => 'get') AS opened
            ON open_floor_s >= from_s AND (to_s IS NULL OR open_floor_s < to_s)
        GROUP BY from_s, to_s, meaning
        ORDER BY from_s
        """,
        [ARCHIVE],
    ).fetchall()
    running = 0.0
    shown = []
    for since, until, meaning, count, ratio in rows:
        running += ratio
        span = f"{since} to {until} s" if until else f"{since} s and more"
        shown.append([span, count, f"{ratio:.1%}", f"{running:.1%}", meaning, "#" * round(ratio * BAR_WIDTH)])
    print_table(["open time", "gets", "share", "running", "at SDSC this was", ""], shown)


def _show_requests(connection: psycopg.Connection) -> None:
    _say("5. Requests put together of job, stage and transfer: where the files of NFT's and FTP's gets were")
    truth = json.loads((EXAMPLES / "truth.json").read_text())["unitree"]
    waits = truth["waits"]["of_gets_before_their_transfer"]
    origins = truth["gets"]["by_origin"]
    rows = connection.execute(
        """
        SELECT is_cached, count(*), count(*) / sum(count(*)) OVER (PARTITION BY is_cached IS NULL),
            percentile_cont(0.5) WITHIN GROUP (ORDER BY waited_s) FILTER (WHERE NOT is_time_ambiguous),
            avg(waited_s) FILTER (WHERE NOT is_time_ambiguous)
        FROM mart.requests
        WHERE archive = %s AND interface = 'nft' AND direction = 'get' AND transfer_id IS NOT NULL
        GROUP BY is_cached
        ORDER BY is_cached DESC NULLS LAST
        """,
        [ARCHIVE],
    ).fetchall()
    shown: list[list[Any]] = []
    for is_cached, count, ratio, median_s, mean_s in rows:
        if is_cached is None:
            shown.append(["not known", count, "", "", None, None, None, None])
            continue
        origin = "disk" if is_cached else "tape"
        true_ratio = origins[origin] / sum(origins.values())
        waited = [median_s, waits[origin]["median_s"], mean_s, waits[origin]["mean_s"]]
        shown.append(
            [f"on {origin}", count, f"{ratio:.1%}", f"{true_ratio:.1%}", *(round(s, 1) for s in waited)]
        )
    columns = ["file was", "gets", "share", "true", "median wait s", "true", "mean wait s", "true"]
    print_table(columns, shown)
    click.echo(
        "\nSTAT tells of the stages, COND of the jobs and so of waits, in whole seconds. Broken lines leave\n"
        "some gets unjudged or judged wrong. Jobs over midnight have no start to believe, and waited longest."
    )


def _show_cache_hits(connection: psycopg.Connection) -> None:
    _say("6. How many gets found their file on disk: yes, no, or nothing tells")
    told = json.loads((EXAMPLES / "truth.json").read_text())
    origins = {
        "hsi": told["files"]["hsi.log"]["hsi_gets"]["by_origin"],
        "nft": told["unitree"]["gets"]["by_origin"],
    }
    truth = {interface: counts["disk"] / sum(counts.values()) for interface, counts in origins.items()}
    rows = connection.execute(
        """
        SELECT interface, get_count, cached_count, uncached_count, unknown_ratio,
            hit_ratio, hit_ratio_low, hit_ratio_high
        FROM mart.cache_hits(archive => %s)
        WHERE grouped_by = 'interface'
        ORDER BY interface
        """,
        [ARCHIVE],
    ).fetchall()
    shown = [
        [
            interface,
            gets,
            cached,
            uncached,
            f"{unknown:.0%}",
            "" if ratio is None else f"{ratio:.1%}",
            "" if ratio is None else f"{low:.1%} to {high:.1%}",
            f"{truth[interface]:.1%}" if interface in truth else "",
        ]
        for interface, gets, cached, uncached, unknown, ratio, low, high in rows
    ]
    columns = ["interface", "gets", "on disk", "on tape", "unknown", "hit ratio", "95 % interval", "true"]
    print_table(columns, shown)
    click.echo(
        "\nHSI's open times tell, and NFT's stages. A log without either is no evidence: it has no ratio,\n"
        "and does not read 100 %. Below 8 s is disk; nothing opened between 8 and 60 s here, so no get of\n"
        "HSI is taken for what it is not. The interval is about what draws the hits: in another two weeks,\n"
        "others would have hit."
    )


def _show_envelopes(connection: psycopg.Connection) -> None:
    _say("7. The lower envelope of NFT's transfers: what the hardware does when nobody else is there")
    truth = json.loads((EXAMPLES / "truth.json").read_text())["laws"]["envelopes"]["nft"]
    rows = connection.execute(
        """
        SELECT direction, stratum_count, latency_s, latency_se_s, rate_bytes_per_s / 1e6, r_squared
        FROM mart.lower_envelopes(archive => %s, interface => 'nft')
        ORDER BY direction DESC
        """,
        [ARCHIVE],
    ).fetchall()
    shown = []
    for direction, count, latency, latency_se, rate, r_squared in rows:
        true_latency = truth[direction]["latency_s"]
        true_rate = 1e-6 / truth[direction]["slope_s_per_byte"]
        shown.append(
            [
                direction,
                count,
                f"{latency:.3f} ± {latency_se:.3f}",
                f"{true_latency:.3f}",
                f"{latency - true_latency:+.3f}",
                f"{rate:.3f}",
                f"{true_rate:.3f}",
                f"{rate - true_rate:+.3f}",
                f"{r_squared:.4f}",
            ]
        )
    columns = ["", "strata", "latency s", "true", "bias", "rate MB/s", "true", "bias", "R²"]
    print_table(columns, shown)
    click.echo(
        "\nThe fastest of each stratum waited for others too, so the line lies too high: the bias beside\n"
        "the truth is what the method cannot remove. ± is one standard error, which knows nothing of it."
    )


def _show_next(settings: Settings) -> None:
    _say("Next")
    program = shlex.join([_shorten(sys.argv[0]), "--home", _shorten(str(settings.home))])
    for meaning, command in (
        ("Ask something yourself:", f'{program} sql "{QUERY}"'),
        ("What became of a line:", f"{program} explain line {_shorten(str(EXAMPLES / 'hsi.log'))} 17"),
        ("How a log is read:", f"{program} formats hsi"),
        ("Your own logs:", f"{program} ingest --archive NAME --format FORMAT --timezone ZONE FILE..."),
    ):
        click.echo(f"{meaning}\n    {command}")


def _shorten(path: str) -> str:
    """`path` as one would type it here."""
    resolved = Path(path).absolute()
    here = Path.cwd()
    return str(resolved.relative_to(here)) if resolved.is_relative_to(here) else path
