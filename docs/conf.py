"""Sphinx configuration; `make docs` builds the pages with warnings as errors and nothing fetched."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Pyramid Arena"
copyright = "the authors of Pyramid Arena"
extensions = ["myst_parser", "generated"]
exclude_patterns = ["_build"]
nitpicky = True

myst_enable_extensions = ["colon_fence", "deflist", "html_image"]
myst_heading_anchors = 4
smartquotes = False  # quotes in commands are to be copied

html_theme = "furo"
html_title = "Pyramid Arena"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_copy_source = False
html_show_sourcelink = False
