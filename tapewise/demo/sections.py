"""What the sections of the demo share: the archive they describe, and the layout of headings."""

from pathlib import Path

import click

EXAMPLES = (Path(__file__).parents[1] / "examples" / "logs").resolve()  # a symbolic link in a checkout
ARCHIVE = "example"


def say(heading: str) -> None:
    """Print the heading of a section."""
    click.secho(f"\n{heading}\n", bold=True)
