"""What a machine costs in a year, by the prices of its file.

    [prices]
    currency = "EUR"
    drive_per_year = 2_500
    disk_tb_per_year = 40

What has no price is not counted. Buying is spread over the years by whoever writes the prices.
"""

from typing import Annotated

from pydantic import Field

from tapewise.simulator.parts import Part

Price = Annotated[float, Field(ge=0, le=1e15, allow_inf_nan=False)]
_TB = 1e12


class Prices(Part):
    """The prices of a drive, a robot, a cartridge and a terabyte (10^12 bytes) of disk, each for a year."""

    currency: Annotated[str, Field(min_length=1, max_length=20)]
    drive_per_year: Price | None = None
    robot_per_year: Price | None = None
    cartridge_per_year: Price | None = None
    disk_tb_per_year: Price | None = None

    def sum_year(
        self, *, drive_count: int, robot_count: int, cartridge_count: int, disk_bytes: float
    ) -> float:
        """Return what such a machine costs in a year."""
        parts = (
            (self.drive_per_year, drive_count),
            (self.robot_per_year, robot_count),
            (self.cartridge_per_year, cartridge_count),
            (self.disk_tb_per_year, disk_bytes / _TB),
        )
        return sum(price * count for price, count in parts if price is not None)
