"""The periods that are compared: what was typed, and what is refused."""

from datetime import UTC, datetime
from unittest.mock import create_autospec

import click
import psycopg
import pytest

from tapewise.schema.errors import MomentError
from tapewise.simulator.periods import Period, TypedChange, find_periods, place_periods

AUGUST, SEPTEMBER = datetime(1998, 8, 1), datetime(1998, 9, 1)
ZONE = "America/Los_Angeles"


def test_periods_follow_the_clock_of_the_archive() -> None:
    before, after = place_periods((AUGUST, SEPTEMBER), (datetime(1998, 9, 1), datetime(1998, 12, 1)), ZONE)
    assert before == Period(datetime(1998, 8, 1, 7, tzinfo=UTC), datetime(1998, 9, 1, 7, tzinfo=UTC))
    assert after == Period(datetime(1998, 9, 1, 7, tzinfo=UTC), datetime(1998, 12, 1, 8, tzinfo=UTC))
    before, after = place_periods((None, AUGUST), (SEPTEMBER, None), "UTC")
    assert before == Period(None, AUGUST.replace(tzinfo=UTC))
    assert after == Period(SEPTEMBER.replace(tzinfo=UTC), None)


@pytest.mark.parametrize(
    ("before", "after", "option", "message"),
    [
        ((SEPTEMBER, AUGUST), (SEPTEMBER, None), "--before", "must end later than it begins"),
        ((AUGUST, AUGUST), (SEPTEMBER, None), "--before", "must end later than it begins"),
        ((None, AUGUST), (SEPTEMBER, AUGUST), "--after", "must end later than it begins"),
        ((AUGUST, None), (SEPTEMBER, None), "--before", "needs an end"),
        ((None, AUGUST), (None, SEPTEMBER), "--after", "needs a beginning"),
        ((None, SEPTEMBER), (AUGUST, None), "--after", "must not begin before --before ends"),
    ],
)
def test_periods_that_cannot_be_compared_are_refused_by_their_option(
    before: tuple[datetime | None, datetime | None],
    after: tuple[datetime | None, datetime | None],
    option: str,
    message: str,
) -> None:
    with pytest.raises(click.BadParameter, match=message) as caught:
        place_periods(before, after, ZONE)
    assert caught.value.param_hint == f"'{option}'"


def test_a_time_that_occurs_twice_is_refused_in_a_period() -> None:
    with pytest.raises(MomentError, match="occurs twice"):
        place_periods((None, datetime(1998, 10, 25, 1, 30)), (datetime(1998, 11, 1), None), ZONE)


def test_a_change_is_a_number_or_a_time() -> None:
    assert TypedChange().convert("7", None, None) == 7
    assert TypedChange().convert("19980908", None, None) == datetime(1998, 9, 8)
    assert TypedChange().convert("1998-09-08", None, None) == datetime(1998, 9, 8)
    with pytest.raises(click.BadParameter, match="'seven' is not a time"):
        TypedChange().convert("seven", None, None)


def test_days_around_a_time_are_local_days() -> None:
    connection = create_autospec(psycopg.Connection, instance=True)
    before, after = find_periods(connection, "sdsc", datetime(1998, 10, 24), 2, ZONE)
    assert before == Period(datetime(1998, 10, 22, 7, tzinfo=UTC), datetime(1998, 10, 24, 7, tzinfo=UTC))
    # The 25th has 25 hours.
    assert after == Period(datetime(1998, 10, 24, 7, tzinfo=UTC), datetime(1998, 10, 26, 8, tzinfo=UTC))
    connection.execute.assert_not_called()
