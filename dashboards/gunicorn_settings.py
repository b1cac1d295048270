"""gunicorn's settings, with `make dashboards` and in the container, where `gunicorn --config` names this."""

from typing import Any

from warming import start_warming

# There is one process, because its threads share what it keeps in memory.
workers = 1
worker_class = "gthread"
threads = 8
timeout = 120  # s; more than SUPERSET_WEBSERVER_TIMEOUT


def post_worker_init(worker: Any) -> None:
    """Begin when Superset is ready to answer."""
    start_warming(worker.wsgi)
