"""`tapewise refresh`: prepares answers that take too long to compute while somebody waits."""

import json
import time
from contextlib import closing
from dataclasses import asdict
from datetime import UTC, datetime

import click

from tapewise.ingest.upkeep.kept_answers import (
    KeptAnswer,
    describe_left_out,
    find_left_out,
    find_stale_calls,
    keep_answers,
)
from tapewise.ingest.upkeep.preparations import (
    TIME_LIMIT_S,
    Preparation,
    Question,
    find_stale,
    is_answered_at_once,
    prepare,
)
from tapewise.schema.database import Role
from tapewise.schema.moments import TypedTime, check_range, place_range
from tapewise.schema.settings import Settings
from tapewise.schema.tables.upgrade import open_ready_warehouse
from tapewise.schema.texts import escape_controls, say_count
from tapewise.schema.writing.archives import get_archive
from tapewise.schema.writing.file_counts import FileCounts, refresh_files


@click.command()
@click.option("--archive", help="Only the answers of this archive.  [default: all archives]")
@click.option(
    "--since", type=TypedTime(), help="Transfers that ended at this time or later, by the archive's clock."
)
@click.option(
    "--until", type=TypedTime(), help="Transfers that ended before this time, by the archive's clock."
)
@click.option("--client", help="Transfers of this client machine.")
@click.option("--class-of-service", help="Transfers of this class of service.")
@click.option(
    "--time-limit",
    "time_limit_s",
    type=click.FloatRange(min=1),
    default=TIME_LIMIT_S,
    show_default=True,
    help="Stop after this many seconds; the rest is left to the next run.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per prepared answer, each on a line.")
@click.pass_obj
def refresh(
    settings: Settings,
    archive: str | None,
    since: datetime | None,
    until: datetime | None,
    client: str | None,
    class_of_service: str | None,
    time_limit_s: float,
    as_json: bool,
) -> None:
    """Prepare answers that take long: how files grew and aged, lower envelopes, and reports of many lines.

    Files are followed and counted by day if something was loaded since the last time; loads of the archive
    wait, and queries get the previous answer. Envelopes and residuals are prepared for all time, each month,
    and whatever was prepared before, unless they are up to date or have so few transfers that they are
    computed on demand. Then the answers of functions that take long are kept, for all time of each archive of
    at least 200,000 facts; they are used until anything changes. With a range, client or class of service,
    only the envelopes of these transfers are prepared. The nightly run does the same.

    \b
    Example:
      tapewise refresh --archive hpss
      tapewise refresh --archive hpss --client cray --since 1998-10-01 --until 1998-10-08
    """
    check_range(since, until)
    is_narrow = any(value is not None for value in (since, until, client, class_of_service))
    if is_narrow and archive is None:
        raise click.UsageError("Say which archive is meant: give --archive.")
    with open_ready_warehouse(settings) as warehouse:
        with closing(warehouse.connect(Role.LOADER)) as connection:
            rows = connection.execute("SELECT name, timezone FROM core.archives")
            zones: dict[str, str] = dict(rows.fetchall())
            if archive is not None:
                get_archive(connection, archive)
        if is_narrow:
            assert archive is not None
            question = Question(archive, *place_range(since, until, zones[archive]), client, class_of_service)
            if is_answered_at_once(warehouse, question):
                _say("Nothing to prepare: this is few transfers, so it is computed on demand.", as_json)
                return
            questions, calls = [question], []
        else:
            counted = 0
            for name in [archive] if archive is not None else sorted(zones):
                counts = refresh_files(warehouse, name, datetime.now(UTC), is_shown=not as_json)
                if counts is not None:
                    counted += 1
                    click.echo(json.dumps(asdict(counts)) if as_json else _describe_files(counts))
            questions = find_stale(warehouse, archive)
            calls = find_stale_calls(warehouse, archive)
            if left_out := find_left_out(warehouse, archive):
                click.echo(f"tapewise: {describe_left_out(left_out)}.", err=True)
            if not questions and not calls and not counted:
                _say("Nothing to prepare: everything is up to date or is computed on demand.", as_json)
        done, deadline = 0, time.monotonic() + time_limit_s
        for each in prepare(warehouse, questions, time_limit_s=time_limit_s):
            done += 1
            click.echo(_to_json(each) if as_json else _describe(each, zones[each.question.archive]))
        # After the envelopes, from which some of these answers are computed.
        for kept in keep_answers(warehouse, calls, deadline=deadline):
            done += 1
            click.echo(_answer_to_json(kept) if as_json else _describe_answer(kept))
    if done < len(questions) + len(calls):
        click.echo(
            f"tapewise: the time is over; {len(questions) + len(calls) - done:,} of"
            f" {len(questions) + len(calls):,} answers are left to the next run.",
            err=True,
        )


def _say(text: str, as_json: bool) -> None:
    if not as_json:
        click.echo(text)


def _describe_files(counts: FileCounts) -> str:
    return escape_controls(
        f"{counts.archive}: files counted by {counts.day_count:,} routes and days,"
        f" from {counts.event_count:,} events"
    )


def _describe(done: Preparation, timezone: str) -> str:
    return escape_controls(
        f"{done.question.archive}, {done.question.describe(timezone)}:"
        f" {say_count(done.transfer_count, 'transfers')} in {done.took_s:.1f} s"
    )


def _to_json(done: Preparation) -> str:
    return json.dumps(
        asdict(done.question) | {"transfer_count": done.transfer_count, "took_s": done.took_s}, default=str
    )


def _answer_to_json(kept: KeptAnswer) -> str:
    return json.dumps(
        {
            "archive": kept.call.archive,
            "call": kept.call.describe(),
            "row_count": kept.row_count,
            "is_kept": kept.is_kept,
            "took_s": kept.took_s,
        }
    )


def _describe_answer(kept: KeptAnswer) -> str:
    rows = f"{say_count(kept.row_count, 'rows')} in {kept.took_s:.1f} s"
    said = rows if kept.is_kept else f"{rows}, which are too many to keep"
    return escape_controls(f"{kept.call.archive}: {kept.call.describe()}: {said}")
