"""What all tables of a study file have in common."""

from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


def _whole(given: Any) -> Any:
    """1e4 is a whole number, too."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


Whole = Annotated[int, BeforeValidator(_whole)]
Count = Annotated[Whole, Field(ge=1, lt=2**63)]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    has_sections: ClassVar[bool] = False  # its tables stand under [headings]
