"""Finds comments and docstrings in the text of C, C++ and Python sources. The languages are not parsed."""

import inspect
import re
from collections.abc import Iterator

STRINGS = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
CPP = re.compile(
    rf'R"(?P<raw>[^(\s]*)\(.*?\)(?P=raw)"|(?<=\w)\'(?=\w)|{STRINGS}'  # the second alternative: 1'000
    r"|(?P<lines>//[^\n]*(?:\n[ \t]*//[^\n]*)*)|/\*(?P<block>.*?)\*/",
    re.DOTALL,
)
PYTHON = re.compile(
    r'(?P<text>"""(?:\\.|[^\\])*?"""|\'\'\'(?:\\.|[^\\])*?\'\'\')'
    rf"|{STRINGS}|(?P<lines>#[^\n]*(?:\n[ \t]*#[^\n]*)*)",
    re.DOTALL,
)
PROMPT = re.compile(r"^ *(?:>>>|\.\.\.)(?: .*)?$", re.MULTILINE)  # of a doctest

Comment = tuple[int, str]  # the line where it begins, and its text without marks


def comments_of_cpp(source: str) -> Iterator[Comment]:
    for found in CPP.finditer(source):
        if found["block"]:
            yield line_at(source, found.start()), re.sub(r"^[ \t]*\*? ?", "", found["block"], flags=re.MULTILINE)
        elif found["lines"]:
            yield from blocks(source, found, r"//[/!]?<?")


def comments_of_python(source: str) -> Iterator[Comment]:
    for found in PYTHON.finditer(source):
        if found["lines"]:
            yield from blocks(source, found, "#[!:]?")
        elif found["text"] and is_docstring(source, found.start()):
            yield line_at(source, found.start()), PROMPT.sub("", inspect.cleandoc(found["text"][3:-3]))


def is_docstring(source: str, start: int) -> bool:
    """Whether the string begins its line, and is the first statement of a file, class or function."""
    before = source[max(start - 300, 0) : start].rstrip(" \trRuU")
    if before and not before.endswith("\n"):
        return False
    lines = [line for line in before.splitlines() if line.strip()]
    while lines and lines[-1].lstrip().startswith("#"):
        lines.pop()
    return not lines or lines[-1].partition("  #")[0].rstrip().endswith(":")


def blocks(source: str, found: re.Match[str], mark: str) -> Iterator[Comment]:
    """Comment lines below each other are one text. Lines below a comment behind code belong to it if they have its
    column."""
    number, column = line_at(source, found.start()), found.start() - source.rfind("\n", 0, found.start()) - 1
    lines = found["lines"].split("\n")
    own = len(lines)
    if source[found.start() - column : found.start()].strip():
        own = next((n for n, line in enumerate(lines) if n and len(line) - len(line.lstrip()) != column), own)
    text = [re.sub(mark, "", line.strip(), count=1).removeprefix(" ") for line in lines]
    yield number, "\n".join(text[:own])
    if text[own:]:
        yield number + own, "\n".join(text[own:])


def line_at(source: str, position: int) -> int:
    return source.count("\n", 0, position) + 1
