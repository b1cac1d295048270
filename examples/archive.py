"""The archive: queues for ports, shared networks and tapes, and the outcome of every request.

The times in the logs come from this module. A transfer waits for a port, spends its latency there, then
moves its bytes while sharing the network's rate with other transfers. A lone transfer from a fast client lies
on the lower envelope `latency + slope * size` of its law, apart from a small scatter in latency. Any time
above that comes from waiting, sharing and slow clients.
"""

import heapq
import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from tapewise.examples.chance import Chance
from tapewise.examples.machine import (
    DISK_OPEN_LIMIT_S,
    DISK_OPEN_MODE_S,
    DISK_OPEN_SIGMA,
    HIT_RATIO_NEW,
    HIT_RATIO_OLD,
    LATENCY_SCATTER_RATIO,
    LAWS,
    LIBRARY_OPEN_S,
    NETWORKS,
    REREAD_RATIO,
    SHELF_OPEN_MINIMUM_S,
    SHELF_RATIO_OLD,
    TAPE_RATE_BYTES_PER_S,
    Network,
    Record,
    StoredFile,
)
from tapewise.examples.wallclock import is_accepting
from tapewise.examples.workload import Batch


@dataclass(slots=True, eq=False)
class _Run:
    """The progress of a batch."""

    batch: Batch
    next_index: int = 0


@dataclass(slots=True, eq=False)
class _Flow:
    """A transfer that is moving bytes, or is about to."""

    record: Record
    run: _Run
    port: int
    remaining_bytes: float
    cap_bytes_per_s: float
    rate_bytes_per_s: float = 0.0


