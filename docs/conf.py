"""How Sphinx makes the site of these files: ``make docs`` writes it to build/site."""

from culmen.cli.work.optimizers import allowed, shown

import culmen

project = "culmen"
version = release = culmen.__version__
copyright = "the authors of culmen"  # noqa: A001 - Sphinx calls it so
extensions = ["myst_parser", "sphinx.ext.autodoc"]
html_theme = "furo"
html_title = f"culmen {version}"
html_show_sphinx = False
myst_heading_anchors = 3
highlight_language = "none"  # of blocks that name none
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autodoc_class_signature = "separated"


def _add_optimizers(_app, document, source):
    """The catalogue of optimizers ends the page about them."""
    if document == "reference/optimizers":
        source[0] += "\n".join(map(_section, culmen._core.optimizer_catalogue()))


def _section(entry):
    rows = "".join(
        f"| `{o['name']}` | {o['about']} | {allowed(o)} | {shown(o['default'])} |\n" for o in entry["options"]
    )
    table = f"\n| option | meaning | allowed | default |\n|---|---|---|---|\n{rows}" if rows else ""
    return f"\n## `{entry['name']}`\n\n{entry['about'][:1].upper()}{entry['about'][1:]}.\n{table}"


def setup(app):
    app.connect("source-read", _add_optimizers)
