"""How the site is built: `make docs`. Nothing is fetched, neither while it is built nor by a browser that reads it."""

from __future__ import annotations

import pathlib

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
nitpicky = True  # a link that leads nowhere is an error
suppress_warnings = ["config.cache"]  # the gallery's settings hold a class, which cannot be kept between two builds

myst_heading_anchors = 3
myst_enable_extensions = ["deflist"]

autosummary_generate = False
autodoc_typehints = "none"  # numpydoc's sections say it in words
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
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
