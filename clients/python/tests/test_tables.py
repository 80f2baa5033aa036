"""Tables reach the program without rounding, and its probabilities come back to the last bit."""

import csv
import io
import os
import subprocess

import numpy as np
import pandas as pd
import pytest

import gpc_tune
from gpc_tune import _table

SETS = os.path.join(os.path.dirname(__file__), "..", "..", "..", "experiments", "data", "sets")
RNG = np.random.default_rng(1)


def of_the_program(model, frame, tmp_path):
    """The probabilities of gpc-tune predict for a CSV file of the frame."""
    model.save(tmp_path / "model.json")
    names = [c.name for c in model._inputs]
    frame = pd.DataFrame({name: frame.iloc[:, j] for j, name in enumerate(names)})
    frame.to_csv(tmp_path / "new.csv", index=False)  # pandas writes the shortest decimals
    out = subprocess.run([gpc_tune._process.program(), "predict", str(tmp_path / "model.json"),
                          str(tmp_path / "new.csv")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    rows = list(csv.reader(io.StringIO(out.stdout.decode())))
    return np.array([[float(row[rows[0].index(f"p[{name}]")]) for name in model._names] for row in rows[1:]])


def bundled(name, cases=60):
    """Rows of a bundled set, whose last column is the label, with inputs that have all digits."""
    with open(os.path.join(SETS, name + ".csv")) as file:
        frame = pd.read_csv(io.StringIO("".join(line for line in file if not line.startswith("#"))))
    frame = frame.sample(cases, random_state=1)
    frame = frame[frame.groupby(frame.columns[-1])[frame.columns[0]].transform("size") > 4]
    X = frame.iloc[:, :-1].copy()
    for column in X.select_dtypes("number"):
        X[column] = X[column] * (1 + RNG.normal(size=len(X)) / 7)
    return X, frame.iloc[:, -1]


def made(kind, n=60):
    x = RNG.normal(size=(n, 3))
    y = np.where(x[:, 0] + RNG.normal(size=n) / 2 > 0, "yes", "no")
    X = pd.DataFrame(x, columns=["a", "b b", "µ"])
    if kind == "extremes":
        X["a"] = x[:, 0] * 1e-300
        X["µ"] = np.exp(20 * x[:, 2]) * 2.0**60 + 1 / 3
    elif kind == "missing":
        X.iloc[::7, 1] = np.nan
        X["whole"] = pd.array(RNG.integers(0, 9, n), dtype="Int64")
        X.iloc[3, 3] = pd.NA
    elif kind == "categories":
        X["town"] = pd.Categorical(RNG.choice(["Köln", "Bonn, a", "NA", "7"], n))
        X["ward"] = pd.Categorical(RNG.integers(1, 4, n))
        X["free"] = RNG.choice(["x", "y"], n)
    elif kind == "float32":
        X = X.astype(np.float32)
    elif kind == "truth":
        X["t"] = x[:, 1] > 0
    return X, pd.Series(y)


TABLES = {name: bundled for name in ("iris", "pima_train", "glass", "ionosphere", "wine", "thyroid", "ripley_train")}
TABLES.update({name: made for name in ("extremes", "missing", "categories", "float32", "truth")})


@pytest.mark.parametrize("name", TABLES)
def test_probabilities_are_those_of_the_program(name, tmp_path):
    X, y = TABLES[name](name)
    inference = "logistic_regression" if name in ("glass", "wine") else "laplace"
    model = gpc_tune.GaussianProcessClassifier(inference=inference, tune="none").fit(X, y)
    seen = X
    if name == "float32":  # a text of a float32 is another float64
        seen = X.astype(np.float64)
    if name == "truth":
        seen = X.assign(t=X.t.astype(int))
    if name == "categories":
        seen = X.assign(town=[_table.text_of(v).decode() for v in X.town])
    want = of_the_program(model, seen, tmp_path)
    assert (model.predict_proba(X) == want).all()
    assert set(model.predict(X)) <= set(model.classes_) == set(y)


def test_types_of_columns_are_kept():
    n = 80
    when = pd.to_datetime("2024-01-31 22:30") + pd.to_timedelta(RNG.integers(0, 9000, n), "h")
    pain = pd.Categorical(RNG.choice(["none", "mild", "severe"], n), ["none", "mild", "severe", "worst"], ordered=True)
    X = pd.DataFrame({"when": when, "pain": pain, "ill": pd.array(RNG.random(n) > .5, dtype="boolean"),
                      "stay": pd.to_timedelta(RNG.integers(1, 99, n), "m"), "zoned": when.tz_localize("Europe/Berlin"),
                      "text": pd.array(RNG.choice(["a", "b"], n), dtype="string")})
    X.loc[2, ["when", "pain", "ill", "stay", "text"]] = None
    y = pain.codes > 0
    model = gpc_tune.GaussianProcessClassifier("{se: {ard: true}}", inference="laplace").fit(X, y)
    inputs = {c["name"]: c for c in model._model.field("columns")["inputs"]}
    assert inputs["pain"]["order"] == ["none", "mild", "severe", "worst"]
    assert inputs["when"]["date"]["parts"] == ["days", "month", "weekday", "hour"] == inputs["zoned"]["date"]["parts"]
    assert inputs["text"]["levels"] == ["a", "b"]
    assert not set(inputs["ill"]) - {"name", "index"} and not set(inputs["stay"]) - {"name", "index"}
    assert model.score(X, y) > .9
    new = X.iloc[:1].assign(pain="unheard of", text=7)
    with pytest.warns(gpc_tune.GpcTuneWarning):
        assert model.predict_proba(new).shape == (1, 2)


@pytest.mark.parametrize("y", [[0, 1], [True, False], ["NA", "?"], ["a", "A"], [-1.0, 1.0], ["01", "1"],
                               [" x", "x"], ["null", "é, \"q\""], list(range(12)), [10**15, 2]], ids=str)
def test_labels_come_back_as_they_went(y):
    y = np.repeat(np.array(y), 6)
    X = np.arange(len(y)) + RNG.random(len(y)) / 9
    model = gpc_tune.GaussianProcessClassifier(inference="logistic_regression").fit(X[:, None], y)
    assert (model.classes_ == np.unique(y)).all()
    predicted = model.predict(X[:, None])
    assert predicted.dtype == y.dtype and set(predicted) <= set(y)
    assert (model.classes_[model.predict_proba(X[:, None]).argmax(1)] == predicted).all()


def test_mistakes_are_exceptions():
    X, y = [[0.], [1.], [2.], [3.]], [0, 0, 1, 1]
    with pytest.raises(gpc_tune.InvalidError, match='unknown kernel "sse".*se') as wrong:
        gpc_tune.GaussianProcessClassifier("sse").fit(X, y)
    assert isinstance(wrong.value, ValueError) and wrong.value.code == 3
    with pytest.raises(ValueError, match="infinity"):
        gpc_tune.GaussianProcessClassifier().fit([[0.], [np.inf]], [0, 1])
    with pytest.raises(ValueError, match="sample_weight"):
        gpc_tune.GaussianProcessClassifier().fit(X, y, sample_weight=[1, 1, 1, -1])
