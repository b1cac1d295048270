"""The disk of a machine file, its purge, and its pools for classes of service.

    [disk.pools.small]
    classes_of_service = ["1", "2"]
    capacity_bytes = 200_000_000_000_000
    keep_s = 86_400             # instead of that of [purge]

    [disk.pools.others]         # all other classes, and the rest of the disk

A file stays in the pool of the class of its first request, and pools do not share room.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from tapewise.simulator.parts import Bytes, Count, Name, Part, Rate, Ratio, Seconds
from tapewise.simulator.policies import RANKS, format_size_age, parse_policy

# The column of a trace that says which pool a file belongs to.
POOLED = "class_of_service"

Exponent = Annotated[float, Field(ge=0, le=16, multiple_of=0.5)]


class Pool(Part):
    """A part of the disk with room and rules of its own, for the files of some classes of service.

    A pool without `classes_of_service` takes all classes that no other pool names. One without
    `capacity_bytes` has what the others leave of the disk. The other fields take the place of those of
    `[purge]`.
    """

    classes_of_service: Annotated[tuple[str, ...] | None, Field(strict=False, min_length=1)] = None
    capacity_bytes: Bytes | None = None
    high_ratio: Ratio | None = None
    low_ratio: Ratio | None = None
    keep_s: Seconds | None = None
    rank: str | None = None
    size_exponent: Exponent | None = None
    age_exponent: Exponent | None = None

    @property
    def own_rules(self) -> dict[str, Any]:
        """The fields that take the place of those of `[purge]`."""
        rules = self.model_dump(exclude_unset=True, exclude={"classes_of_service", "capacity_bytes"})
        return {name: value for name, value in rules.items() if value is not None}


class Disk(Part):
    """Chains of logical volumes (LVs), to which files are assigned in turn, whatever their pool.

    Space is counted by pool, or for the whole disk if there are none.

    `lv_round_robin` uses all LVs of a chain before it moves on to the next chain; `chain_round_robin` uses
    the next chain for each file. A file larger than an LV takes several consecutive LVs, and is transferred
    over the chain of the first.
    """

    chain_count: Count
    lvs_per_chain: Count
    lv_bytes: Bytes
    chain_bytes_per_s: Rate
    allocation: Literal["lv_round_robin", "chain_round_robin"]
    largest_file_bytes: Bytes
    smallest_transfer_bytes: Annotated[int, Field(ge=0, le=1)] = 0
    pools: Annotated[dict[Name, Pool], Field(default_factory=dict)]

    @property
    def capacity_bytes(self) -> int:
        """The size of all LVs together."""
        return self.chain_count * self.lvs_per_chain * self.lv_bytes

    @model_validator(mode="after")
    def _check_sizes(self) -> Self:
        if self.capacity_bytes > 1 << 53:
            raise ValueError("chain_count * lvs_per_chain * lv_bytes is more than 2^53")
        if self.largest_file_bytes > self.capacity_bytes:
            raise ValueError(f"largest_file_bytes is more than the disk holds ({self.capacity_bytes})")
        return self

    @model_validator(mode="after")
    def _check_pools(self) -> Self:
        if not self.pools:
            return self
        owners: dict[str, str] = {}
        for name, pool in self.pools.items():
            for each in pool.classes_of_service or ():
                if each in owners:
                    is_same = owners[each] == name
                    place = "listed twice" if is_same else f"also in pool {owners[each]}"
                    raise ValueError(f"disk.pools.{name}.classes_of_service: class {each} is {place}")
                owners[each] = name
        for field, meaning in (
            ("classes_of_service", "takes all classes that no other pool names"),
            ("capacity_bytes", "has what the others leave of the disk"),
        ):
            without = [name for name, pool in self.pools.items() if getattr(pool, field) is None]
            if len(without) > 1:
                raise ValueError(
                    f"disk.pools.{without[1]}.{field}: it is missing, as in pool {without[0]}; only one pool"
                    f" {meaning}"
                )
        given = [pool.capacity_bytes for pool in self.pools.values() if pool.capacity_bytes is not None]
        left = self.capacity_bytes - sum(given)
        if left < (1 if len(given) < len(self.pools) else 0):
            raise ValueError(
                f"disk.pools: capacity_bytes is {sum(given)} in all, but the disk holds {self.capacity_bytes}"
                " (chain_count * lvs_per_chain * lv_bytes)"
                + (", so nothing is left for the pool without" if left == 0 else "")
            )
        return self


class Purge(Part):
    """When the disk is `high_ratio` full, files are removed until it is `low_ratio` full.

    Files used in the last `keep_s` stay. `rank` says which others are removed first: one of `RANKS`, or
    a formula (`formulas.py`). The exponents are those of `size_age`.
    """

    high_ratio: Ratio
    low_ratio: Ratio
    keep_s: Seconds
    rank: str = "size_age"
    size_exponent: Exponent = 1.0
    age_exponent: Exponent = 1.5

    @property
    def policy(self) -> str:
        """The rule as `policies.py` reads it: a name or a formula."""
        if self.rank != "size_age":
            return self.rank
        return format_size_age(self.size_exponent, self.age_exponent)

    @field_validator("rank")
    @classmethod
    def _check_rank(cls, rank: str) -> str:
        if rank == "belady":
            raise ValueError(
                f"belady knows the future, so no machine can use it: use {', '.join(RANKS)}, or a formula"
            )
        parse_policy(rank, RANKS)
        return rank

    @model_validator(mode="after")
    def _check_exponents(self) -> Self:
        for name in ("size_exponent", "age_exponent"):
            if self.rank != "size_age" and name in self.model_fields_set:
                raise ValueError(f'{name} belongs to rank = "size_age"')
        parse_policy(self.policy)
        return self

    @model_validator(mode="after")
    def _check_marks(self) -> Self:
        if self.low_ratio > self.high_ratio:
            raise ValueError("low_ratio is above high_ratio")
        return self


@dataclass(frozen=True)
class DiskPool:
    """A pool as it works, with all of its rules; without a purge (None), no file ever leaves it.

    `classes_of_service` is None for the pool of all classes that no other one names.
    """

    name: str
    capacity_bytes: int
    purge: Purge | None
    classes_of_service: tuple[str, ...] | None


def list_pools(disk: Disk, purge: Purge | None) -> list[DiskPool]:
    """Return the pools of a disk; one without pools is one pool, called disk.

    Raises ValueError, naming the field, if the rules of a pool contradict each other or have no `[purge]`.
    """
    if not disk.pools:
        return [DiskPool("disk", disk.capacity_bytes, purge, None)]
    left = disk.capacity_bytes - sum(pool.capacity_bytes or 0 for pool in disk.pools.values())
    return [
        DiskPool(name, pool.capacity_bytes or left, _fit_purge(name, pool, purge), pool.classes_of_service)
        for name, pool in disk.pools.items()
    ]


def _fit_purge(name: str, pool: Pool, purge: Purge | None) -> Purge | None:
    rules = pool.own_rules
    if not rules:
        return purge
    if purge is None:
        raise ValueError(
            f"disk.pools.{name}.{next(iter(rules))}: it takes the place of that of [purge], which is missing"
        )
    kept = purge.model_dump(exclude_unset=True)
    if "rank" in rules:  # the exponents belong to the rank that is replaced
        kept = {field: value for field, value in kept.items() if not field.endswith("_exponent")}
    try:
        return Purge.model_validate(kept | rules)
    except ValidationError as error:
        first = error.errors()[0]
        field = "".join(f".{part}" for part in first["loc"])
        text = first["msg"].removeprefix("Value error, ")
        raise ValueError(f"disk.pools.{name}{field}: {text}") from error


def find_pool(pools: Sequence[DiskPool]) -> tuple[Mapping[str, int], int | None]:
    """Return the number of the pool of each class that is named, and that of all others, None if refused."""
    numbers = {each: number for number, pool in enumerate(pools) for each in pool.classes_of_service or ()}
    others = [number for number, pool in enumerate(pools) if pool.classes_of_service is None]
    return numbers, others[0] if others else None
