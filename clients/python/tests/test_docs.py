"""The Python of the page runs as it stands."""

import doctest
import os
import re

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import gpc_tune

ROOT = os.path.join(os.path.dirname(__file__), "..", "..", "..")


@pytest.mark.filterwarnings("ignore")
def test_page(monkeypatch):
    monkeypatch.chdir(ROOT)
    with open("docs/python.md", encoding="utf-8") as file:
        text = file.read().split("## Four notebooks")[0]  # which have a test of their own
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    assert len(blocks[0].splitlines()) == 5 and len(blocks) > 2
    names = {}
    for block in blocks:
        exec(block.replace('"30s"', '"2s", verbose=False'), names)  # a test has less time
    assert names["model"].predict_proba(names["X"].head()).shape == (5, 2)


@pytest.mark.parametrize("of", [gpc_tune.GaussianProcessClassifier, gpc_tune.TunedClassifier, gpc_tune.minimize])
def test_examples_of_docstrings(of, monkeypatch, tmp_path):
    """The lines of each example run, one after another; what they print is not compared."""
    monkeypatch.chdir(tmp_path)
    data = np.random.default_rng(0).normal(size=(60, 2))
    names = {"np": np, "GridSearchCV": GridSearchCV, "X": data, "y": data[:, 0] > 0, **vars(gpc_tune)}
    examples = doctest.DocTestParser().get_examples(of.__doc__)
    assert 4 <= sum(len(one.source.splitlines()) for one in examples) <= 8
    for one in examples:
        exec(compile(one.source, of.__name__, "single"), names)
    if of is gpc_tune.minimize:
        assert any(t["stopped"] for t in names["search"].trials_) and (tmp_path / "rates").is_dir()
    if of is gpc_tune.TunedClassifier:
        assert np.allclose(names["again"].predict_proba(data), names["tuned"].predict_proba(data), rtol=0, atol=1e-4)
