"""The truth about UniTree's logs, counted from the generator's own jobs and links."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise
from statistics import median
from typing import Any

from tapewise.examples.links import Link
from tapewise.examples.machine import (
    KEPT_ON_DISK_S,
    STAGE_LAWS,
    UNITREE_HIT_RATIO_NEW,
    UNITREE_HIT_RATIO_OLD_LARGE,
    UNITREE_HIT_RATIO_OLD_SMALL,
    UNITREE_SMALL_BYTES,
)
from tapewise.examples.unitree import Job, Stage, UniTree
from tapewise.examples.wallclock import is_repeated, is_writing, wall_time
from tapewise.examples.writers import BLANK_SEPARATED, Line

MEANING = (
    "gets and waits count everything that ended while the logs were written, even if a line was broken "
    "afterwards; gets are those of NFT and FTP that succeeded, from disk or staged from tape. jobs, "
    "personas, stages and failures count only lines that can be read. So does compositions, which has puts "
    "and gets by the lines that report them: job (COND), stage, attempt (that failed) and twin (STAT), "
    "transfer (NFT)."
)


def unitree_truth(
    logs: dict[str, list[Line]], tree: UniTree, links: list[Link]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Collect what is true of each COND and STAT file, and of UniTree."""
    jobs = [job for job in tree.jobs if is_writing(job.ended_s)]
    loaded = [line for lines in logs.values() for line in lines if line.fate == "loaded"]
    logged = [line.job for line in loaded if line.job and line.detail == "unitree_jobs"]
    staged = [(line.job, line.part) for line in loaded if line.job and isinstance(line.part, Stage)]
    return {name: _file_truth(lines) for name, lines in sorted(logs.items())}, {
        "meaning": MEANING,
        "laws": _laws(),
        "server_clock_ahead_s": tree.ahead_s,
        "blank_separated_local": [moment.isoformat() for moment in BLANK_SEPARATED],
        "gets": _gets(jobs, links),
        "jobs": _jobs(logged),
        "personas": _personas(logged),
        "stages": _stages(staged),
        "failures": _failures(links),
        "compositions": dict(sorted(Counter(link.reported_by for link in links).items())),
        "waits": _waits(jobs, tree, links),
    }


def _laws() -> dict[str, Any]:
    return {
        "kept_on_disk_s_after_use": KEPT_ON_DISK_S,
        "hit_ratio_after_that": {
            "of files used in these weeks": UNITREE_HIT_RATIO_NEW,
            f"of older files below {UNITREE_SMALL_BYTES} bytes": UNITREE_HIT_RATIO_OLD_SMALL,
            "of other older files": UNITREE_HIT_RATIO_OLD_LARGE,
        },
        "stages": [
            {
                "ratio": law.ratio,
                "least_s": law.least_s,
                "exponential_mean_s": law.mean_s,
                **({"exponential_redrawn_until_below_s": law.limit_s} if law.limit_s < float("inf") else {}),
            }
            for law in STAGE_LAWS
        ],
    }


def _file_truth(lines: list[Line]) -> dict[str, Any]:
    loaded = [line for line in lines if line.fate == "loaded"]
    with_job = [(line, line.job) for line in loaded if line.job]
    tables = Counter(line.detail for line in loaded)
    outcomes = Counter(
        (job.operation, line.part is not None) for line, job in with_job if line.detail == "transfers"
    )
    counts: dict[str, Any] = {"unitree_jobs": tables["unitree_jobs"]}
    if tables["transfers"]:
        counts = {
            "transfers": {
                direction: {"succeeded": outcomes[direction, False], "failed": outcomes[direction, True]}
                for direction in ("put", "get")
            },
            "stages": tables["stages"],
            "namespace_events": {"copy": tables["namespace_events"]},
        }
    flagged = {"ambiguous_local_time": sum(_has_repeated_time(line) for line in loaded)}
    if tables["unitree_jobs"]:
        flagged["start_after_end"] = sum(_is_start_after_end(job) for _, job in with_job)
    return {
        "line_count": len(lines),
        "loaded_count": len(loaded),
        "loaded": counts,
        "ignored": dict(sorted(Counter(line.detail for line in lines if line.fate == "ignored").items())),
        "rejected": dict(sorted(Counter(line.detail for line in lines if line.fate == "rejected").items())),
        "flagged": flagged,
    }


def _has_repeated_time(line: Line) -> bool:
    """Whether any of the line's times is in the hour that occurred twice; COND's lines have two times."""
    times_s = [line.at_s]
    if line.job and line.detail == "unitree_jobs":
        times_s.append(line.job.started_as_written_s)
    return any(is_repeated(wall_time(time_s)) for time_s in times_s)


