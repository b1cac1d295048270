"""Links between lines of different logs that report the same request. A reader must find these links."""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import ClassVar

from tapewise.examples.machine import Record
from tapewise.examples.unitree import Attempt, Job, Stage, UniTree
from tapewise.examples.writers import Line


@dataclass(slots=True)
class Link:
    """One put or get of UniTree and the numbers of its lines.

    A line that is broken or was never written has None as its number. `waited_s` is the time from the start
    of the job to the start of the transfer.
    """

    COLUMNS: ClassVar = (
        "operation", "origin", "nft_line", "cond_file", "cond_line", "stat_line", "stage_line",
        "attempt_lines", "waited_s",
    )  # fmt: skip

    job: Job
    nft_line: int | None = None
    cond_file: str | None = None
    cond_line: int | None = None
    stat_line: int | None = None
    stage_line: int | None = None
    attempt_lines: list[int] = field(default_factory=list)
    waited_s: float | None = None

    @property
    def origin(self) -> str:
        """Where a get's file was; empty for puts."""
        if self.job.operation == "put":
            return ""
        return "tape" if self.job.stage else "disk"

    @property
    def reported_by(self) -> str:
        """The kinds of lines that report it: `transfer` is in NFT's log, `twin` is its copy in STAT."""
        lines = {
            "job": self.cond_line,
            "stage": self.stage_line,
            "attempt": self.attempt_lines,
            "transfer": self.nft_line,
            "twin": self.stat_line,
        }
        return ", ".join(name for name, line in lines.items() if line)

    def to_row(self) -> list[object]:
        """Return the values of `COLUMNS`."""
        attempts = " ".join(map(str, self.attempt_lines))
        waited = None if self.waited_s is None else f"{self.waited_s:.3f}"
        return [
            self.job.operation, self.origin, self.nft_line, self.cond_file, self.cond_line, self.stat_line,
            self.stage_line, attempts, waited,
        ]  # fmt: skip


def find_links(logs: dict[str, list[Line]], tree: UniTree) -> list[Link]:
    """Find the lines of each put and get in the finished logs; requests without lines are left out."""
    links = {job: Link(job) for job in tree.jobs if job.is_request}
    by_record: dict[Record, Link] = {job.record: link for job, link in links.items() if job.record}
    for record, link in by_record.items():
        link.waited_s = tree.server_s(record, record.requested_s) - link.job.started_s
    numbered: defaultdict[str, list[tuple[str, int, Line]]] = defaultdict(list)
    for name, lines in logs.items():
        numbered[name.split(".")[0]] += [(name, number, line) for number, line in enumerate(lines, start=1)]
    for _, number, line in numbered["nft"]:
        if line.record in by_record:
            by_record[line.record].nft_line = number
    for name, number, line in numbered["cond"]:
        if line.job in links:
            links[line.job].cond_file, links[line.job].cond_line = name, number
    for _, number, line in numbered["stat"]:
        if line.job in links:
            _add_stat_line(links[line.job], line, number)
    return [link for link in links.values() if link.reported_by]


def _add_stat_line(link: Link, line: Line, number: int) -> None:
    if isinstance(line.part, Stage):
        link.stage_line = number
    elif isinstance(line.part, Attempt):
        link.attempt_lines.append(number)
    else:
        link.stat_line = number
