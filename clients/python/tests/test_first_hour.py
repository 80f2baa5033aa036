"""What somebody who knows scikit-learn tries in the first hour."""

import inspect
import io
import pydoc
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest

import gpc_tune

R = np.random.default_rng(5)
X = pd.DataFrame({"a": R.normal(size=60), "b": R.normal(size=60), "kind": R.choice(["u", "v"], 60),
                  "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(R.integers(0, 500, 60), "D")})
Y = (X["a"] + R.normal(size=60) > 0).astype(int).to_numpy()


def fitted(y=Y, **options):
    return gpc_tune.GaussianProcessClassifier(inference="laplace", **options).fit(X, y)


def test_help_of_the_package():
    out = io.StringIO()
    pydoc.Helper(io.StringIO(), out).help(gpc_tune)
    assert "TunedClassifier" in out.getvalue() and "minimize" in out.getvalue() and gpc_tune.__version__


@pytest.mark.parametrize("y", [Y, Y == 1, np.where(Y, "ill", "well")], ids=["numbers", "truth", "texts"])
def test_load(y, tmp_path):
    model = fitted(y, cv=3)
    model.save(tmp_path / "model.json")
    model.predict_proba(X).tofile(tmp_path / "want")
    X.to_pickle(tmp_path / "X")
    code = "import sys, numpy as np, pandas as pd, gpc_tune\nfolder = sys.argv[1]\n" \
           "X, model = pd.read_pickle(folder + '/X'), gpc_tune.load(folder + '/model.json')\n" \
           "assert (model.predict_proba(X).ravel() == np.fromfile(folder + '/want')).all()\n" \
           "print(model, model.classes_.tolist(), list(model.feature_names_in_), model.sets(X).shape)"
    said = subprocess.run([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, check=True).stdout
    assert said.decode().strip() == ("GaussianProcessClassifier(inference='laplace', likelihood='probit') "
                                     f"{model.classes_.tolist()} {list(X.columns)} (60, 2)")
    assert gpc_tune.load(tmp_path / "model.json").predict(X).dtype == model.predict(X).dtype


def test_load_of_something_else(tmp_path):
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(gpc_tune.InvalidError, match="model.json is no model file"):
        gpc_tune.load(tmp_path / "model.json")


def test_why_sums_to_the_probability():
    """Shapley values of all inputs have the prediction without its mean as their sum."""
    model = fitted()
    table, proba = model.why(X.iloc[:3]), model.predict_proba(X.iloc[:3])
    assert list(table.columns) == ["class", "base", *X.columns, "nearest", "outside"]
    assert (table.index == X.index[:3]).all()
    explained = proba[np.arange(3), [model.classes_.tolist().index(c) for c in table["class"]]]
    assert np.allclose(table[["base", *X.columns]].sum(axis=1), explained, atol=1e-12)


def test_why_names_rows_of_fit(tmp_path):
    """The nearest training case of a training case is the case itself, whatever the order and the weights."""
    inputs, classes = np.random.default_rng(0).normal(size=(40, 2)), np.repeat(["p", "n"], 20)
    weight = np.where(np.arange(40) % 7 == 3, 0.0, 1.0)
    model = gpc_tune.GaussianProcessClassifier(inference="laplace").fit(inputs, classes, weight)
    kept = np.flatnonzero(weight)[:6]
    for i, text in zip(kept, model.why(inputs[kept])["nearest"]):
        assert text.startswith(f"{i} ({classes[i]}, 1.00)"), (i, text)
    induced = gpc_tune.GaussianProcessClassifier(inference={"laplace": {"inducing": 5}}).fit(inputs, classes)
    assert list(induced.why(inputs[:2])["nearest"]) == ["", ""]
    model.save(tmp_path / "model.json")
    assert gpc_tune.load(tmp_path / "model.json").why(inputs[:1])["nearest"][0].startswith(f"({classes[0]}, 1.00)")


def test_a_label_with_the_name_of_an_input_leaves_the_inputs_their_names():
    label = (X["a"] > R.normal(size=60)).astype(int)
    assert label.name == "a"
    model = gpc_tune.GaussianProcessClassifier(inference="laplace").fit(X, label, np.repeat([1, 2], 30))
    assert set(model.effects(X, label, inputs=["a"]).importance["input"]) == set(X.columns)
    assert [c["name"] for c in model._model.field("columns")["inputs"]] == list(X.columns)


def test_warnings_name_the_line_that_called():
    model = fitted()
    missing = X.assign(a=np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(missing), model.effects(missing, Y)  # missing values are allowed
    with pytest.warns(gpc_tune.GpcTuneWarning, match="do not occur") as seen:
        line = inspect.currentframe().f_lineno + 1
        model.predict(X.assign(kind="w"))
    assert [(w.filename, w.lineno) for w in seen] == [(__file__, line)]


@pytest.mark.parametrize("what, text", [
    (lambda: fitted().sets(X), r"GaussianProcessClassifier\(cv=10\)"),
    (lambda: fitted(cv=3).sets(X, coverage=90), "coverage is 90, expected a number between 0 and 1"),
    (lambda: gpc_tune.TunedClassifier({"model": {"kernel": "se", "likelihood": "probitt"}}).fit(X, Y),
     r'likelihood "probitt"(.|\n)*\n    "likelihood": "probitt"'),
    (lambda: gpc_tune.Search({"x": {"from": 0, "to": 1}}).ask(), 'expected a range(.|\n)*\n    "x": {'),
    (lambda: gpc_tune.Search({"x": range(3)}), r"the range of x is range\(0, 3\), expected"),
    (lambda: gpc_tune.Search({"x": (1, 2, 3)}), r"the range of x is \(1, 2, 3\), expected"),
    (lambda: gpc_tune.GaussianProcessClassifier().fit(X.assign(d=pd.period_range("2020", periods=60)), Y), "input d "),
], ids=range(7))
def test_a_mistake_is_named_in_words_of_python(what, text):
    with pytest.raises((ValueError, TypeError), match=text):
        what()


def test_a_search_without_values():
    search = gpc_tune.Search({"x": (0.0, 1.0)}, trials=2)
    with pytest.raises(gpc_tune.GpcTuneError, match="^no point has a value yet$"):
        search.best_
    search.tell(search.ask(), None, "no luck")
    assert len(search.trials_) == 1
    with pytest.raises(gpc_tune.GpcTuneError, match="no point has a value yet; the last has failed: no luck"):
        search.best_


def test_ranges_as_python_has_them():
    space = {"rate": {"log": (1e-4, 1.0)}, "n": (np.int64(1), np.int64(8)), "part": (np.float64(.25), 1),
             "more": {"linear": {"from": 0, "to": 9, "init": 4, "when": {"n": {"above": 4}}}}}
    seen = []
    gpc_tune.minimize(lambda p: seen.append(p) or p["rate"], space, trials=8, method="sobol")
    assert all(1e-4 <= p["rate"] <= 1 and p["n"] in range(1, 9) and .25 <= p["part"] <= 1 for p in seen)
    assert {p["more"] for p in seen if p["n"] <= 4} == {4} != {p["more"] for p in seen if p["n"] > 4}


def test_a_time_in_seconds():
    tuned = gpc_tune.TunedClassifier(time=1, verbose=False).fit(X, Y)
    assert tuned.answer_["configuration"] >= 0