@dataclass
class Server:
    """The ports of one network and the events on it."""

    network: Network
    chance: Chance
    records: list[Record] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Start with every port free and no files."""
        self._now_s = 0.0
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        self._agenda_count = 0
        self._free_ports = list(range(len(self.network.port_limits_bytes)))
        self._queue: deque[tuple[Record, _Run]] = deque()
        self._flows: dict[str, list[_Flow]] = {"put": [], "get": []}
        self._catalogues: dict[str, list[StoredFile]] = {}

    def run(self, batches: list[Batch]) -> list[Record]:
        """Serve the batches and return the records in the order of their ends."""
        for batch in batches:
            run = _Run(batch)
            for stream in range(min(batch.streams, len(batch.sizes_bytes))):
                self._at(batch.starts_s + 0.4 * stream, partial(self._submit, run))
        while self._agenda or any(self._flows.values()):
            self._step()
        return self.records

    def _at(self, time_s: float, action: Callable[[], None]) -> None:
        # The count keeps simultaneous events in the order in which they were scheduled.
        self._agenda_count += 1
        heapq.heappush(self._agenda, (time_s, self._agenda_count, action))

    def _step(self) -> None:
        """Handle the next event, which is a scheduled action or the end of a flow."""
        time_s, ending = min(
            ((self._now_s + f.remaining_bytes / f.rate_bytes_per_s, k) for k, f in enumerate(self._moving())),
            default=(math.inf, -1),
        )
        if self._agenda and self._agenda[0][0] <= time_s:
            time_s, _, action = heapq.heappop(self._agenda)
            self._advance(time_s)
            action()
        else:
            flow = self._moving()[ending]
            self._advance(time_s)
            self._end_flow(flow)

    def _moving(self) -> list[_Flow]:
        return [*self._flows["put"], *self._flows["get"]]

    def _advance(self, time_s: float) -> None:
        for flow in self._moving():
            moved_bytes = (time_s - self._now_s) * flow.rate_bytes_per_s
            flow.remaining_bytes = max(0.0, flow.remaining_bytes - moved_bytes)
        self._now_s = time_s

    # -- the life of a request ---------------------------------------------------------------

    def _submit(self, run: _Run) -> None:
        """Request the next file of the batch; a user who is refused abandons the batch."""
        batch = run.batch
        if run.next_index == len(batch.sizes_bytes) or not is_accepting(self._now_s):
            return
        file = self._choose_file(batch, run.next_index)
        run.next_index += 1
        record = Record(batch, file, self._now_s)
        if self.chance.happens(batch.failure_ratio):
            record.is_failed = True
            record.open_s = self.chance.uniform(0.02, 0.05)
            self._at(self._now_s + record.open_s, partial(self._end, record, run))
        elif batch.operation in ("put", "get"):
            self._open(record)
            self._at(self._now_s + record.open_s, partial(self._request_port, record, run))
        else:
            hold_s = self._do_without_port(record)
            self._at(self._now_s + hold_s, partial(self._end, record, run))

    def _choose_file(self, batch: Batch, index: int) -> StoredFile:
        """Choose a new file to store or an existing one, preferably one of the user's recent files."""
        if batch.is_one_file:
            return StoredFile(batch.family.path(0), batch.sizes_bytes[index], is_old=False)
        is_new = batch.operation in ("put", "elsewhere")
        if not is_new and not batch.is_size_fixed:
            catalogue = self._catalogue(batch)
            place = self.chance.count(15.0)
            # A file that the batch itself renamed is not renamed again.
            done = f"{batch.family.folder}/{batch.operation}/"
            is_known = place <= len(catalogue) and not catalogue[-place].path.startswith(done)
            if is_known and self.chance.happens(REREAD_RATIO):
                return catalogue[-place]
        return StoredFile(batch.family.path(index), batch.sizes_bytes[index], is_old=not is_new)

    def _catalogue(self, batch: Batch) -> list[StoredFile]:
        # HSI does not fetch HTAR's archives, and HTAR does not fetch HSI's files.
        return self._catalogues.setdefault(f"{batch.interface} {batch.user.name}", [])

    def _open(self, record: Record) -> None:
        """Decide how long the file takes to open; only HSI's log shows this."""
        if record.batch.operation == "put" or record.batch.interface != "hsi":
            record.open_s = self.chance.uniform(0.02, 0.05)
            return
        is_old = record.file.is_old
        staging_s = record.file.size_bytes / TAPE_RATE_BYTES_PER_S
        if self.chance.happens(HIT_RATIO_OLD if is_old else HIT_RATIO_NEW):
            record.origin = "disk"
            median_s = DISK_OPEN_MODE_S * math.exp(DISK_OPEN_SIGMA**2)
            record.open_s = self._redraw(
                lambda: self.chance.lognormal(median_s, DISK_OPEN_SIGMA), DISK_OPEN_LIMIT_S
            )
        elif is_old and self.chance.happens(SHELF_RATIO_OLD):
            record.origin = "shelf"
            record.open_s = SHELF_OPEN_MINIMUM_S + self.chance.lognormal(190.0, 0.8) + staging_s
        else:
            record.origin = "library"
            least_s, limit_s = LIBRARY_OPEN_S
            record.open_s = self._redraw(lambda: least_s + self.chance.exponential(25.0), limit_s) + staging_s

    @staticmethod
    def _redraw(draw: Callable[[], float], limit: float) -> float:
        while (value := draw()) >= limit:
            pass
        return value

    def _do_without_port(self, record: Record) -> float:
        """Serve a request that moves nothing between a client and the archive; return its duration."""
        operation, file = record.batch.operation, record.file
        name = file.path.rsplit("/", 1)[1]
        record.new_path = f"{record.batch.family.folder}/{operation}/{name}"
        if operation in ("copy", "elsewhere"):
            return 0.4 + self.chance.exponential(0.1) + file.size_bytes / self.chance.uniform(2e6, 6e6)
        catalogue = self._catalogue(record.batch)
        if file in catalogue:
            catalogue.remove(file)
        if operation == "rename":
            # Add it at the old end, because renaming a file does not make it recent.
            catalogue.insert(0, file._replace(path=record.new_path))
        return self.chance.uniform(0.05, 0.4)

    # -- ports and the network ---------------------------------------------------------------

    def _request_port(self, record: Record, run: _Run) -> None:
        record.requested_s = self._now_s
        self._queue.append((record, run))
        self._fill_ports()

    def _fill_ports(self) -> None:
        for waiting in list(self._queue):
            if not self._free_ports:
                return
            record, run = waiting
            limits_bytes = self.network.port_limits_bytes
            fitting = [port for port in self._free_ports if record.file.size_bytes <= limits_bytes[port]]
            if fitting:
                self._queue.remove(waiting)
                self._free_ports.remove(fitting[0])
                self._hold_port(record, run, fitting[0])

    def _hold_port(self, record: Record, run: _Run, port: int) -> None:
        record.port_s = self._now_s
        law = LAWS[record.batch.interface, record.batch.operation]
        latency_s = law.latency_s + self.chance.exponential(LATENCY_SCATTER_RATIO * law.latency_s)
        cap_bytes_per_s = record.batch.user.host_speed_ratio / law.slope_s_per_byte
        flow = _Flow(record, run, port, float(record.file.size_bytes), cap_bytes_per_s)
        self._at(self._now_s + latency_s, partial(self._begin_flow, flow))

    def _begin_flow(self, flow: _Flow) -> None:
        self._flows[flow.record.batch.operation].append(flow)
        self._share(flow.record.batch.operation)

    def _end_flow(self, flow: _Flow) -> None:
        operation = flow.record.batch.operation
        self._flows[operation].remove(flow)
        self._share(operation)
        self._free_ports = sorted([*self._free_ports, flow.port])
        self._end(flow.record, flow.run)
        self._fill_ports()

    def _share(self, operation: str) -> None:
        """Give all flows in one direction the same rate; what a slow client cannot use goes to the others."""
        left_bytes_per_s = self.network.rate_bytes_per_s
        flows = sorted(self._flows[operation], key=lambda flow: flow.cap_bytes_per_s)
        for rank, flow in enumerate(flows):
            flow.rate_bytes_per_s = min(flow.cap_bytes_per_s, left_bytes_per_s / (len(flows) - rank))
            left_bytes_per_s -= flow.rate_bytes_per_s

    def _end(self, record: Record, run: _Run) -> None:
        record.ended_s = self._now_s
        self.records.append(record)
        if not record.is_failed and record.batch.operation in ("put", "get") and not record.batch.is_one_file:
            catalogue = self._catalogue(record.batch)
            if record.file in catalogue:
                catalogue.remove(record.file)
            # A file that was used in these weeks is no longer old.
            catalogue.append(record.file._replace(is_old=False))
        pause_s = 3.0 if record.is_failed else self.chance.exponential(0.05)
        self._at(self._now_s + pause_s, partial(self._submit, run))


def serve(batches: list[Batch], seed: int) -> list[Record]:
    """Serve all batches, one network at a time; return the records in the order of their ends."""
    records: list[Record] = []
    for name, network in NETWORKS.items():
        server = Server(network, Chance(seed, f"archive {name}"))
        records += server.run([batch for batch in batches if batch.interface in network.interfaces])
    return sorted(records, key=lambda record: record.ended_s)
