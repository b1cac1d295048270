"""Transfers that fail and are tried again.

    [failures]
    ratio = 0.02            # of the tries; or "as measured"
    retry_after_s = 300     # from the failure to the next try
    most_retries = 5        # then the request is given up
    moved_ratio = 0.5       # the share of its bytes that a failing try moves

A log says which requests failed, but not why. So each try fails by chance, whatever came before.
"""

from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field, PlainValidator

from tapewise.schema.errors import MachineError
from tapewise.simulator.kernel.tables import Floats, Integers
from tapewise.simulator.parts import Part, Ratio, Seconds

MEASURED: Literal["as measured"] = "as measured"


def _check_ratio(value: Any) -> float | str:
    if value == MEASURED:
        return MEASURED
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not 0 <= value < 1:
        raise ValueError(f'must be a number from 0 to below 1, or "as measured", not {value}')
    return float(value)


class Failures(Part):
    """How often a try of a transfer fails, and when it is repeated."""

    ratio: Annotated[float | Literal["as measured"], PlainValidator(_check_ratio)]
    retry_after_s: Seconds
    most_retries: Annotated[int, Field(ge=0, le=1000)]
    moved_ratio: Ratio = 1.0


def draw_failures(failures: Failures | None, count: int, *, seed: int) -> Integers:
    """Draw how many tries of each job fail; a job of which `most_retries` + 1 fail is given up then.

    With one seed, a job fails at least as often if the ratio is higher. Raises MachineError if the ratio is
    not a number yet.
    """
    if failures is not None and isinstance(failures.ratio, str):
        raise MachineError('failures: ratio = "as measured" needs the requests of an archive')
    drawn: Floats = np.random.default_rng([seed, 5]).random(count)
    if failures is None or failures.ratio == 0:
        return np.zeros(count, np.int64)
    # The chance of k failures or more, one after the other, is ratio^k.
    chance = np.log(np.maximum(drawn, np.finfo(float).tiny)) / np.log(failures.ratio)
    failed = np.minimum(chance, 2.0 + failures.most_retries).astype(np.int64)
    most: Integers = np.minimum(failed, failures.most_retries + 1)
    return most
