"""Characters that the encoding of the terminal does not have."""

import codecs
import unicodedata

_INSTEAD = {
    "Δ": "Delta ",
    "²": "^2",
    "³": "^3",
    "…": "...",
    "–": "-",
    "−": "-",
    "±": "+/-",
    "×": "x",
    "·": "*",
    "√": "sqrt",
    "≤": "<=",
    "≥": ">=",
    "→": "->",
    "µ": "u",
    "μ": "u",
}


def register() -> str:
    """The name of an error handler for `str.encode`, which writes similar ASCII characters: ``chi^2`` for ``χ²``."""
    codecs.register_error("culmen.similar", _similar)
    return "culmen.similar"


def _similar(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_ascii, error.object[error.start : error.end])), error.end


def _ascii(character: str) -> str:
    if character in _INSTEAD:
        return _INSTEAD[character]
    kind, _, letter = unicodedata.name(character, "").partition(" LETTER ")
    if kind in ("GREEK SMALL", "GREEK CAPITAL"):
        return letter.capitalize() if kind.endswith("CAPITAL") else letter.lower()
    return unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode() or "?"
