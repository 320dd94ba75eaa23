"""Sphinx configuration; `make docs` builds the pages with warnings as errors and nothing fetched."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "Pyramid Arena"
copyright = "the authors of Pyramid Arena"
extensions = ["myst_parser", "sphinx.ext.autodoc", "generated"]
exclude_patterns = ["_build", "generated/parts"]
nitpicky = True
autodoc_mock_imports = ["gymnasium", "pettingzoo"]  # an extra, whose base classes are not described here
nitpick_ignore_regex = [
    ("py:.*", r"(?!(arena|bots|engine)(\.|$)).*"),  # other projects: nothing is fetched to link to
    ("py:.*", r"arena\.(core|match|plan|runner|workers)\..*"),  # what programs pass on without looking into it
]

myst_enable_extensions = ["colon_fence", "deflist", "html_image"]
myst_heading_anchors = 4
smartquotes = False  # quotes in commands are to be copied

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 90
default_role = "code"

html_theme = "furo"
html_title = "Pyramid Arena"
html_static_path = ["_static"]
html_css_files = ["tables.css"]
html_copy_source = False
html_show_sourcelink = False
