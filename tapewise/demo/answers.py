"""Results from the example logs, next to the true values from which the logs were generated."""

import json
from typing import Any

import click
import psycopg

from tapewise.demo.sections import ARCHIVE, EXAMPLES, say
from tapewise.tables import print_table

BAR_WIDTH = 40


def show_activity(connection: psycopg.Connection) -> None:
    """Show requests and bytes by day."""
    say("3. Requests and bytes by day, interface and direction (days in the archive's time zone)")
    rows = connection.execute(
        """
        SELECT starts_on, interface,
            sum(transfer_count) FILTER (WHERE direction = 'put') AS puts,
            round(sum(size_bytes) FILTER (WHERE direction = 'put') / 1e9, 2) AS put_gb,
            sum(transfer_count) FILTER (WHERE direction = 'get') AS gets,
            round(sum(size_bytes) FILTER (WHERE direction = 'get') / 1e9, 2) AS get_gb,
            coalesce(sum(failed_count)::text, 'not in the log') AS failed
        FROM mart.activity(archive => %s, period => 'day')
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


def show_open_times(connection: psycopg.Connection) -> None:
    """Show the open times of get requests."""
    say("4. How long gets waited for their file to open (only HSI's log reports it)")
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


def show_requests(connection: psycopg.Connection) -> None:
    """Show where the files of get requests were, and how long the requests waited."""
    say("5. Requests built from jobs, stages and transfers: where the files of NFT's gets were")
    truth = json.loads((EXAMPLES / "truth.json").read_text())["unitree"]
    waits = truth["waits"]["of_gets_before_their_transfer"]
    origins = truth["gets"]["by_origin"]
    rows = connection.execute(
        """
        SELECT is_cached, count(*), count(*) / sum(count(*)) OVER (PARTITION BY is_cached IS NULL),
            percentile_cont(0.5) WITHIN GROUP (ORDER BY waited_s) FILTER (WHERE NOT is_time_ambiguous),
            avg(waited_s) FILTER (WHERE NOT is_time_ambiguous),
            max(clock_step_s) FILTER (WHERE is_wait_below_clock), count(*) FILTER (WHERE is_wait_negative)
        FROM mart.requests
        WHERE archive = %s AND interface = 'nft' AND direction = 'get' AND transfer_id IS NOT NULL
            AND is_failed IS NOT TRUE
        GROUP BY is_cached
        ORDER BY is_cached DESC NULLS LAST
        """,
        [ARCHIVE],
    ).fetchall()
    shown: list[list[Any]] = []
    for is_cached, count, ratio, median_s, mean_s, step_s, _ in rows:
        if is_cached is None:
            shown.append(["unknown", count, "", "", None, None, None, None])
            continue
        origin = "disk" if is_cached else "tape"
        true_ratio = origins[origin] / sum(origins.values())
        is_below = step_s is not None and median_s < step_s
        median = f"< {step_s:g}" if is_below else f"{median_s:.1f}"
        waited = [round(s, 1) for s in (waits[origin]["median_s"], mean_s, waits[origin]["mean_s"])]
        shown.append([f"on {origin}", count, f"{ratio:.1%}", f"{true_ratio:.1%}", f"{median:>13}", *waited])
    columns = ["file was", "gets", "share", "true", "median wait s", "true", "mean wait s", "true"]
    print_table(columns, shown)
    click.echo(
        "\nSTAT reports the stages; COND reports the jobs, and with them the waits, in whole seconds.\n"
        "Because of broken lines, some gets are unknown or misclassified. Jobs that ran past midnight have\n"
        "no reliable start and are left out of the waits; they waited longest."
    )
    if negative_count := sum(row[-1] for row in rows):
        click.echo(
            f"By the clocks of two machines, {negative_count} gets began before they were requested:"
            " their waits are unknown\nand left out."
        )


def show_cache_hits(connection: psycopg.Connection) -> None:
    """Show cache hits by interface."""
    say("6. How many gets found their file on disk: yes, no, or unknown")
    document = json.loads((EXAMPLES / "truth.json").read_text())
    origins = {
        "hsi": document["files"]["hsi.log"]["hsi_gets"]["by_origin"],
        "nft": document["unitree"]["gets"]["by_origin"],
    }
    truth = {interface: counts["disk"] / sum(counts.values()) for interface, counts in origins.items()}
    rows = connection.execute(
        """
        SELECT interface, get_count, cached_count, uncached_count, unknown_ratio,
            hit_ratio, hit_ratio_low, hit_ratio_high
        FROM mart.cache_hits(archive => %s, grouped_by => 'interface')
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
        "\nThe evidence is HSI's open times and NFT's stages. A log with neither is no evidence, so it has\n"
        "no ratio (rather than 100 %). An open below 8 s counts as disk; no file took between 8 and 60 s to\n"
        "open here, so no get of HSI is misclassified. The interval is for chance: in another two weeks,\n"
        "other gets would have hit."
    )


def show_envelopes(connection: psycopg.Connection) -> None:
    """Show the lower envelope of NFT."""
    say("7. The lower envelope of NFT's transfers: what the hardware does when nobody else uses it")
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
        "\nEven the fastest transfer of each stratum waited for others, so the line is too high. The method\n"
        "cannot remove this bias, and the standard error (±) does not include it."
    )
