"""How Sphinx makes the site of these files: ``make docs`` writes it to build/site."""

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
