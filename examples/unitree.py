"""UniTree behind NFT and FTP: the jobs, stages and failed attempts of the transfers in NFT's log.

The records of `archive` say when each transfer ran. This module works out what came before: whether the file
had to be staged from tape, which attempts had failed, and how long the job had been waiting. It also adds
jobs that NFT's log does not contain. NFT's stamps are in the client machines' time; all times here are by the
server's clock.
"""

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import count

from tapewise.examples.chance import Chance
from tapewise.examples.machine import (
    KEPT_ON_DISK_S,
    STAGE_LAWS,
    UNITREE_HIT_RATIO_NEW,
    UNITREE_HIT_RATIO_OLD_LARGE,
    UNITREE_HIT_RATIO_OLD_SMALL,
    UNITREE_SMALL_BYTES,
    Record,
)
from tapewise.examples.wallclock import CLOCK_CHANGE_S, DURATION_S, is_writing, moments_of_midnight

# Personas are process numbers. Other programs use most of them, so they wrap around every ten hours.
PERSONAS = range(1000, 20000)
_PERSONAS_PER_S = 0.5

RETRY_RATIO = 0.012
# Jobs that never became transfers, and jobs that move nothing.
FAILED_JOB_COUNT, STAGED_IN_VAIN_COUNT, DIR_JOB_COUNT, DEL_JOB_COUNT = 40, 14, 110, 60
# How many jobs have a logged start a little after their end, and how long a job may wait across midnight.
WRONG_START_COUNT = 24
LONGEST_WAIT_S = 7200.0
_ERRORS = ("-192 (Ftp 1000)", "-192 (Ftp 426)", "-110 (Ftp 1000)", "-5 (Ftp 550)")


@dataclass(frozen=True, slots=True)
class Attempt:
    """A transfer that failed."""

    ended_s: float
    duration_s: float
    size_bytes: int
    errors: str


@dataclass(frozen=True, slots=True)
class Stage:
    """A file brought from tape to disk."""

    ended_s: float
    duration_s: float


@dataclass(slots=True, eq=False)
class Job:
    """A job of UniTree: one file, or a request that moves no file.

    `like` is the record that the job came from or was modelled on; `record` is the same record if there was a
    transfer. `wrong_start_s` is the logged start if it is wrong.
    """

    like: Record
    operation: str
    description: str
    started_s: float
    ended_s: float
    record: Record | None = None
    stage: Stage | None = None
    attempts: list[Attempt] = field(default_factory=list)
    wrong_start_s: float | None = None
    persona: int = 0
    session: int = 0
    number: int = 0

    @property
    def is_request(self) -> bool:
        """Whether it asks to move a file between a client and the archive."""
        return self.operation in ("put", "get")

    @property
    def started_as_written_s(self) -> float:
        """The start as logged."""
        return self.started_s if self.wrong_start_s is None else self.wrong_start_s


@dataclass(frozen=True)
class UniTree:
    """The jobs, in the order of their starts, and how far the server's clock is ahead of each machine's."""

    jobs: list[Job]
    ahead_s: dict[str, float]

    def server_s(self, record: Record, time_s: float) -> float:
        """The time on the server's clock when the clock of the record's machine showed `time_s`."""
        return time_s + self.ahead_s[record.batch.user.host]


def run_unitree(records: Iterable[Record], seed: int) -> UniTree:
    """Work out what UniTree did for NFT's and FTP's records, except for transfers between other machines."""
    served = [record for record in records if record.batch.operation != "elsewhere"]
    chance = Chance(seed, "unitree")
    hosts = sorted({record.batch.user.host for record in served})
    tree = UniTree([], {host: round(chance.uniform(0.0, 0.95), 3) for host in hosts})
    staged = _choose_staged(served, chance)
    tree.jobs.extend(_job_of(record, tree, record in staged, chance) for record in served)
    _keep_waiting(tree.jobs)
    written = [record for record in served if is_writing(record.ended_s)]
    tree.jobs.extend(_jobs_without_transfer(written, chance))
    tree.jobs.sort(key=lambda job: job.started_s)
    _spoil_starts(tree.jobs, chance)
    _number(tree.jobs, chance)
    return tree


