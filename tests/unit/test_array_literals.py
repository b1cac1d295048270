"""Columns become PostgreSQL's literals for arrays."""

from datetime import UTC, date, datetime

import polars as pl

from tapewise.schema.writing.array_literals import write_literals


def test_texts_are_quoted_and_nulls_are_not() -> None:
    frame = pl.DataFrame(
        {
            "text": ["a", None, "NULL", 'say "no"', "back\\slash", "", "{1,2}"],
            "number": [1, None, -3, 4, 5, 6, 7],
            "is_set": [True, False, None, True, True, True, True],
            "day": [date(2004, 6, 30), None, *[date(2004, 7, 1)] * 5],
            "at": [datetime(2004, 6, 30, 1, tzinfo=UTC)] * 7,
        }
    )
    texts, numbers, flags, days, times = write_literals(frame)
    assert texts == r'{"a",NULL,"NULL","say \"no\"","back\\slash","","{1,2}"}'
    assert numbers == "{1,NULL,-3,4,5,6,7}"
    assert flags == "{true,false,NULL,true,true,true,true}"
    assert days == "{2004-06-30,NULL" + ",2004-07-01" * 5 + "}"
    assert times == "{" + ",".join(['"2004-06-30T01:00:00.000000+00:00"'] * 7) + "}"
    assert write_literals(frame.clear()) == ["{}"] * 5
