"""The loop: classify requests, simulate the same requests on another machine, and compare the two."""

from contextlib import closing
from datetime import UTC, datetime

import click

from tapewise.clustering.archives import find_archive
from tapewise.clustering.names import format_bytes, format_seconds
from tapewise.clustering.storage import save_model
from tapewise.demo.sections import ARCHIVE, say
from tapewise.extras import find_missing
from tapewise.schema.database import Role, Warehouse
from tapewise.simulator.comparison_descriptions import describe_comparison
from tapewise.simulator.comparisons import read_comparison
from tapewise.simulator.descriptions import describe_run, get_run
from tapewise.simulator.inputs import read_archive_requests
from tapewise.simulator.machines import bundled_machine
from tapewise.tables import print_table

# The workload model of the archive's requests, and the simulation of those requests on another machine.
MODEL = "october"
MACHINE, SIMULATED, SEED = "llnl-unitree-1998", "example-on-llnl", 1


def show_classes(warehouse: Warehouse) -> None:
    """Fit a workload model, unless it exists already, and show its classes."""
    with closing(warehouse.connect(Role.READER, autocommit=True)) as reader:
        is_fitted = reader.execute("SELECT FROM mart.workload_models WHERE model = %s", [MODEL]).fetchone()
        if is_fitted is None:
            # scikit-learn takes a second to import; the other commands should not wait for it.
            from tapewise.clustering.fits import FitRequest, fit_model  # noqa: PLC0415

            model = fit_model(
                reader, find_archive(reader, ARCHIVE), FitRequest(MODEL, ARCHIVE), now=datetime.now(UTC)
            )
            with closing(warehouse.connect(Role.LOADER, autocommit=True)) as loader:
                save_model(loader, model)
        rows = reader.execute(
            """
            SELECT direction, class_name, request_count, request_ratio, size_ratio, centroid_size_bytes,
                centroid_time_s, cached_ratio
            FROM mart.workload_classes
            WHERE model = %s AND interface = 'nft'
            ORDER BY direction, class_number
            """,
            [MODEL],
        ).fetchall()
    shown = [
        [
            direction,
            name,
            count,
            f"{request_ratio:.1%}",
            f"{size_ratio:.1%}",
            f"{format_bytes(size_bytes)} in {format_seconds(time_s)}",
            "" if cached_ratio is None else f"{cached_ratio:.0%}",
        ]
        for direction, name, count, request_ratio, size_ratio, size_bytes, time_s, cached_ratio in rows
    ]
    print_table(["", "class", "requests", "of requests", "of bytes", "centre", "from disk"], shown)
    click.echo(
        "\nShares are of all requests of the archive. The model also describes their bursts, users and hours."
    )


def show_simulation(warehouse: Warehouse) -> None:
    """Simulate the archive's requests, unless that was done before, and show the result."""
    with closing(warehouse.connect(Role.READER)) as reader:
        is_run = reader.execute("SELECT FROM mart.simulation_runs WHERE archive = %s", [SIMULATED]).fetchone()
        given = read_archive_requests(reader, ARCHIVE)
    if is_run is None:
        # The compiler takes a second to import. Its first run on a machine takes up to half a minute.
        from tapewise.simulator.plans import keep_run, plan_run  # noqa: PLC0415

        click.echo("The first run on a machine compiles the simulator, which takes up to half a minute.\n")
        plan = plan_run(given, bundled_machine(MACHINE), seed=SEED)
        keep_run(warehouse, SIMULATED, plan, now=datetime.now(UTC))
    with closing(warehouse.connect(Role.READER)) as reader:
        click.echo("\n".join(describe_run(reader, get_run(reader, SIMULATED))))


def show_comparison(warehouse: Warehouse) -> None:
    """Compare the archive with the simulated one."""
    with closing(warehouse.connect(Role.READER, autocommit=True)) as reader:
        comparison = read_comparison(reader, ARCHIVE, SIMULATED)
    click.echo("\n".join(describe_comparison(comparison)))


# The heading of a section, the extra that it needs, and the function that shows it.
SECTIONS = (
    ("8. The workload: NFT's requests in classes, by k-means of their sizes and times",
     "workload", show_classes),
    ("9. A simulated fortnight: the same requests on the machine that LLNL had in 1998",
     "simulator", show_simulation),
    ("10. Where the two differ by more than chance: the same SQL over both", "simulator", show_comparison),
)  # fmt: skip


def show_loop(warehouse: Warehouse) -> None:
    """Show the three sections, and skip those that need an extra that is not installed."""
    for heading, extra, show in SECTIONS:
        say(heading)
        if missing := find_missing(extra):
            click.echo(f"Skipped: {missing.message}.\n{missing.hint}")
        else:
            show(warehouse)
