"""A second implementation of the machine, in SimPy, as a reference for the kernel's speed and distributions.

It is simple and independent of the kernel, with one process per job and bandwidth shared flow by flow. It
models both kinds of queueing, ports, latencies, sharing, volumes in turn, staging and storing. It has no
purge, because its disk is never full. It draws its own random numbers.
"""

from dataclasses import dataclass, field

import numpy as np
import simpy

from benchmarks.contention import Fluid, Gate, Ports, Steps
from tapewise.simulator.demand.traces import Demand
from tapewise.simulator.machines import FixedLoad, Machine, Store, Tapes


@dataclass(eq=False)
class Twin:
    """A run, with `ended_s`, `user_wait_s`, `port_wait_s` and `stage_s` by job."""

    machine: Machine
    demand: Demand
    seed: int
    ended_s: dict[int, float] = field(default_factory=dict)
    user_wait_s: dict[int, float] = field(default_factory=dict)
    port_wait_s: dict[int, float] = field(default_factory=dict)
    stage_s: dict[int, float] = field(default_factory=dict)
    stored_bytes: float = 0.0

    def run(self) -> "Twin":
        """Run every job to its end."""
        machine, demand, env = self.machine, self.demand, simpy.Environment()
        self.env, self.rng = env, np.random.default_rng(self.seed)
        capacities = {"in": machine.network.in_bytes_per_s, "out": machine.network.out_bytes_per_s}
        capacities |= {f"disk {n}": machine.disk.chain_bytes_per_s for n in range(machine.disk.chain_count)}
        self.drives: list[simpy.Resource] = []
        if isinstance(tapes := machine.tapes, Tapes):
            capacities |= {f"tape {n + 1}": tapes.chain_bytes_per_s for n in range(tapes.chain_count)}
            by_chain = [0] * tapes.chain_count
            for silo in tapes.silos:
                by_chain[silo.chain - 1] += silo.drive_count
            self.drives = [simpy.Resource(env, count or 1) for count in by_chain]
        self.fluid, self.ports = Fluid(env, capacities), Ports(env, machine)
        self.gate = Gate(env, machine)
        self.users = [simpy.Resource(env, machine.users.limit_count) for _ in range(demand.user_count)]
        self.files: dict[int, simpy.Event] = {int(one): env.event().succeed() for one in demand.inventory}
        self.chains: dict[int, int] = {
            int(one): int(one) // machine.disk.lvs_per_chain % machine.disk.chain_count
            for one in demand.inventory
        }
        self.turn = len(demand.inventory)
        self.unstored: list[tuple[float, int, int]] = []
        jobs = [env.process(self._job(number)) for number in range(len(demand.submitted_s))]
        if isinstance(tapes, Tapes) and tapes.store:
            env.process(self._store(tapes, tapes.store))
        env.run(env.all_of(jobs))
        return self

    def _job(self, number: int) -> Steps:
        env, demand = self.env, self.demand
        yield env.timeout(demand.submitted_s[number])
        file, size, is_put = int(demand.file[number]), int(demand.size_bytes[number]), demand.is_put[number]
        moved = max(size, self.machine.disk.smallest_transfer_bytes)
        if not is_put and file in self.files:
            yield self.files[file]
        else:
            self.files[file] = env.event()
            if not is_put:
                yield env.process(self._stage(number, file, moved))
        user, asked = int(demand.user[number]), env.now
        if self.machine.ports.queueing == "joint":
            waiter = self.gate.ask(user, size)
            port = yield waiter.admitted
            self.user_wait_s[number], self.port_wait_s[number] = waiter.waited["user"], waiter.waited["port"]
            yield from self._transfer(file, moved, is_put)
            self.gate.release(user, port)
        else:
            with self.users[user].request() as token:
                yield token
                self.user_wait_s[number] = env.now - asked
                asked = env.now
                port = yield self.ports.ask(size)
                self.port_wait_s[number] = env.now - asked
                yield from self._transfer(file, moved, is_put)
                self.ports.release(port)
        self.ended_s[number] = env.now
        if is_put:
            self.unstored.append((env.now, file, moved))
            self.files[file].succeed()

    def _transfer(self, file: int, moved: int, is_put: bool) -> Steps:
        network, latency = self.machine.network, self.machine.latency
        yield self.env.timeout(latency.put_s if is_put else latency.get_s)
        if is_put:
            self._place(file, moved)
        client = network.client_bytes_per_s or float("inf")
        yield self.fluid.move(moved, ("in" if is_put else "out", f"disk {self.chains[file]}"), client)

    def _place(self, file: int, size: int) -> None:
        disk = self.machine.disk
        volume = self.turn % (disk.chain_count * disk.lvs_per_chain)
        self.turn += max(1, -(-size // disk.lv_bytes))
        is_chain_first = disk.allocation == "chain_round_robin"
        self.chains[file] = volume % disk.chain_count if is_chain_first else volume // disk.lvs_per_chain

    def _load(self, tapes: Tapes) -> simpy.Event:
        law = tapes.load
        if isinstance(law, FixedLoad):
            return self.env.timeout(law.load_s)
        if self.rng.random() >= law.short_ratio:
            return self.env.timeout(law.long_s + self.rng.exponential(law.long_mean_s))
        while (drawn := law.short_s + self.rng.exponential(law.short_mean_s)) >= law.long_s:
            pass
        return self.env.timeout(drawn)

    def _stage(self, number: int, file: int, size: int) -> Steps:
        tapes, began = self.machine.tapes, self.env.now
        assert isinstance(tapes, Tapes)
        chain = tapes.silos[self.rng.integers(len(tapes.silos))].chain
        with self.drives[chain - 1].request() as drive:
            yield drive
            yield self._load(tapes)
            self._place(file, size)
            yield self.fluid.move(size, ("in", f"disk {self.chains[file]}", f"tape {chain}"))
        self.stage_s[number] = self.env.now - began
        self.files[file].succeed()

    def _store(self, tapes: Tapes, store: Store) -> Steps:
        room, chain = 0.0, 1
        while True:
            yield self.env.timeout(store.interval_s)
            ripe = [one for one in self.unstored if one[0] + store.min_age_s <= self.env.now]
            self.unstored = self.unstored[len(ripe) :]
            drive = None
            for _, file, size in ripe:
                left = float(size)
                while left:
                    if drive is None or not room:
                        if drive is not None:
                            self.drives[chain - 1].release(drive)
                        if not room:
                            chain = tapes.silos[self.rng.integers(len(tapes.silos))].chain
                            room = store.cartridge_bytes
                        drive = self.drives[chain - 1].request()
                        yield drive
                        yield self._load(tapes)
                    piece = min(left, room)
                    yield self.fluid.move(piece, ("out", f"disk {self.chains[file]}", f"tape {chain}"))
                    self.stored_bytes += piece
                    left, room = left - piece, room - piece
            if drive is not None:
                self.drives[chain - 1].release(drive)
