"""The workload classes of a report about files, whose archive has no model yet."""

from contextlib import closing
from datetime import UTC, datetime

from tapewise.extras import find_missing
from tapewise.report.section import Scope
from tapewise.schema.database import Role, Warehouse
from tapewise.schema.errors import WorkloadError


def store_model(warehouse: Warehouse, scope: Scope) -> None:
    """Fit a workload model to the transfers of `scope`, from `recent_since` on, and store it.

    Bursts are left out, because a report does not show them and they take most of the time. Nothing is
    stored if the extra `[workload]` is missing, or if no request can be put into a class.
    """
    if find_missing("workload"):
        return
    # scikit-learn takes a second to load, and is not always installed.
    from tapewise.clustering.archives import find_archive
    from tapewise.clustering.fits import FitRequest, fit_model
    from tapewise.clustering.storage import save_model

    request = FitRequest(
        name=scope.archive,
        archive=scope.archive,
        since=scope.recent_since or scope.since,
        until=scope.until,
        has_bursts=False,
    )
    try:
        with closing(warehouse.connect(Role.READER, autocommit=True)) as reader:
            archive = find_archive(reader, scope.archive)
            model = fit_model(reader, archive, request, now=datetime.now(UTC))
    except WorkloadError:
        return
    with closing(warehouse.connect(Role.LOADER, autocommit=True)) as loader:
        save_model(loader, model)
