"""The report as one HTML file. It needs no network and no other file."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import Any

from .files import Kind
from .style import Figure, short_names

_GENERATOR = "culmen report"
PAGE = Kind("report", lambda _path, head: _GENERATOR.encode() in head)
_MOST_BYTES, _NOTE_BYTES = 4_900_000, 1000
_HEADINGS = 70  # characters of a matrix's headings that fit side by side
_TRACES = {"scatter", "bar"}
_LIBRARY = "plotly/plotly-basic.min.js"  # npm: plotly.js-basic-dist-min 4.1.1, unchanged (MIT, LICENSE beside it)


def page(title: str, lead: str, sections: Sequence[Section], figures: Sequence[Figure]) -> str:
    """``lead`` and the sections' bodies are HTML; their titles are text.

    Only the page's own three scripts may run (Content-Security-Policy), and nothing is loaded. So text that was not
    escaped is harmless. The page has at most 5 MB: notes replace the largest parts.
    """
    unknown = {trace["type"] for figure in figures for trace in figure.data} - _TRACES
    assert not unknown, f"the bundled part of plotly cannot draw {unknown}"
    library, starter = _resource(_LIBRARY), _resource("page.js")
    written = [section.body for section in sections], [_script(_drawable(figure)) for figure in figures]
    bodies_of, drawn = _bounded(*written, _MOST_BYTES - len(library) - len(title.encode()))
    data = f"[{','.join(drawn)}]"
    allowed = " ".join(f"'sha256-{_digest(script)}'" for script in (library, starter))
    policy = f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:"
    links = "".join(f'<a href="#{s.key}">{text(s.title)}</a>' for s in sections)
    bodies = "\n".join(
        f'<section id="{s.key}" aria-labelledby="{s.key}-title">'
        f'<h2 id="{s.key}-title">{text(s.title)}</h2>\n{body}</section>'
        for s, body in zip(sections, bodies_of, strict=True)
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="generator" content="{_GENERATOR}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{text(title)}</title>
<style>{_resource("page.css")}</style>
</head>
<body>
<header><h1>{text(title)}</h1>
{lead}
<nav aria-label="Sections">{links}</nav></header>
<main>
<noscript><p>The figures need JavaScript; the rest of the page does not.</p></noscript>
{bodies}
</main>
<script type="application/json" id="figures">{data}</script>
<script>{library}</script>
<script>{starter}</script>
</body>
</html>
"""


def _bounded(bodies: list[str], drawn: list[str], room: int) -> tuple[list[str], list[str]]:
    """Replaces sections and figures that are too large for the room (bytes) by notes."""
    parts = [*bodies, *drawn]
    sizes = [len(part.encode()) for part in parts]
    while sum(sizes) > room and max(sizes) > _NOTE_BYTES:
        k = max(range(len(parts)), key=sizes.__getitem__)
        note = f"Left out: it has {sizes[k] / 1e6:.1f} MB, but this page has at most {_MOST_BYTES / 1e6:.0f} MB."
        parts[k] = f'<p class="note">{note}</p>\n' if k < len(bodies) else _empty(parts[k], note)
        sizes[k] = len(parts[k].encode())
    return parts[: len(bodies)], parts[len(bodies) :]


def _empty(figure: str, note: str) -> str:
    layout = {"height": 120, "annotations": [{"text": note, "showarrow": False}]}
    return _script({"key": json.loads(figure)["key"], "data": [], "layout": layout})


def _script(content: Any) -> str:
    """JSON that can stand inside a script element."""
    data = json.dumps(content, allow_nan=False, default=_array, separators=(",", ":"))
    return data.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


class Section:
    def __init__(self, key: str, title: str, body: str) -> None:
        self.key, self.title, self.body = key, title, body


def text(value: object) -> str:
    return html.escape(str(value))


def place_of(figure: Figure) -> str:
    """The place of a figure, with its caption and notes."""
    notes = "".join(f"<br>{text(note)}" for note in figure.notes)
    return (
        f'<figure><figcaption>{text(figure.about)}{notes}</figcaption><div class="plot" id="{figure.key}" role="img" '
        f'aria-label="{text(figure.title)}: {text(figure.about)}" style="height:{figure.layout["height"]}px"></div>'
        "</figure>\n"
    )


def table(rows: Iterable[Sequence[object]], headings: Sequence[str] = (), numbers: Sequence[int] = ()) -> str:
    """``numbers``: columns that are aligned to the right. Without headings, the first column is a heading."""

    def cell(k: int, value: object) -> str:
        kind = ' class="number"' if k in numbers else ""
        return (
            f'<th scope="row"{kind}>{text(value)}</th>' if k == 0 and not headings else f"<td{kind}>{text(value)}</td>"
        )

    right = ' class="number"'
    top = "".join(f'<th scope="col"{right if k in numbers else ""}>{text(h)}</th>' for k, h in enumerate(headings))
    head = f"<thead><tr>{top}</tr></thead>" if headings else ""
    body = "".join(f"<tr>{''.join(cell(k, value) for k, value in enumerate(row))}</tr>\n" for row in rows)
    return f'<div class="wide"><table>{head}<tbody>{body}</tbody></table></div>\n'


def preformatted(content: str) -> str:
    return f"<pre>{text(content)}</pre>\n"


def matrix(names: Sequence[str], numbers: Iterable[Iterable[float]]) -> str:
    """Correlations as numbers. Stronger ones have a darker shade, and strong ones are bold."""

    def cell(value: float) -> str:
        if math.isnan(value):
            return "<td>–</td>"
        shade = int(255 - 120 * abs(value))
        strong = ' class="strong"' if abs(value) >= 0.5 else ""
        return f'<td{strong} style="background:rgb({shade},{shade},{shade})">{value:+.2f}</td>'.replace("-", "−")

    short = short_names(names, 18)
    way = ' class="upright"' if sum(map(len, names)) > _HEADINGS else ""
    top = "".join(f'<th scope="col"{way}><span>{name}</span></th>' for name in short)
    rows = "".join(
        f'<tr><th scope="row">{name}</th>{"".join(cell(float(v)) for v in row)}</tr>\n'
        for name, row in zip(short, numbers, strict=True)
    )
    head = f"<thead><tr><td></td>{top}</tr></thead>"
    return f'<div class="wide"><table class="matrix">{head}<tbody>{rows}</tbody></table></div>\n'


def _drawable(figure: Figure) -> dict[str, Any]:
    return {"key": figure.key, "data": figure.data, "layout": figure.layout}


def _array(values: Any) -> Any:
    """Plotly's own form of typed arrays (https://plotly.com/javascript/reference: typed array specification)."""
    import numpy as np

    if isinstance(values, np.generic):
        return values.item()
    kind = "f4" if values.dtype == np.float32 else "f8"
    data = np.ascontiguousarray(values, dtype=f"<{kind}")
    return {"dtype": kind, "bdata": base64.b64encode(data.tobytes()).decode()}


def _resource(name: str) -> str:
    return (resources.files(__package__) / name).read_text(encoding="utf-8")


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
