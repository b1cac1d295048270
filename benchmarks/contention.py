"""The resources that jobs of the SimPy twin compete for: bandwidth, ports, and ports with users' tokens."""

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import simpy

from tapewise.simulator.machines import Machine

Steps = Generator[simpy.Event, Any, Any]


@dataclass(eq=False)
class Flow:
    """A flow of bytes through resources."""

    resources: tuple[str, ...]
    left: float
    cap: float
    done: simpy.Event
    rate: float = 0.0


class Fluid:
    """Max-min fair sharing, recalculated for all flows whenever one begins or ends."""

    def __init__(self, env: simpy.Environment, capacities: dict[str, float]) -> None:
        self.env = env
        self.capacities = capacities
        self.flows: list[Flow] = []
        self.turn = 0
        self.since = 0.0

    def move(self, size: float, resources: tuple[str, ...], cap: float = float("inf")) -> simpy.Event:
        """Begin a flow; return an event that happens when the flow ends."""
        self._advance()
        flow = Flow(resources, size, cap, self.env.event())
        self.flows.append(flow)
        self._share()
        return flow.done

    def _advance(self) -> None:
        for flow in self.flows:
            flow.left -= flow.rate * (self.env.now - self.since)
        self.since = self.env.now

    def _share(self) -> None:
        room = dict(self.capacities)
        growing = list(self.flows)
        while growing:
            claims: dict[str, int] = {}
            for flow in growing:
                for name in flow.resources:
                    claims[name] = claims.get(name, 0) + 1
            rate, full = min((room[name] / count, name) for name, count in claims.items())
            slowest = min(flow.cap for flow in growing)
            rate = min(rate, slowest)
            fixed = [f for f in growing if (f.cap <= rate if slowest <= rate else full in f.resources)]
            for flow in fixed:
                flow.rate = rate
                for name in flow.resources:
                    room[name] -= rate
                growing.remove(flow)
        self.turn += 1
        if self.flows:
            first = min(self.flows, key=lambda flow: flow.left / flow.rate)
            self.env.process(self._wait(first, self.turn))

    def _wait(self, flow: Flow, turn: int) -> Steps:
        yield self.env.timeout(max(0.0, flow.left / flow.rate))
        if turn == self.turn:
            self._advance()
            self.flows.remove(flow)
            flow.done.succeed()
            self._share()


class Ports:
    """Ports by size. Of the jobs that may use a freed port, the one that has waited longest gets it."""

    def __init__(self, env: simpy.Environment, machine: Machine) -> None:
        self.env = env
        self.ranges = machine.ports.ranges
        self.free = set(range(1, machine.ports.count + 1))
        self.waiting: list[tuple[range, simpy.Event]] = []

    def ask(self, size: int) -> simpy.Event:
        """Return an event that happens when a port is free, with the port as its value."""
        last = [one for one in self.ranges if size > one.over_bytes][-1]
        event = self.env.event()
        self.waiting.append((range(last.first, last.last + 1), event))
        self._serve()
        return event

    def release(self, port: int) -> None:
        """Give a port back."""
        self.free.add(port)
        self._serve()

    def _serve(self) -> None:
        for one in list(self.waiting):
            allowed, event = one
            if usable := self.free.intersection(allowed):
                port = min(usable)
                self.free.remove(port)
                self.waiting.remove(one)
                event.succeed(port)


@dataclass(eq=False)
class Waiter:
    """A job in the joint queue, and how long it has waited for each cause."""

    user: int
    ports: range
    admitted: simpy.Event
    since: float
    cause: str = "port"
    waited: dict[str, float] = field(default_factory=lambda: {"user": 0.0, "port": 0.0})


class Gate:
    """Joint queueing: in a single line, the first job for which a token and a port are free may continue."""

    def __init__(self, env: simpy.Environment, machine: Machine) -> None:
        self.env, self.limit, self.ranges = env, machine.users.limit_count, machine.ports.ranges
        self.free = set(range(1, machine.ports.count + 1))
        self.active: dict[int, int] = {}
        self.line: list[Waiter] = []

    def ask(self, user: int, size: int) -> Waiter:
        """Join the line; `admitted` happens when a token and a port are free, with the port as its value."""
        last = [one for one in self.ranges if size > one.over_bytes][-1]
        one = Waiter(user, range(last.first, last.last + 1), self.env.event(), self.env.now)
        self.line.append(one)
        self._serve()
        return one

    def release(self, user: int, port: int) -> None:
        """Give the user's token and the port back."""
        self.active[user] -= 1
        self.free.add(port)
        self._serve()

    def _is_limited(self, user: int) -> bool:
        return self.active.get(user, 0) >= self.limit

    def _serve(self) -> None:
        for one in list(self.line):
            one.waited[one.cause] += self.env.now - one.since
            one.since = self.env.now
            usable = self.free.intersection(one.ports)
            if usable and not self._is_limited(one.user):
                self.active[one.user] = self.active.get(one.user, 0) + 1
                self.free.remove(min(usable))
                self.line.remove(one)
                one.admitted.succeed(min(usable))
        for one in self.line:
            one.cause = "user" if self._is_limited(one.user) else "port"
