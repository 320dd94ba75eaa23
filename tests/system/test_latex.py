"""LaTeX compiles what is exported for a paper, and prints nothing beyond the margins."""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest

from arena import api
from arena.match.estimates import pack_estimates
from arena.store import Store
from tests.support.samples import all_matches, begin, entry, finished, random_row, schedule

PROGRAM = shutil.which("pdflatex")
LABELS = ("alice", r"50%_#&{}\~^<$", 'a|b "c" --d', "uct:simulations=1000,exploration=1.4,rave=300,solve=true")
DOCUMENT = r"""
\documentclass{article}
\usepackage{booktabs,graphicx}
\begin{document}
\input{paper/paper_methods}
\input{paper/paper_table}
\bibliographystyle{plain}
\bibliography{paper/paper}
\end{document}
"""


@pytest.mark.system
@pytest.mark.skipif(not PROGRAM, reason="needs pdflatex: apt-get install texlive-latex-recommended")
def test_a_document_of_the_tutorial_compiles_whatever_bots_are_called(tmp_path):
    plan = schedule([entry(f"bot{number}", label=label) for number, label in enumerate(LABELS)], (2, 3), blocks=4)
    told = {"clocks": "0,0,20400,20400,0 1,1,42,42,0", "estimates": pack_estimates([(0, [], [], [], 1200)])}
    rng = random.Random(1)
    with Store.create(tmp_path / "matches.db") as store:
        found = [finished(spec, random_row(spec, rng)._replace(**told)) for spec in all_matches(plan)]
        store.add(plan, found, begin(store, plan))
    api.export(tmp_path / "matches.db", out=tmp_path / "paper", what=["paper"])
    (tmp_path / "paper.tex").write_text(DOCUMENT)
    compiled = subprocess.run(
        [str(PROGRAM), "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert compiled.returncode == 0, compiled.stdout
    assert "Overfull" not in compiled.stdout, compiled.stdout
