"""How times are typed, read and shown, and which usage errors are reported."""

from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from tapewise.cli import cli
from tapewise.ingest.sources.site_events import show_time
from tapewise.schema.errors import MomentError
from tapewise.schema.moments import place_time

OUTAGE = ["outages", "add", "--archive", "west", "--kind", "scheduled", "--note", "x"]
CHANGE = ["config-changes", "add", "--archive", "west", "--note", "x"]


@pytest.mark.parametrize(
    "typed, zone, placed",
    [
        ("1998-10-19", "America/Los_Angeles", "1998-10-19T07:00:00Z"),
        ("1998-10-19T08:00", "Asia/Kathmandu", "1998-10-19T02:15:00Z"),
        ("1998-10-19T08:00:00.5Z", "Asia/Kathmandu", "1998-10-19T08:00:00.5Z"),
        # A time with an offset is unambiguous, even in an hour that the clock shows twice or never.
        ("1998-10-25T01:30-07:00", "America/Los_Angeles", "1998-10-25T08:30:00Z"),
        ("1998-10-25T01:30-08:00", "America/Los_Angeles", "1998-10-25T09:30:00Z"),
        ("1998-04-05T02:30-08:00", "America/Los_Angeles", "1998-04-05T10:30:00Z"),
        # The last moment before each of these hours, and the first after it.
        ("1998-10-25T00:59:59.999999", "America/Los_Angeles", "1998-10-25T07:59:59.999999Z"),
        ("1998-10-25T02:00", "America/Los_Angeles", "1998-10-25T10:00:00Z"),
        ("1998-04-05T01:59:59.999999", "America/Los_Angeles", "1998-04-05T09:59:59.999999Z"),
        ("1998-04-05T03:00", "America/Los_Angeles", "1998-04-05T10:00:00Z"),
    ],
)
def test_times_without_an_offset_are_in_the_archives_zone(typed, zone, placed):
    assert place_time(datetime.fromisoformat(typed), zone) == datetime.fromisoformat(placed)


@pytest.mark.parametrize(
    "typed, message, hint",
    [
        ("1998-10-25T01:00",
         "1998-10-25 01:00:00 occurs twice in America/Los_Angeles: clocks are put back then",
         "Give the time with its offset: 1998-10-25T01:00:00-07:00 or 1998-10-25T01:00:00-08:00."),
        ("1998-10-25T01:59:59",
         "1998-10-25 01:59:59 occurs twice in America/Los_Angeles: clocks are put back then",
         "Give the time with its offset: 1998-10-25T01:59:59-07:00 or 1998-10-25T01:59:59-08:00."),
        ("1998-04-05T02:00",
         "1998-04-05 02:00:00 does not occur in America/Los_Angeles: clocks are put forward then",
         "Give the time with its offset: 1998-04-05T02:00:00-08:00 or 1998-04-05T02:00:00-07:00."),
    ],
)  # fmt: skip
def test_times_that_the_clock_shows_twice_or_never_are_refused(typed, message, hint):
    with pytest.raises(MomentError) as caught:
        place_time(datetime.fromisoformat(typed), "America/Los_Angeles")
    assert (caught.value.message, caught.value.hint) == (message, hint)


@pytest.mark.parametrize(
    "moment, shown",
    [
        (datetime(1998, 10, 25, 9, 30, tzinfo=UTC), "1998-10-25T01:30-08:00"),
        (datetime(1998, 10, 25, 8, 30, 1, tzinfo=UTC), "1998-10-25T01:30:01-07:00"),
        (datetime(1998, 10, 25, 8, 30, 0, 1, tzinfo=UTC), "1998-10-25T01:30:00.000001-07:00"),
    ],
)
def test_times_can_be_typed_as_they_are_shown(moment, shown):
    assert show_time(moment, "America/Los_Angeles") == shown
    assert place_time(datetime.fromisoformat(shown), "Asia/Kathmandu") == moment


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([*CHANGE, "--kind", "tape-only"], "Error: --kind tape-only needs --class-of-service.\n"),
        ([*CHANGE, "--kind", "tape only"], "'tape only' is not one of 'staging-bypass', 'tape-only',"),
        ([*OUTAGE, "--kind", "sudden", "--since", "1998-10-19"], "'sudden' is not one of 'scheduled',"),
        ([*OUTAGE], "Missing option '--since'"),
        ([*OUTAGE, "--since", "8:00"],
         "'--since': '8:00' is not a time: write 1998-10-19, 1998-10-19T08:00 or 1998-10-19T08:00-07:00\n"),
        ([*OUTAGE, "--since", "1998-02-30"], "'--since': '1998-02-30' is not a time"),
        ([*OUTAGE, "--since", "0098-10-19"], "'--since': '0098-10-19' is not between 1985 and 2199\n"),
        ([*OUTAGE, "--since", "1998-10-19", "--until", "2998-10-19"], "'2998-10-19' is not between"),
        ([*OUTAGE, "--since", "1998-10-19", "--note", "  "], "Invalid value for '--note': is empty\n"),
        ([*OUTAGE, "--since", "1998-10-19", "--note", "\udcff"], "'--note': is not valid UTF-8\n"),
        (["outages", "remove", "first"], "'first' is not a valid integer"),
    ],
)  # fmt: skip
def test_usage_errors_are_reported(arguments, message):
    result = CliRunner().invoke(cli, arguments, prog_name="tapewise")
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
