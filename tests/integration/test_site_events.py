"""Events that people record for an archive are kept as entered, once, and dropped with the archive."""

import threading
from datetime import UTC, datetime

import pytest

from tapewise.ingest.sources.archives import drop_archive
from tapewise.ingest.sources.site_events import CONFIG_CHANGES, OUTAGES, add_event, list_events, remove_event
from tapewise.schema.database import Role
from tapewise.schema.errors import LookupFailedError, MomentError, SiteEventError
from tests.sql.cases import insert_rows

ARCHIVES = [
    {"name": "east", "timezone": "Asia/Kathmandu"},
    {"name": "west", "timezone": "America/Los_Angeles"},
]
EIGHT = datetime(1998, 10, 19, 8)
NOON = datetime(1998, 10, 19, 12)


@pytest.fixture
def loader(warehouse):
    """The loading role's connection to a warehouse with two archives."""
    with warehouse.connect(Role.OWNER) as connection:
        insert_rows(connection, {"archives": ARCHIVES, "transfers": [{"archive": "west"}]})
    with warehouse.connect(Role.LOADER) as connection:
        yield connection


def add(connection, table=OUTAGES, **changes):
    given = {"archive": "west", "kind": table.kinds[0], "since": EIGHT, "until": NOON, "note": "a note"}
    return add_event(connection, table, **given | changes)


@pytest.mark.parametrize("table", [OUTAGES, CONFIG_CHANGES], ids=lambda table: table.name)
def test_events_are_kept_as_entered(loader, warehouse, table):
    now = datetime.now(UTC)
    late = add(loader, table)
    open_ended = add(loader, table, until=None, since=datetime(1998, 10, 18), kind=table.kinds[1])
    elsewhere = add(loader, table, archive="east", note="\x1b")
    # Events are committed, and ordered by archive and start.
    with warehouse.connect() as other:
        assert list_events(other, table) == [elsewhere, open_ended, late]
        assert list_events(other, table, "west") == [open_ended, late]
    assert (late.started_at, late.ended_at) == (
        datetime(1998, 10, 19, 15, tzinfo=UTC),
        datetime(1998, 10, 19, 19, tzinfo=UTC),
    )
    assert elsewhere.started_at == datetime(1998, 10, 19, 2, 15, tzinfo=UTC)
    assert (open_ended.ended_at, open_ended.kind, elsewhere.note) == (None, table.kinds[1], "\x1b")
    assert abs((late.recorded_at - now).total_seconds()) < 60
    assert remove_event(loader, table, late.id) == late
    with warehouse.connect() as other:
        assert list_events(other, table) == [elsewhere, open_ended]


def test_the_two_tables_do_not_mix(loader):
    outage = add(loader)
    change = add(loader, CONFIG_CHANGES, class_of_service="4", since=None)
    assert list_events(loader, OUTAGES) == [outage]
    assert list_events(loader, CONFIG_CHANGES) == [change]
    assert change.class_of_service == "4"
    assert change.started_at == datetime(1985, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize("table", [OUTAGES, CONFIG_CHANGES], ids=lambda table: table.name)
def test_the_same_event_is_not_recorded_twice(loader, table):
    held = add(loader, table)
    with pytest.raises(SiteEventError) as caught:
        # This is the same instant, written differently.
        add(loader, table, since=datetime(1998, 10, 19, 15, tzinfo=UTC))
    assert caught.value.message == f"this {table.noun} is already recorded, as number {held.id}"
    for change in (
        {"archive": "east"},
        {"kind": table.kinds[1]},
        {"note": "another note"},
        {"until": None},
        {"since": datetime(1998, 10, 19, 8, 1)},
    ):
        add(loader, table, **change)
    if table.has_class_of_service:
        add(loader, table, class_of_service="4")
        with pytest.raises(SiteEventError):
            add(loader, table, class_of_service="4")
    with pytest.raises(SiteEventError):
        add(loader, table, until=None)


def test_two_simultaneous_commands_record_the_same_event_once(loader, warehouse):
    with loader.transaction():
        held = add(loader)
        refused = []

        def add_too():
            with warehouse.connect() as other, pytest.raises(SiteEventError) as caught:
                add(other)
            refused.append(caught.value.message)

        thread = threading.Thread(target=add_too)
        thread.start()
        thread.join(0.5)
        assert not refused  # it waits
    thread.join()
    assert refused == [f"this outage is already recorded, as number {held.id}"]


@pytest.mark.parametrize(
    "since, until, message",
    [
        (NOON, NOON,
         "the outage would end at 1998-10-19T12:00-07:00, which is not after its start at"
         " 1998-10-19T12:00-07:00"),
        (NOON, EIGHT,
         "the outage would end at 1998-10-19T08:00-07:00, which is not after its start at"
         " 1998-10-19T12:00-07:00"),
        # This is later by the clock, but not in fact.
        (datetime.fromisoformat("1998-10-25T01:10-08:00"), datetime.fromisoformat("1998-10-25T01:50-07:00"),
         "the outage would end at 1998-10-25T01:50-07:00, which is not after its start at"
         " 1998-10-25T01:10-08:00"),
        (datetime(1998, 10, 25, 1, 30), None,
         "1998-10-25 01:30:00 occurs twice in America/Los_Angeles: clocks are put back then"),
        (EIGHT, datetime(1999, 4, 4, 2, 30),
         "1999-04-04 02:30:00 does not occur in America/Los_Angeles: clocks are put forward then"),
    ],
)  # fmt: skip
def test_impossible_times_are_refused(loader, since, until, message):
    with pytest.raises((SiteEventError, MomentError)) as caught:
        add(loader, since=since, until=until)
    assert caught.value.message == message
    assert list_events(loader, OUTAGES) == []


def test_an_unknown_archive_or_number_is_reported(loader):
    for call in (
        lambda: add(loader, archive="nothing"),
        lambda: list_events(loader, CONFIG_CHANGES, "nothing"),
    ):
        with pytest.raises(LookupFailedError) as caught:
            call()
        assert caught.value.message == "no archive is called 'nothing'"
        assert caught.value.hint == "`tapewise archives list` shows them."
    with pytest.raises(LookupFailedError) as caught:
        remove_event(loader, CONFIG_CHANGES, 7)
    assert caught.value.message == "no configuration change has number 7"
    assert caught.value.hint == "`tapewise config-changes list` shows them."


def test_dropping_an_archive_drops_its_recorded_events(loader, warehouse):
    kept = [add(loader, table, archive="east") for table in (OUTAGES, CONFIG_CHANGES)]
    for table in (OUTAGES, CONFIG_CHANGES):
        add(loader, table)
    with warehouse.connect(Role.OWNER) as owner:
        assert drop_archive(owner, "west") == 1  # only what was read from logs counts
        assert list_events(owner, OUTAGES) + list_events(owner, CONFIG_CHANGES) == kept


def test_an_outage_being_recorded_does_not_prevent_dropping_the_archive(loader, warehouse):
    dropped = []

    def drop():
        with warehouse.connect(Role.OWNER) as owner:
            dropped.append(drop_archive(owner, "west"))

    with loader.transaction():
        add(loader)
        thread = threading.Thread(target=drop)
        thread.start()
        thread.join(0.5)
        assert not dropped  # it waits
    thread.join()
    assert dropped == [1]
    assert list_events(loader, OUTAGES) == []
