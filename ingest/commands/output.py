"""The results of reading files, as text for people and as JSON for programs."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from tapewise.ingest.loading.file_results import FileResult
from tapewise.ingest.nightly.run import SourceOutcome
from tapewise.schema.errors import LogFileError, TapewiseError
from tapewise.schema.texts import escape_controls, say_count

TEXT_WIDTH = 80
# A message about several files names so many of them.
MOST_NAMES = 3
# The messages about so many files are still on the screen.
IN_SIGHT = 20
MOST_REASONS = 10


def describe_result(result: FileResult, *, has_texts: bool = True) -> list[str]:
    """Describe the balance of a file: its lines by fate, the reasons, and the first rejected lines.

    Without `has_texts`, the texts of the rejected lines are left out, because they may contain names.
    """
    tally = result.tally
    lines = [
        f"{escape_controls(str(result.path))}: {say_count(tally.line_count, 'lines')}"
        f" = {tally.loaded_count:,} loaded + {tally.held_count:,} held + {tally.ignored.total():,} ignored"
        f" + {tally.rejected.total():,} rejected"
    ]
    if result.log_date is not None:
        lines.append(f"  {result.log_date.describe()}")
    if not tally.line_count and not result.waiting_bytes:
        lines.append("  empty: no line yet; it is read when it has grown")
    elif result.is_unchanged:
        lines.append("  unchanged since it was last read: nothing is counted twice")
    elif tally.held_count:
        held = "was" if tally.held_count == 1 else "were"
        lines.append(
            f"  held: {say_count(tally.held_count, 'lines')} {held} loaded before: nothing is counted twice"
        )
    lines += (
        _list("loaded", tally.loaded) + _list("ignored", tally.ignored) + _list("rejected", tally.rejected)
    )
    for number, reason, text in tally.rejected_samples:
        shown = f": {_shorten(text)!r}" if has_texts and text is not None else ""
        lines.append(f"    line {number:,}: {reason}{shown}")
    if result.waiting_bytes:
        lines.append(
            f"  waiting: an unfinished last line of {result.waiting_bytes:,} bytes was not read"
            " (--complete reads it now)"
        )
    return lines


def result_to_json(result: FileResult, *, has_texts: bool = True) -> dict[str, Any]:
    """The balance of a file: `line_count` = `loaded_count` + `held_count` + ignored + rejected.

    `rejected_samples` lists the first lines that this reading rejected, without their texts unless
    `has_texts`. `log_date` is the date that was assumed for the file, or null if its lines have dates.
    `log_date_from` says where that date comes from: name, --date or last reading.
    """
    tally, said = result.tally, result.log_date
    return {
        "path": str(result.path),
        "line_count": tally.line_count,
        "loaded_count": tally.loaded_count,
        "held_count": tally.held_count,
        "ignored": dict(sorted(tally.ignored.items())),
        "rejected": dict(sorted(tally.rejected.items())),
        "rejected_samples": [
            {"line_number": number, "reason": reason}
            | ({"text": _shorten(text)} if has_texts and text is not None else {})
            for number, reason, text in tally.rejected_samples
        ],
        "loaded": {table: count for table, count in tally.loaded.items() if count},
        "waiting_bytes": result.waiting_bytes,
        "log_date": None if said is None else said.day.isoformat(),
        "log_date_from": None if said is None else said.origin,
    }


def report_failure(path: Path, error: TapewiseError, *, as_json: bool = False) -> None:
    """Report on stderr, and with `as_json` also on stdout, that a file cannot be read or loaded."""
    if as_json:
        click.echo(json.dumps({"path": str(path), "error": error.message}))
    click.echo(f"tapewise: {escape_controls(error.message)}", err=True)


def report_alike(failures: Mapping[Path, TapewiseError], *, as_json: bool = False) -> None:
    """Report files that cannot be loaded; those for which the reason is the same share a line.

    With `as_json`, each is also reported on stdout.
    """
    if as_json:
        for path, error in failures.items():
            click.echo(json.dumps({"path": str(path), "error": error.message}))
    for reason, names in _group_alike(failures).items():
        click.echo(f"tapewise: {names}: {reason}", err=True)


def _group_alike(failures: Mapping[Path, TapewiseError]) -> dict[str, str]:
    """Return the names of the files by what is wrong with them."""
    alike: dict[str, list[Path]] = {}
    for path, error in failures.items():
        alike.setdefault(error.message.removeprefix(f"{path}: "), []).append(path)
    return {escape_controls(reason): _join_names(paths, "files") for reason, paths in alike.items()}


def _join_names(names: Sequence[object], things: str) -> str:
    joined = ", ".join(escape_controls(str(name)) for name in names[:MOST_NAMES])
    return joined if len(names) <= MOST_NAMES else f"{len(names):,} {things} ({joined}, ...)"


def join_hints(failures: Sequence[tuple[object, TapewiseError]], things: str = "files") -> list[str]:
    """Return the hints of failures, each once, with the names of what it is for unless it is for all."""
    alike: dict[str, dict[object, None]] = {}
    for name, failure in failures:
        if failure.hint:
            alike.setdefault(failure.hint, {})[name] = None
    all_names = dict(failures).keys()
    return [
        hint if names.keys() == all_names else f"{_join_names(list(names), things)}: {hint}"
        for hint, names in alike.items()
    ]


def sum_failures(failures: Mapping[Path, TapewiseError], file_count: int, done: str) -> LogFileError:
    """Return the error that a command raises at its end if some of its files were not `done`.

    Among more than a screen of files, what is wrong with each cannot be seen any more, so it is repeated.
    """
    hints = join_hints(list(failures.items()))
    if file_count > IN_SIGHT:
        reasons = [f"{names}: {reason}" for reason, names in _group_alike(failures).items()]
        if len(reasons) > MOST_REASONS:
            reasons[MOST_REASONS:] = [f"{len(reasons) - MOST_REASONS:,} other reasons: see above."]
        hints = reasons + hints
    if len(failures) < file_count:
        hints.append("The others were read; see above.")
    return LogFileError(
        f"{len(failures):,} of {say_count(file_count, 'files')} not {done}", hint="\n".join(hints) or None
    )


def describe_outcome(outcome: SourceOutcome) -> str:
    """Describe on one line what a round did for a source; line counts cover only the files it opened."""
    empty = f" ({outcome.empty_count:,} without a line yet)" if outcome.empty_count else ""
    files = [
        f"{say_count(outcome.read_count, 'files')} read{empty}",
        f"{outcome.untouched_count:,} untouched",
    ]
    if outcome.failures:
        files.append(f"{len(outcome.failures):,} FAILED")
    return (
        f"{outcome.archive}/{outcome.source}: {', '.join(files)}; {say_count(outcome.line_count, 'lines')}"
        f" = {outcome.loaded_count:,} loaded + {outcome.held_count:,} held"
        f" + {outcome.ignored_count:,} ignored + {outcome.rejected_count:,} rejected"
    )


def _shorten(text: str) -> str:
    return text if len(text) <= TEXT_WIDTH else text[: TEXT_WIDTH - 3] + "..."


def _list(fate: str, counts: Counter[str]) -> list[str]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    names = [(count, what.replace("_", " ")) for what, count in ordered if count]
    parts = [
        # What was loaded has the names of tables, which are plurals. The others are reasons.
        say_count(count, name) if fate == "loaded" else f"{count:,} {name}"
        for count, name in names
    ]
    return [f"  {fate}: {', '.join(parts)}"] if parts else []
