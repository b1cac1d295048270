"""`tapewise simulate figure-4-1`: LLNL's study of the user limit, next to what was published."""

import json

import click


@click.command(name="figure-4-1")
@click.option(
    "--seeds",
    "seed_count",
    type=click.IntRange(1, 1000),
    default=20,
    show_default=True,
    help="How many made-up fortnights to run.",
)
@click.option(
    "--jobs", "job_count", type=click.IntRange(1), help="Processes at a time.  [default: one per core]"
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per run, each on its own line.")
def figure(seed_count: int, job_count: int | None, as_json: bool) -> None:
    """Repeat LLNL's figure 4-1: the hours that jobs lose if a user may have 20 transfers at a time, not 10.

    The requests are made-up fortnights with the counts and mean sizes of the source, on its machine. The
    table shows the published hours next to ours, and by how much we miss them.

    Example: tapewise simulate figure-4-1
    """
    # The compiler takes seconds to load; the other commands need not wait for it.
    from tapewise.simulator.figures import describe_figure, make_grid  # noqa: PLC0415
    from tapewise.simulator.grids import run_grid  # noqa: PLC0415

    grid = make_grid(seed_count)
    results = sorted(run_grid(grid, job_count=job_count), key=lambda each: (each.seed, each.variant))
    if as_json:
        for each in results:
            changed = grid.variants[each.variant].changed
            click.echo(json.dumps({"changed": changed, "seed": each.seed, **each.figures}))
        return
    click.echo("\n".join(describe_figure(grid, results)))
