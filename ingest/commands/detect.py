"""`tapewise detect`: finds the formats that fit a log file."""

import json
from pathlib import Path
from typing import Any

import click

from tapewise.ingest.commands.output import report_failure, sum_failures
from tapewise.ingest.commands.paths import (
    LOG_PATH,
    expand_paths,
    keeping_standard_input,
    recursive_option,
    strip_option,
)
from tapewise.ingest.detection.scoring import Detection, describe_share, detect_formats
from tapewise.schema.errors import LogFileError
from tapewise.schema.texts import escape_controls


@click.command()
@strip_option
@recursive_option
@click.option("--json", "as_json", is_flag=True, help="One JSON object per file, each on a line.")
@click.argument("paths", nargs=-1, required=True, type=LOG_PATH)
def detect(prefix: str | None, is_recursive: bool, as_json: bool, paths: tuple[Path, ...]) -> None:
    """List the formats that fit each of the log files PATHS (compressed or not), best first.

    Also shows how many of the file's lines each format fits. A format fits a line if it recognises the line,
    even if it then rejects the line's date or a number in it. Blank lines do not count. Small files are
    examined completely, large ones at the beginning, middle and end, and large compressed ones only at the
    beginning. A format is detected if it fits at least 95 % of the lines and no other format fits more than
    5 %. Without --format, `tapewise ingest` uses the detected format. This command needs no warehouse. The
    path - means standard input.

    \b
    Example:
      tapewise detect /var/log/hpss/*
      ssh mover tail -1000 /var/log/hsi.log | tapewise detect -
      tapewise detect --strip '[^ ]+ [^ ]+ hsi\\[[0-9]+\\]: ' /var/log/messages
    """
    failures: dict[Path, LogFileError] = {}
    with keeping_standard_input(expand_paths(paths, is_recursive=is_recursive)) as files:
        for path, detection in zip(files, detect_formats(files, prefix), strict=True):
            if isinstance(detection, LogFileError):
                failures[path] = detection
                report_failure(path, detection, as_json=as_json)
                continue
            click.echo(json.dumps(_to_json(detection)) if as_json else "\n".join(_describe(detection)))
    if failures:
        raise sum_failures(failures, len(files), "examined")


def _describe(detection: Detection) -> list[str]:
    path = escape_controls(str(detection.path))
    if not detection.line_count:
        return [f"{path}: no format detected: it has no whole line that is not blank"]
    found = detection.format
    where = " and ".join(", ".join(detection.places).rsplit(", ", 1))
    lines = [
        f"{path}: {'no format detected' if found is None else f'{found.name} ({found.title})'}",
        f"  {detection.line_count:,} lines looked at: "
        + (
            "all that are not blank"
            if detection.is_whole
            else f"of the {where} of the file, without blank ones"
        ),
    ]
    lines += [
        f"  {fit.format.name:<6}{describe_share(fit):>8}  {fit.fit_count:,}"
        for fit in detection.fits
        if fit.fit_count
    ]
    best = detection.fits[0]
    if suggestion := detection.suggest_prefix():
        lines.append(f"  {suggestion[0]}: give {suggestion[1]}")
    elif not best.fit_count:
        lines.append("  none of them is a line of any format: see `tapewise formats`")
    elif found is None:
        name = best.format.name
        lines.append(
            f"  `tapewise ingest --format {name}` would load the lines of {name} and reject the others;"
            " `tapewise formats` lists all formats"
        )
    return lines


def _to_json(detection: Detection) -> dict[str, Any]:
    return {
        "path": str(detection.path),
        "format": None if detection.format is None else detection.format.name,
        "places": detection.places,
        "strip": None if detection.known_prefix is None else detection.known_prefix.pattern,
        "line_count": detection.line_count,
        "fits": [
            {"format": fit.format.name, "fit_count": fit.fit_count, "fit_ratio": fit.fit_ratio}
            for fit in detection.fits
        ],
    }
