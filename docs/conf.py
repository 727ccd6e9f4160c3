"""Sphinx settings of the site (`make docs`). Nothing is downloaded, neither by the build nor by a reader's browser."""

from __future__ import annotations

import pathlib

from docutils import nodes

import askwhen

ROOT = pathlib.Path(__file__).resolve().parent.parent

project = "askwhen"
author = copyright = "The askwhen developers"
version = release = askwhen.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_click",
    "sphinx_gallery.gen_gallery",
]
smartquotes = False  # --json is two dashes
nitpicky = True  # a broken link is an error
suppress_warnings = ["config.cache"]  # the gallery's settings hold a class, which Sphinx cannot pickle

myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]

autosummary_generate = False
autodoc_typehints = "none"  # numpydoc's sections describe types in words
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": [str(ROOT / "examples")],
    "gallery_dirs": ["examples"],
    "filename_pattern": r"\.py$",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "min_reported_time": 10_000,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "askwhen"
html_static_path = ["_static"]
html_css_files = ["askwhen.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}

PAPERS = {
    "Cesa-Bianchi, Gentile, Zaniboni 2006": "cesa-bianchi-2006",
    "Moroshko, Crammer 2014": "moroshko-2014",
    "Moroshko, Crammer: Selective sampling with drift, 2014": "moroshko-2014",
    "Kravchik 2014": "kravchik-2014",
    "Kravchik: Learning drifting data using selective sampling, 2014": "kravchik-2014",
    "Ezukwoke, Zareian": "ezukwoke",
    '"Batch learning via online prediction"': "batch-learning",
}


def cite(app, what, name, obj, options, lines):
    """Link the papers that a docstring names to the bibliography."""
    for i, line in enumerate(lines):
        for paper, label in PAPERS.items():
            line = line.replace(paper, f":ref:`{paper} <{label}>`")
        lines[i] = line


def theirs(app, what, name, obj, skip, options):
    """Skip members that our classes inherit from other packages."""
    return True if not (getattr(obj, "__module__", None) or "askwhen").startswith("askwhen") else skip


def tidy(app, doctree):
    """Remove the empty line at the end of examples, which only doctest needs."""
    for block in doctree.findall(nodes.literal_block):
        if block.astext().endswith("\n"):
            block.rawsource = text = block.astext().rstrip("\n")  # Sphinx highlights only where both are equal
            block[:] = [nodes.Text(text)]


def setup(app):
    """Connect the handlers; Sphinx calls this."""
    app.connect("doctree-read", tidy)
    app.connect("autodoc-skip-member", theirs)
    app.connect("autodoc-process-docstring", cite, priority=400)