def _choose_staged(records: list[Record], chance: Chance) -> set[Record]:
    """Choose the gets whose file is only on tape."""
    staged = set()
    last_used_s: dict[str, float] = {}
    for record in sorted(records, key=lambda record: record.requested_s):
        path, operation = record.file.path, record.batch.operation
        if operation == "get":
            used_s = last_used_s.get(path)
            if used_s is None or record.requested_s - used_s > KEPT_ON_DISK_S:
                is_small = record.file.size_bytes < UNITREE_SMALL_BYTES
                old = UNITREE_HIT_RATIO_OLD_SMALL if is_small else UNITREE_HIT_RATIO_OLD_LARGE
                if not chance.happens(old if record.file.is_old else UNITREE_HIT_RATIO_NEW):
                    staged.add(record)
        if operation in ("put", "get"):
            last_used_s[path] = max(record.ended_s, last_used_s.get(path, record.ended_s))
    return staged


def _stage_duration_s(chance: Chance) -> float:
    law = STAGE_LAWS[0] if chance.happens(STAGE_LAWS[0].ratio) else STAGE_LAWS[1]
    while (beyond_s := chance.exponential(law.mean_s)) >= law.limit_s:
        pass
    return law.least_s + beyond_s


def _job_of(record: Record, tree: UniTree, is_staged: bool, chance: Chance) -> Job:
    """Work backwards from a transfer to the start of its job."""
    operation, path = record.batch.operation, record.file.path
    description = {"put": f"put -d {path}", "get": f"get {path}", "copy": f"copy {path} {record.new_path}"}
    time_s = tree.server_s(record, record.requested_s) - record.open_s
    attempts: list[Attempt] = []
    if operation != "copy" and chance.happens(RETRY_RATIO):
        for _ in range(min(chance.count(1.2), 3)):
            attempt = _failed_attempt(record, time_s - chance.uniform(2.0, 20.0), chance)
            attempts.insert(0, attempt)
            time_s = attempt.ended_s - attempt.duration_s
    stage = None
    if is_staged:
        stage = Stage(time_s - chance.uniform(0.0, 0.3), _stage_duration_s(chance))
        time_s = stage.ended_s - stage.duration_s
    # Most jobs start at once; some wait for a drive, or until other jobs of their user are done.
    queue_s = 0.1 + chance.exponential(0.6)
    if chance.happens(0.12 if is_staged else 0.03):
        queue_s += chance.exponential(180.0 if is_staged else 40.0)
    ended_s = tree.server_s(record, record.ended_s) + 0.02 + chance.exponential(0.12)
    return Job(record, operation, description[operation], time_s - queue_s, ended_s, record, stage, attempts)


