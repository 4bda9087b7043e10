"""``[space]``"""

from typing import Literal

from pydantic import model_validator

from .table import Table


class ParameterTable(Table):
    type: Literal["real", "integer"] = "real"
    lower: float
    upper: float
    scale: Literal["linear", "log"] = "linear"

    @model_validator(mode="after")
    def _integers_are_linear(self) -> "ParameterTable":
        if self.type == "integer" and self.scale == "log":
            raise ValueError('scale = "log" is for real parameters; an integer is "linear"')
        return self
