"""The common part of all tables of a study file."""

import re
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, GetJsonSchemaHandler
from pydantic_core import CoreSchema


@dataclass(frozen=True)
class Setting:
    """All that is said of a key beside its type and its default: each key has one in its annotation.

    The schema, ``docs/reference/study-file.md``, ``culmen.minimize`` and the options of commands take it from here;
    ``tools/quote_settings`` writes it there.
    """

    about: str  # in Markdown, with links from the reference page: a clause, perhaps with further sentences
    sets: str = (
        ""  # the C++ object with an attribute of this name: "config", "evaluator", "options"; empty: own code sets it
    )
    page: str = ""  # a further clause for the reference page alone
    default: str = ""  # in words, if the default is not a constant
    decides: bool = False  # of [evaluator]: the values depend on it, so that it is in a study's fingerprint
    option: str = ""  # of `culmen run` and `culmen resume`, such as "--workers"
    metavar: str = ""  # how the help shows the value of the option, such as "SECONDS", unless its type says it

    @property
    def unlinked(self) -> str:
        return re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", self.about)

    @property
    def plain(self) -> str:
        return re.sub(r"`([^`]*)`", r"\1", self.unlinked)

    def __get_pydantic_json_schema__(self, core_schema: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        return {**handler(core_schema), "description": self.plain}


def _whole(given: Any) -> Any:
    """1e4 is a whole number, too."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


WHOLE = BeforeValidator(_whole)  # stands behind the bounds, or the schema would not have them
Natural = Annotated[int, Field(ge=0, lt=2**63), WHOLE]
Count = Annotated[int, Field(ge=1, lt=2**63), WHOLE]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Table(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    has_sections: ClassVar[bool] = False  # its tables stand under [headings]

    @classmethod
    def settings(cls) -> dict[str, Setting]:
        """By the names of their fields."""
        found: dict[str, Setting] = {}
        for table in reversed(cls.__mro__):  # a field that a derived table defines again keeps its setting
            for name, field in table.model_fields.items() if issubclass(table, Table) else ():
                found.update((name, said) for said in field.metadata if isinstance(said, Setting))
        return found

    def apply(self, part: str, target: Any) -> None:
        """Sets the keys of a part ("config", "evaluator", "options"). C++ has the same defaults, so that these are not
        set: not every kind of evaluator has every key."""
        for name, setting in self.settings().items():
            value, field = getattr(self, name), type(self).model_fields[name]
            if setting.sets == part and value != field.get_default(call_default_factory=True):
                setattr(target, name, value)
