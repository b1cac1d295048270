"""How long a drive takes to move its head to a file.

A tape is written in wraps, there and back along its whole length, band by band. The time of a move is the
distance along the tape, plus what changing wraps, bands and direction costs. This is the form of the cost
heuristic of the CERN Tape Archive (`CTACostHeuristic`), with the coefficients that CERN fitted to LTO-7 M8
cartridges. Only the time along the whole tape is a parameter here, so that other cartridges can be described
by a mean that their maker publishes.
"""

from tapewise.simulator.kernel.compiler import compiled
from tapewise.simulator.kernel.tables import World

MOVE_S = 4.29
WRAP_S = 6.69
BAND_S = 3.2
HALF_S = -6.04  # towards the other half of the tape
TURN_S = 5.22
STEP_BACK_S = 11.32  # against the direction of the same wrap


@compiled
def locate_s(world: World, drive_set: int, from_bytes: float, to_bytes: float) -> float:
    """Return the seconds from one position to another, both in bytes from the beginning of a cartridge."""
    tape = world.drive_sets[drive_set]
    if from_bytes == to_bytes or not tape.has_locate:
        return 0.0
    wrap_bytes = tape.cartridge_bytes / tape.wrap_count
    from_wrap = min(int(from_bytes / wrap_bytes), tape.wrap_count - 1)
    to_wrap = min(int(to_bytes / wrap_bytes), tape.wrap_count - 1)
    # Where along the tape the positions are, from 0 to 1. Every other wrap runs backwards.
    start, end = from_bytes / wrap_bytes - from_wrap, to_bytes / wrap_bytes - to_wrap
    if from_wrap % 2 == 1:
        start = 1.0 - start
    if to_wrap % 2 == 1:
        end = 1.0 - end
    seconds = MOVE_S + tape.end_to_end_s * (end - start if end > start else start - end)
    if from_wrap != to_wrap:
        seconds += WRAP_S
    elif to_bytes < from_bytes:
        seconds += STEP_BACK_S
    if from_wrap // tape.wraps_per_band != to_wrap // tape.wraps_per_band:
        seconds += BAND_S
    if (start < 0.5) != (end < 0.5):
        seconds += HALF_S
    if from_wrap % 2 != to_wrap % 2:
        seconds += TURN_S
    return float(seconds)
