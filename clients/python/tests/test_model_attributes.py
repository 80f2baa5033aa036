"""Coefficients, scales and hyperparameters of fitted models, model files of tuned ones, and the wait of a search."""

import pickle
import re

import numpy as np
import pandas as pd
import pytest

from gpc_tune import GaussianProcessClassifier, GpcTuneError, Search, TunedClassifier, Wait, load

R = np.random.default_rng(11)
X = pd.DataFrame({"a": 3 * R.normal(size=90) + 1, "kind": R.choice(["u", "v"], 90), "who": [f"p{k // 3}" for k in range(90)]})
Y = np.where(X.a + R.normal(size=90) > 1, "yes", "no")
pytestmark = pytest.mark.filterwarnings("ignore::gpc_tune.GpcTuneWarning")


def test_coefficients_and_scales():
    """The probability of the logistic model is that of its coefficients and the scaled inputs."""
    table = X[["a", "kind"]]
    model = GaussianProcessClassifier(inference={"logistic_regression": {"average": "map"}}).fit(table, Y)
    coefficients, scales = (pd.DataFrame(of) for of in (model.coefficients_, model.scales_))
    z = pd.DataFrame({"a": X.a, "kind=u": X.kind == "u", "kind=v": X.kind == "v"}).astype(float)
    assert list(scales["input"]) == list(z)
    assert np.allclose(scales["mean"], z.mean(), rtol=1e-12) and np.allclose(scales["scale"], z.std(ddof=0), rtol=1e-12)
    assert set(coefficients["class"]) == {"yes"} and (coefficients["standard_error"] > 0).all()
    of = dict(zip(coefficients["input"], coefficients["value"]))
    margin = of["bias"] + sum(of[name] * (z[name] - m) / s for name, m, s in zip(*map(list, (z, z.mean(), z.std(ddof=0)))))
    p = model.predict_proba(table)[:, 1]
    assert np.allclose(p, 1 / (1 + np.exp(-margin)), rtol=0, atol=1e-9)
    assert model.hyperparameters_["amplitude"] > 0 and len(model.hyperparameters_) == 1
    report = str(TunedClassifier({"inference": {"logistic_regression": {"average": "map"}}}, verbose=False).fit(table, Y).report_)
    assert float(re.search(r"amplitude=([\d.]+)", report)[1]) == pytest.approx(model.hyperparameters_["amplitude"], rel=1e-3)
    plain = GaussianProcessClassifier(inference="laplace", tune="none", preprocess="none").fit(table, Y)
    assert list(plain.scales_["scale"]) == [1] * 3 and len(plain.coefficients_) == 0


def test_a_file_of_a_tuned_classifier_takes_the_table_of_fit(tmp_path):
    tuned = TunedClassifier({"data": {"group": "who"}, "inference": "laplace", "tune": "none"}, verbose=False).fit(X, Y)
    tuned.save(tmp_path / "m.json")
    loaded = load(tmp_path / "m.json")
    for table in (X, X[["who", "kind", "a"]], X[["a", "kind"]]):
        assert (loaded.predict_proba(table) == tuned.predict_proba(X)).all()
    with pytest.raises(ValueError, match="yet now missing:\n- kind"):
        loaded.predict(X[["a", "who"]])


def test_effects_can_be_pickled():
    found = GaussianProcessClassifier(inference="laplace", tune="none").fit(X[["a"]], Y).effects(X[["a"]], Y)
    again = pickle.loads(pickle.dumps(found))
    assert again.curves.equals(found.curves) and again.report_.page == found.report_.page


def test_a_search_says_that_it_waits():
    search = Search({"x": (0.0, 1.0)}, n_jobs=2, trials=5)
    first, second = search.ask(), search.ask()
    with pytest.raises(Wait, match="tell values first: .*" + first.id) as caught:
        search.ask()
    assert isinstance(caught.value, GpcTuneError)
    search.tell(first, 1.0), search.tell(second, 2.0)
    assert search.ask() is not None
