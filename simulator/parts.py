"""The types of a machine file's fields, and the base of its tables."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Rate = Annotated[float, Field(gt=0, le=1e15, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Interval = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
# Above 2^53, a float cannot represent every whole number.
Bytes = Annotated[int, Field(gt=0, le=1 << 53)]
Count = Annotated[int, Field(gt=0, le=100_000)]
Ratio = Annotated[float, Field(gt=0, le=1, allow_inf_nan=False)]
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]


class Part(BaseModel):
    """A table of a machine file. Unknown keys, and strings in place of numbers, are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
