"""Draws the contents of a stream's bursts: requests, gaps, users, classes, sizes and origins."""

from dataclasses import dataclass

import numpy as np

from tapewise.schema.errors import SimulationError
from tapewise.simulator.demand.laws import Law, draw_whole
from tapewise.simulator.demand.models import QUANTILE_LEVELS, Bursts, Group, UserShare
from tapewise.simulator.demand.weeks import DRAW_LIMIT
from tapewise.simulator.kernel.tables import Floats, Integers

# The limit is the same as in a machine file: above it, a float cannot represent every whole number.
LARGEST_BYTES = 1 << 53
# Added to gaps before taking logarithms, because many gaps are 0 in logs whose times are whole seconds.
GAP_SHIFT_S = 1.0


@dataclass(frozen=True)
class Requests:
    """The times of requests, the burst number of each request (ascending), and their users."""

    asked_s: Floats
    burst: Integers
    user: Integers


def draw_requests(bursts: Bursts, begins_s: Floats, rng: np.random.Generator) -> Requests:
    """Draw the requests of bursts that begin at `begins_s`.

    Raises:
        SimulationError: there would be more than `DRAW_LIMIT` requests.
    """
    if not len(begins_s):
        return Requests(np.empty(0), np.empty(0, np.int64), np.empty(0, np.int64))
    law = Law.from_mean(
        QUANTILE_LEVELS,
        bursts.request_count_quantiles,
        mean=bursts.request_count / bursts.burst_count,
        smallest=1.0,
        # The largest possible burst has all requests except one for each other burst.
        largest_excess=bursts.request_count - bursts.burst_count + 1 - bursts.request_count_quantiles[-1],
    )
    counts = draw_whole(law, rng, len(begins_s)).astype(np.int64)
    if counts.sum() > DRAW_LIMIT:
        raise SimulationError(
            f"the stream would have {counts.sum():,} requests in bursts, more than {DRAW_LIMIT:,}",
            hint="Make it shorter, or rate_factor smaller.",
        )
    burst = np.repeat(np.arange(len(counts)), counts)
    begins = np.cumsum(counts) - counts
    gaps_s = np.zeros(len(burst))
    if bursts.gap_quantiles_s:
        gaps_s = Law.from_quantiles(QUANTILE_LEVELS, bursts.gap_quantiles_s, shift=GAP_SHIFT_S).draw(
            rng, len(burst)
        )
    gaps_s[begins] = 0.0
    since_s = np.cumsum(gaps_s)
    return Requests(
        begins_s[burst] + (since_s - since_s[begins][burst]),
        burst,
        draw_users(bursts.user_shares, rng, len(counts))[burst],
    )


def draw_users(shares: tuple[UserShare, ...], rng: np.random.Generator, count: int) -> Integers:
    """Draw users (numbered from 1) by share of requests. Users between two given ranks have equal shares."""
    ratios = np.array([0.0, *(share.running_ratio for share in shares)])
    ranks = np.array([0, *(share.user_rank for share in shares)])
    drawn = np.interp(rng.random(count) * ratios[-1], ratios, ranks)
    users: Integers = np.clip(np.ceil(drawn), 1, ranks[-1]).astype(np.int64)
    return users


def draw_labels(group: Group, burst: Integers, rng: np.random.Generator) -> Integers:
    """Draw the class of each request, as an index into `group.classes`; `burst` is ascending.

    A request either keeps the class of the previous request in its burst, or gets a class drawn by the
    classes' shares. The choice is such that two consecutive requests have the same class as often as
    `same_class_ratio` says. This preserves the shares. If the ratio is lower than independent draws would
    give, all draws are independent.
    """
    shares = np.array([one.request_count for one in group.classes]) / group.request_count
    by_chance = float((shares**2).sum())
    said = group.bursts.same_class_ratio
    stay = 0.0 if said is None or by_chance >= 1 else max((said - by_chance) / (1 - by_chance), 0.0)
    drawn = rng.choice(len(shares), len(burst), p=shares)
    is_drawn = rng.random(len(burst)) >= stay
    is_drawn |= np.diff(burst, prepend=-1) != 0
    last_drawn = np.maximum.accumulate(np.where(is_drawn, np.arange(len(burst)), 0))
    return np.asarray(drawn[last_drawn], np.int64)


def draw_sizes(group: Group, label: Integers, rng: np.random.Generator) -> Integers:
    """Draw sizes in bytes for requests of the given classes. The mean size of each class is the model's."""
    sizes = np.empty(len(label))
    for number, one in enumerate(group.classes):
        here = label == number
        if here.any():
            # With fewer than a hundred requests, the highest quantile is the largest value.
            is_whole = one.request_count * (1 - QUANTILE_LEVELS[-1]) < 1
            law = Law.from_mean(
                QUANTILE_LEVELS,
                one.size_quantiles_bytes,
                mean=one.size_bytes / one.request_count,
                smallest=1.0,
                largest_excess=0.0 if is_whole else one.size_bytes - one.size_quantiles_bytes[-1],
            )
            sizes[here] = law.draw(rng, int(here.sum()))
    return np.clip(np.rint(sizes), 1, LARGEST_BYTES).astype(np.int64)


def draw_origins(group: Group, label: Integers, rng: np.random.Generator) -> np.ndarray:
    """Draw the origins of requests (put, disk or tape) by the shares known for their classes."""
    if group.direction == "put":
        return np.full(len(label), "put")
    tape_shares = np.array(
        [one.uncached_count / max(one.cached_count + one.uncached_count, 1) for one in group.classes]
    )
    return np.where(rng.random(len(label)) < tape_shares[label], "tape", "disk")
