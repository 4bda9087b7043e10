"""The study file: what may stand in it, and one sentence for each mistake."""

from .evaluator import CommandOptions, EvaluatorTable
from .file import RunTable, StopTable, StudyFile
from .messages import checked, tables_in
from .mistakes import Mistakes
from .program import call_of, program_study, settings_of_program, worker_call_of
from .reading import examine_study_file, read_study_file
from .targets import is_source

__all__ = [
    "CommandOptions",
    "EvaluatorTable",
    "Mistakes",
    "RunTable",
    "StopTable",
    "StudyFile",
    "call_of",
    "checked",
    "examine_study_file",
    "is_source",
    "program_study",
    "read_study_file",
    "settings_of_program",
    "tables_in",
    "worker_call_of",
]