def _failed_attempt(record: Record, ended_s: float, chance: Chance) -> Attempt:
    duration_s = 0.1 + chance.exponential(1.5)
    # The bytes moved before the attempt failed, at up to 2 MB/s, and always less than the whole file.
    size_bytes = min(int(duration_s * 2e6 * chance.uniform()), record.file.size_bytes * 9 // 10)
    return Attempt(ended_s, duration_s, size_bytes, chance.pick(_ERRORS))


def _keep_waiting(jobs: list[Job]) -> None:
    """Find the first get from tape after each midnight, and move its start to before that midnight."""
    for midnight_s in moments_of_midnight():
        late = [
            job
            for job in jobs
            if job.operation == "get" and job.stage and 0 < job.ended_s - midnight_s < LONGEST_WAIT_S - 60
        ]
        if late:
            first = min(late, key=lambda job: job.ended_s)
            first.started_s = min(first.started_s, midnight_s - 41.5)


def _jobs_without_transfer(written: list[Record], chance: Chance) -> Iterator[Job]:
    """Make jobs that are not in NFT's log; each follows a logged job of the same user after a while."""
    moved = [record for record in written if record.batch.operation in ("put", "get")]
    for _ in range(FAILED_JOB_COUNT):
        record, starts_s = _moment_after(moved, chance)
        stage = None
        if record.batch.operation == "get" and chance.happens(0.4):
            duration_s = _stage_duration_s(chance)
            stage = Stage(starts_s + chance.exponential(1.0) + duration_s, duration_s)
        time_s = stage.ended_s if stage else starts_s
        attempts: list[Attempt] = []
        for _ in range(min(chance.count(1.5), 3)):
            attempt = _failed_attempt(record, 0.0, chance)
            time_s += chance.uniform(1.0, 5.0) + attempt.duration_s
            attempts.append(Attempt(time_s, attempt.duration_s, attempt.size_bytes, attempt.errors))
        job = _lone_job(record, record.batch.operation, starts_s, time_s + chance.exponential(0.2))
        job.stage, job.attempts = stage, attempts
        yield job
    got = [record for record in moved if record.batch.operation == "get"]
    for rank in range(STAGED_IN_VAIN_COUNT):
        record, starts_s = _moment_after(got, chance)
        if rank == 0:
            # No stage takes less than a minute, so the clock is put back during this one.
            starts_s = CLOCK_CHANGE_S - 40.5
        duration_s = _stage_duration_s(chance)
        stage = Stage(starts_s + chance.exponential(1.0) + duration_s, duration_s)
        job = _lone_job(record, "get", starts_s, stage.ended_s + chance.exponential(3.0))
        job.stage = stage
        yield job
    for operation, job_count in (("dir", DIR_JOB_COUNT), ("del", DEL_JOB_COUNT)):
        for _ in range(job_count):
            record, starts_s = _moment_after(written, chance)
            yield _lone_job(record, operation, starts_s, starts_s + chance.exponential(0.7))


def _moment_after(records: list[Record], chance: Chance) -> tuple[Record, float]:
    while True:
        record = chance.pick(records)
        starts_s = record.ended_s + chance.uniform(5.0, 900.0)
        if is_writing(starts_s) and is_writing(starts_s + 900.0) and starts_s + 900.0 < DURATION_S:
            return record, starts_s


def _lone_job(like: Record, operation: str, started_s: float, ended_s: float) -> Job:
    path = like.batch.family.folder if operation == "dir" else like.file.path
    flag = "-d " if operation == "put" else ""
    return Job(like, operation, f"{operation} {flag}{path}", started_s, ended_s)


def _spoil_starts(jobs: list[Job], chance: Chance) -> None:
    """Give some jobs a logged start after their end, as in LLNL's COND files."""
    candidates = [job for job in jobs if job.record and job.is_request]
    for _ in range(WRONG_START_COUNT):
        job = candidates.pop(chance.integer(0, len(candidates) - 1))
        job.wrong_start_s = job.ended_s + 1.0 + chance.exponential(2.0)


def _number(jobs: list[Job], chance: Chance) -> None:
    """Number the jobs (in the order of their starts): personas, sessions, and jobs within a session."""
    taken_count = chance.integer(0, len(PERSONAS))
    for job in jobs:
        taken_count += chance.integer(1, 2)
        job.persona = PERSONAS[(taken_count + int(job.started_s * _PERSONAS_PER_S)) % len(PERSONAS)]
    sessions: dict[tuple[str, str, int], list[Job]] = {}
    for job in jobs:
        batch = job.like.batch
        sessions.setdefault((batch.user.name, batch.interface, batch.process_id), []).append(job)
    # A session takes the lowest free number, and keeps it until its last job has ended.
    new_numbers, free, held = count(), list[int](), list[tuple[float, int]]()
    for members in sessions.values():
        while held and held[0][0] < members[0].started_s:
            heapq.heappush(free, heapq.heappop(held)[1])
        session = heapq.heappop(free) if free else next(new_numbers)
        heapq.heappush(held, (max(job.ended_s for job in members), session))
        for number, job in enumerate(members, start=1):
            job.session, job.number = session, number
