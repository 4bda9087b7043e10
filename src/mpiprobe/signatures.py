"""The arguments of a C function as functions.ini has them: ``const void* buf, int count, const int displs[]``."""

import re


def word_of(declared: str) -> str:
    """The name of one argument."""
    return re.sub(r"\[\]$", "", declared).split()[-1].lstrip("*")


def type_of(declared: str) -> str:
    if declared == "void":
        return declared
    kind = re.sub(r"\s*\w+(\[\])?$", "", declared)
    return f"{kind}*" if declared.endswith("[]") else kind


def with_large_counts(arguments: str) -> str:
    """The arguments of the variant of MPI 4, whose name ends with _c."""
    arguments = re.sub(r"\bint (\w*count(s\[\])?)(?=,|$)", r"MPI_Count \1", arguments)
    arguments = re.sub(r"\bint\* size\b", "MPI_Count* size", arguments)
    return re.sub(r"\bint (\w*displs\[\]|disp_unit)", r"MPI_Aint \1", arguments)