def _is_start_after_end(job: Job) -> bool:
    """Whether the job starts later than it ends, comparing times of day without dates."""
    return wall_time(job.started_as_written_s).time() > wall_time(job.ended_s).time()


def _is_over_midnight(job: Job) -> bool:
    return wall_time(job.started_s).date() != wall_time(job.ended_s).date()


def _gets(jobs: Iterable[Job], links: list[Link]) -> dict[str, Any]:
    origins = Counter(
        "tape" if job.stage else "disk" for job in jobs if job.record and job.operation == "get"
    )
    logged = [link for link in links if link.job.operation == "get" and link.nft_line]
    of_logged = Counter(link.origin for link in logged)
    not_in_stat = Counter(link.origin for link in logged if not link.stat_line)
    return {
        "by_origin": {origin: origins[origin] for origin in ("disk", "tape")},
        "hit_ratio": origins["disk"] / origins.total(),
        "with_line_in_nft_log": {origin: of_logged[origin] for origin in ("disk", "tape")},
        "of_these_without_transfer_in_stat": {origin: not_in_stat[origin] for origin in ("disk", "tape")},
        "of_these_with_transfer_but_without_stage_in_stat": {
            "tape": sum(
                link.origin == "tape" and bool(link.stat_line) and not link.stage_line for link in logged
            )
        },
    }


def _jobs(jobs: list[Job]) -> dict[str, Any]:
    return {
        "count": len(jobs),
        "by_operation": dict(sorted(Counter(job.operation for job in jobs).items())),
        "over_midnight": sum(_is_over_midnight(job) for job in jobs),
        "start_after_end": {
            "logged_wrong": sum(job.wrong_start_s is not None for job in jobs),
            "over_midnight": sum(_is_over_midnight(job) and _is_start_after_end(job) for job in jobs),
            "over_the_change_of_clocks": sum(
                job.wrong_start_s is None and not _is_over_midnight(job) and _is_start_after_end(job)
                for job in jobs
            ),
        },
        "persona_of_five_digits": sum(job.persona > 9999 for job in jobs),
    }


def _personas(jobs: list[Job]) -> dict[str, Any]:
    by_day = Counter((wall_time(job.ended_s).date(), job.persona) for job in jobs)
    in_order = sorted(jobs, key=lambda job: job.started_s)
    falls = {
        wall_time(later.started_s).date() for job, later in pairwise(in_order) if later.persona < job.persona
    }
    return {
        "days_in_which_they_start_anew": len(falls),
        "repeated_within_a_day": sum(count > 1 for count in by_day.values()),
        "jobs_with_a_repeated_one": sum(count for count in by_day.values() if count > 1),
    }


def _stages(staged: list[tuple[Job, Stage]]) -> dict[str, Any]:
    return {
        "count": len(staged),
        "seconds": sum(int(stage.duration_s) for _, stage in staged),
        "under_120_s": sum(stage.duration_s < 120 for _, stage in staged),
        "of_jobs_without_transfer": sum(job.record is None for job, _ in staged),
    }


def _failures(links: list[Link]) -> dict[str, Any]:
    failed = [link for link in links if link.attempt_lines]
    in_vain = [link for link in links if link.stage_line and not link.job.record and not link.job.attempts]
    return {
        "failed_attempts": sum(len(link.attempt_lines) for link in failed),
        "jobs_that_succeeded_in_the_end": sum(link.job.record is not None for link in failed),
        "jobs_that_did_not": sum(link.job.record is None for link in failed),
        "jobs_staged_in_vain": len(in_vain),
    }


def _waits(jobs: list[Job], tree: UniTree, links: list[Link]) -> dict[str, Any]:
    moved = [(job, job.record) for job in jobs if job.record and job.operation == "get"]
    waits_s: dict[str, list[float]] = {"disk": [], "tape": []}
    for job, record in moved:
        waits_s["tape" if job.stage else "disk"].append(
            tree.server_s(record, record.requested_s) - job.started_s
        )
    both = [link.job.record for link in links if link.job.record and link.nft_line and link.stat_line]
    ports_s = [record.port_s - record.requested_s for record in both]
    return {
        "of_gets_before_their_transfer": {
            origin: {
                "median_s": round(median(found), 3),
                "mean_s": round(sum(found) / len(found), 3),
                "longest_s": round(max(found), 3),
            }
            for origin, found in waits_s.items()
        },
        "for_a_port_in_seconds_of_nft_but_not_of_stat": {"longest_s": round(max(ports_s), 3)},
    }
