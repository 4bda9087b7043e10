"""The study file: what may stand in it, and one sentence for each mistake."""

from .evaluator import CommandOptions, EvaluatorOptions, EvaluatorTable
from .file import LimitTable, StudyFile
from .messages import checked, did_you_mean, tables_in
from .mistakes import Mistakes
from .reading import examine_study_file, near_file, read_study_file
from .space import ParameterTable
from .table import Count, Finite, Seconds, Table
from .targets import is_source

__all__ = [
    "CommandOptions",
    "Count",
    "EvaluatorOptions",
    "EvaluatorTable",
    "Finite",
    "LimitTable",
    "Mistakes",
    "ParameterTable",
    "Seconds",
    "StudyFile",
    "Table",
    "checked",
    "did_you_mean",
    "examine_study_file",
    "is_source",
    "near_file",
    "read_study_file",
    "tables_in",
]
