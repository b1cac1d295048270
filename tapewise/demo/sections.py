"""What the sections of the demo share: the archive that they are about, and their headings."""

from pathlib import Path

import click

EXAMPLES = Path(__file__).parents[2] / "examples" / "logs"
ARCHIVE = "example"


def say(heading: str) -> None:
    """Begin a section."""
    click.secho(f"\n{heading}\n", bold=True)
