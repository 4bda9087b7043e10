"""What is made of a store: arrays, tables and figures, exports, the report."""

from ..store.table import Evaluations, read

__all__ = ["Evaluations", "read"]
