"""What the sections of the demo share: the archive that they are about, and their headings."""

from pathlib import Path

import click

EXAMPLES = (Path(__file__).parents[1] / "examples" / "logs").resolve()  # in a checkout, behind a link
ARCHIVE = "example"


def say(heading: str) -> None:
    """Begin a section."""
    click.secho(f"\n{heading}\n", bold=True)
