"""Importances and effects of inputs, and sets of classes."""

import sys

import numpy as np
import pandas as pd
import pytest

import gpc_tune


def cases(n, seed=1):
    """Two inputs that matter, as a sum, one that does not, and a category."""
    r = np.random.default_rng(seed)
    X = pd.DataFrame({"age": r.normal(50, 10, n), "dose": r.normal(size=n), "noise": r.normal(size=n),
                      "sex": r.choice(["f", "m"], n)}, index=np.arange(n) + 100)
    f = (X["age"] - 50) / 5 + 1.5 * X["dose"]
    return X, np.where(f + r.logistic(size=n) > 0, "ill", "well")


def test_effects():
    X, y = cases(120)
    model = gpc_tune.GaussianProcessClassifier(inference="laplace").fit(X, y)
    held, labels = cases(150, 2)
    found = model.effects(held, labels, inputs=["age", "sex"], pairs=[("age", "dose")], random_state=3)
    table = found.importance.set_index("input")
    assert set(table.index) == set(X.columns) and list(table.index[:2]) == ["age", "dose"]
    assert (table["lo"] <= table["bits"]).all() and table["lo"]["age"] > table["noise"]["age"] > 0 < found.base_bits
    curves = found.curves
    well = curves[(curves["class"] == "well") & (curves["kind"] == "partial_dependence") & (curves["scale"] ==
                 "probability") & (curves["input"] == "age") & (curves["beside"] == "")].sort_values("x")
    assert well["mean"].iloc[-1] < well["mean"].iloc[0] - .5 and (well["lo"] <= well["mean"]).all()
    assert set(curves[curves["input"] == "sex"]["level"]) == {"f", "m"} and set(curves["beside"]) == {"", "dose"}
    assert "<html" in found.report_.page and "iframe" in found._repr_html_()
    with pytest.raises(ValueError, match="unseen labels: .'other'"):
        model.effects(held, np.where(labels == "ill", "ill", "other"))
    with pytest.raises(gpc_tune.InvalidError, match="no input \"agee\""):
        model.effects(held, labels, inputs=["agee"])


def test_effects_of_an_array_without_labels(monkeypatch):
    X, y = cases(60)
    X = X[["age", "dose"]].to_numpy()
    model = gpc_tune.GaussianProcessClassifier(inference="laplace").fit(X, y == "ill")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.warns(gpc_tune.GpcTuneWarning, match="importances need y"):
        found = model.effects(X)
    assert len(found.importance) == 0 and set(found.curves["input"]) == {"x1", "x2"} and np.isnan(found.base_bits)
    assert found.curves.dtype.names[:3] == ("input", "kind", "scale")


@pytest.mark.parametrize("make", [lambda: gpc_tune.GaussianProcessClassifier(inference="laplace", cv=4),
                                  lambda: gpc_tune.TunedClassifier(time="2s", verbose=False)])
def test_sets(make):
    X, y = cases(150)
    model = make().fit(X, y)
    held, labels = cases(400, 5)
    found = model.sets(held)
    assert list(found.columns) == ["ill", "well"] and (found.index == held.index).all() and found.dtypes.eq(bool).all()
    inside = found.to_numpy()[np.arange(400), (labels == "well").astype(int)]
    for name in ("ill", "well"):
        assert .8 < inside[labels == name].mean() < .98
    wider = model.sets(held, 0.97)
    assert (wider | ~found).all(axis=None) and wider.to_numpy().sum() > found.to_numpy().sum()
    assert model.sets(held.head(3)).shape == (3, 2)
    with pytest.raises(gpc_tune.InvalidError, match="coverage is 1.5, expected"):
        model.sets(held, 1.5)


def test_sets_of_arrays_and_without_folds():
    X, y = cases(90)
    X = X[["age", "dose"]].to_numpy()
    y = np.where(X[:, 1] > 1, 3, np.where(y == "ill", 2, 1))
    model = gpc_tune.GaussianProcessClassifier(inference="laplace", cv=3).fit(X, y)
    found = model.sets(X)
    assert found.shape == (90, 3) and found.dtype == bool
    assert found[np.arange(90), y - 1].mean() > .8
    with pytest.raises(gpc_tune.InvalidError, match="no held-out folds to compare with"):
        gpc_tune.GaussianProcessClassifier(inference="laplace").fit(X, y).sets(X)
