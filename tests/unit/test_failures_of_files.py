"""The error at the end of a command that could not load some of its files."""

from pathlib import Path

from tapewise.ingest.commands.output import IN_SIGHT, MOST_REASONS, sum_failures
from tapewise.schema.errors import LogFileError


def fail(number: int, reason: str) -> tuple[Path, LogFileError]:
    path = Path(f"/logs/{number}")
    return path, LogFileError(f"{path}: {reason}", hint="Give the day.")


def test_few_files_have_their_reasons_on_the_screen() -> None:
    error = sum_failures(dict([fail(1, "no day")]), IN_SIGHT, "loaded")
    assert error.message == f"1 of {IN_SIGHT} files not loaded"
    assert error.hint == "Give the day.\nThe others were read; see above."


def test_among_many_files_the_reasons_are_repeated() -> None:
    failures = dict([*(fail(number, "no day") for number in range(4)), fail(4, "an \x1b escape")])
    error = sum_failures(failures, 1401, "loaded")
    assert error.message == "5 of 1,401 files not loaded"
    assert (error.hint or "").splitlines() == [
        "4 files (/logs/0, /logs/1, /logs/2, ...): no day",
        "/logs/4: an \\x1b escape",
        "Give the day.",
        "The others were read; see above.",
    ]


def test_not_all_of_many_reasons_are_repeated() -> None:
    error = sum_failures(dict(fail(number, f"reason {number}") for number in range(30)), 30, "loaded")
    lines = (error.hint or "").splitlines()
    assert lines[MOST_REASONS - 1 :] == ["/logs/9: reason 9", "20 other reasons: see above.", "Give the day."]
