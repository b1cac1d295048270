"""Writes metrics of the ledger and the last round to a file for node_exporter's textfile collector."""

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import psycopg
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from tapewise.ingest.nightly.run import SourceOutcome
from tapewise.schema.errors import SettingsError

FATES = ("loaded", "held", "ignored", "rejected")
LABELS = ("archive", "source")


@dataclass(frozen=True)
class SourceLines:
    """The ledger's figures for one source. The counts are in the order of `FATES`."""

    archive: str
    source: str
    counts: tuple[int, ...]
    last_event_at: datetime | None
    last_read_at: datetime | None


@dataclass(frozen=True)
class RefreshReport:
    """How many prepared answers a round refreshed, how many it left, and how long that took."""

    done_count: int
    left_count: int
    took_s: float


@dataclass(frozen=True)
class RoundReport:
    """A report on a finished round. If the database is down, `lines` is empty and the rest is None."""

    began_at: datetime
    ended_at: datetime
    exit_status: int
    outcomes: list[SourceOutcome]
    lines: list[SourceLines] = field(default_factory=list)
    database_bytes: int | None = None
    refreshed: RefreshReport | None = None


def read_lines(connection: psycopg.Connection) -> list[SourceLines]:
    """The ledger's figures for each source from which logs were read."""
    rows = connection.execute(
        "SELECT archives.name, sources.name, sum(loaded_count)::bigint, sum(held_count)::bigint,"
        " sum(ignored_count)::bigint, sum(rejected_count)::bigint, max(last_event_at), max(last_read_at)"
        " FROM ledger.log_files JOIN ledger.sources ON sources.id = source_id"
        " JOIN core.archives ON archives.id = archive_id"
        " GROUP BY sources.id, archives.id ORDER BY 1, 2"
    )
    return [
        SourceLines(archive, source, tuple(counts), last_event_at, last_read_at)
        for archive, source, *counts, last_event_at, last_read_at in rows
    ]


def read_database_bytes(connection: psycopg.Connection) -> int:
    """The size of the database on its server's disk, in bytes."""
    row = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    assert row is not None
    return int(row[0])


def check_target(path: Path) -> None:
    """Raise SettingsError if `write_metrics` could not write `path`, or would replace anything but a file.

    Call this before a round, because otherwise the error would come only at its end, perhaps hours later.
    """
    hint = "It was named by --prometheus, TAPEWISE_PROMETHEUS_FILE or prometheus_file. Nothing was read."
    if path.exists() and not path.is_file():
        raise SettingsError(f"{path}: is not a regular file, and would be replaced by one", hint=hint)
    if not path.parent.is_dir():
        raise SettingsError(f"{path.parent}: there is no such folder to write metrics in", hint=hint)
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise SettingsError(f"{path.parent}: no file can be created in this folder, for metrics", hint=hint)


def write_metrics(path: Path, report: RoundReport) -> None:
    """Write a file that everyone may read, atomically. Raises SettingsError, which names the file."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Metrics(report))
    # node_exporter reads only *.prom files, so it ignores this draft.
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_bytes(generate_latest(registry))
        draft.chmod(0o644)
        draft.replace(path)
    except OSError as error:
        with suppress(OSError):
            draft.unlink()
        raise SettingsError(
            f"{path}: the metrics could not be written: {error.strerror}",
            hint="What was read stays loaded. Make room, or name another place, and run the command again.",
        ) from error


class _Metrics(Collector):
    def __init__(self, report: RoundReport) -> None:
        self._report = report

    def collect(self) -> Iterable[Metric]:
        yield from self._of_sources()
        report = self._report
        seconds = (report.ended_at - report.began_at).total_seconds()
        for name, text, value in (
            (
                "last_run_end_timestamp_seconds",
                "When the last run ended",
                _s(report.ended_at),
            ),
            ("last_run_duration_seconds", "How long the last run took", seconds),
            ("last_run_exit_status", "0: everything was read, 1: something failed", report.exit_status),
            ("database_size_bytes", "Size of the database on disk", report.database_bytes),
            (
                "last_run_refresh_seconds",
                "How long the last run took to count files and prepare envelopes",
                report.refreshed.took_s if report.refreshed else None,
            ),
            (
                "last_run_left_answers",
                "Prepared answers that the last run did not refresh for lack of time",
                report.refreshed.left_count if report.refreshed else None,
            ),
        ):
            if value is not None:
                yield GaugeMetricFamily(f"tapewise_{name}", text, value)

    def _of_sources(self) -> Iterator[Metric]:
        lines = CounterMetricFamily(
            "tapewise_lines",
            "Lines in the ledger, by what became of them",
            labels=(*LABELS, "fate"),
        )
        event = GaugeMetricFamily(
            "tapewise_last_event_timestamp_seconds", "Time of the source's last event", labels=LABELS
        )
        read = GaugeMetricFamily(
            "tapewise_last_read_timestamp_seconds", "When the source was last read", labels=LABELS
        )
        failed = GaugeMetricFamily(
            "tapewise_last_run_failures", "Failures of the source's files in the last run", labels=LABELS
        )
        for each in self._report.lines:
            labels = [each.archive, each.source]
            for fate, count in zip(FATES, each.counts, strict=True):
                lines.add_metric([*labels, fate], count)
            if each.last_event_at is not None:
                event.add_metric(labels, _s(each.last_event_at))
            if each.last_read_at is not None:
                read.add_metric(labels, _s(each.last_read_at))
        for outcome in self._report.outcomes:
            failed.add_metric([outcome.archive, outcome.source], len(outcome.failures))
        yield from (lines, event, read, failed)


def _s(moment: datetime) -> float:
    return moment.timestamp()
