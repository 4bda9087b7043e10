"""``culmen schema``."""

from . import work


def schema() -> None:
    work.schema.print_schema()
