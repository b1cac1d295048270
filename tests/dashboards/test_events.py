"""Superset's log of events has what people did, and nothing of what charts asked."""

from tests.dashboards.api import Api
from tests.dashboards.test_freshness import ask
from tests.dashboards.test_refusals import run_sql


def count_events(admin: Api) -> int:
    reply = admin.get("api/v1/log/?q=(page_size:1)")
    assert reply.status == 200, reply.text
    return int(reply.json["count"])


def test_requests_for_data_are_left_out_of_the_log(admin: Api) -> None:
    count_events(admin)  # what asking for the log adds comes before
    before = count_events(admin)
    own_count = count_events(admin) - before
    ask(admin, "archives", ["archive", "kind"])
    assert count_events(admin) - before == 2 * own_count
    assert run_sql(admin, "SELECT 1 AS one").status == 200
    assert count_events(admin) - before > 3 * own_count
