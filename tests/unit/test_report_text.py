"""How a report formats its numbers."""

import pytest

from tapewise.report.section import Answer
from tapewise.report.sections import mounts
from tapewise.report.text import describe_row, print_answers


@pytest.mark.parametrize(
    "step_s, shown",
    [
        (1.0, ["< 1 s", "< 1 s", "1 s", "", "1 s"]),
        (0.0, ["0 s", "0.999 s", "1 s", "", "0 s"]),
        (None, ["0 s", "0.999 s", "1 s", "", ""]),
    ],
)
def test_a_quantile_below_the_clock_resolution_is_shown_as_less_than_it(
    step_s: float | None, shown: list[str]
):
    quantiles = {"p5_s": 0.0, "p25_s": 0.999, "p50_s": 1.0, "p75_s": None}
    assert describe_row(quantiles | {"clock_step_s": step_s}) == shown


def test_a_mean_of_counts_has_decimals():
    row = {"transfer_count": 1234, "mean_transfer_count": 2.5, "other_count": 3.0}
    assert describe_row(row) == ["1,234", "2.50", "3"]


def test_a_table_says_unknown_for_a_drive_and_has_no_median_that_no_row_has(capsys: pytest.CaptureFixture):
    columns = ["drive", "mount_count", "file_count", "failed_count", "size_bytes"]
    columns += ["queue_p50_s", "mount_p50_s", "lazy_wait_p50_s"]
    rows = [("d1", 5, 7, 0, 10, None, 3.0, None), (None, 2, 0, 0, None, None, None, 4.0)]
    print_answers([Answer(mounts.SECTION, columns, rows)], {})
    lines = capsys.readouterr().out.splitlines()
    heads = next(line for line in lines if line.split()[:2] == ["drive", "mounts"])
    assert "median queue" not in heads and "median mount" in heads and "median lazy wait" in heads
    assert [line.split() for line in lines[-2:]] == [
        ["d1", "5", "7", "0", "10", "B", "3", "s"],
        ["unknown", "2", "0", "0", "not", "in", "the", "log", "4", "s"],
    ]
