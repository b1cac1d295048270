"""What a log lacks is named without what follows from it."""

import pytest

from tapewise.ingest.sources.coverage_facts import SIGNS, describe_lacking

KINDS = ["copies", "daily reports", "deletes", "jobs", "migrations", "opens", "renames", "srb sessions"]
KINDS += [
    "stages",
    "stage events",
    "cache reads",
    "starts",
    "mount summaries",
    "snapshots",
    "tape events",
    "transfers",
]


def test_an_empty_log_lacks_all_kinds_of_events():
    named = describe_lacking(SIGNS)
    assert set(KINDS) < set(named)
    assert set(named) - set(KINDS) == {"events", "lines", "user names"}
    assert named == sorted(named)


@pytest.mark.parametrize(
    ("lacking", "named"),
    [
        (
            ["open_times", "open_times_of_transfers", "users_of_transfers"],
            ["open times", "users of transfers"],
        ),
        (["transfers", "sizes", "durations", "whole_files", "users_of_transfers"], ["transfers"]),
        # Deletions have paths, and opens have users.
        (["transfers", "paths", "users", "open_times"], ["open times", "paths", "transfers", "users"]),
        (["transfers", "deletes", "paths"], ["deletes", "transfers"]),
        (["transfers", "opens", "open_times"], ["opens", "transfers"]),
        (["transfers", "opens", "jobs", "users"], ["jobs", "opens", "transfers", "users"]),
        (["transfers", "opens", "jobs", "starts", "users"], ["jobs", "opens", "starts", "transfers"]),
        (["opens", "hits"], ["hits", "opens"]),
        (["opens", "starts", "hits"], ["opens", "starts"]),
        (["sizes"], ["sizes"]),
        ([], []),
    ],
)
def test_what_belongs_to_missing_events_is_not_named(lacking, named):
    assert describe_lacking(lacking) == named
