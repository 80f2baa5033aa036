"""What somebody who knows scikit-learn tries in the first hour."""

import importlib
import inspect
import io
import json
import os
import pickle
import pydoc
import re
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gpc_tune
from conftest import points
from gpc_tune import _classifiers

R = np.random.default_rng(5)
X = pd.DataFrame({"a": R.normal(size=60), "b": R.normal(size=60), "kind": R.choice(["u", "v"], 60),
                  "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(R.integers(0, 500, 60), "D")})
Y = (X["a"] + R.normal(size=60) > 0).astype(int).to_numpy()


ALL = os.environ.get("GPC_TUNE_TEST_ALL", "")


def fitted(y=Y, **options):
    return gpc_tune.GaussianProcessClassifier(inference="laplace", **options).fit(X, y)


def test_help_of_the_package():
    out = io.StringIO()
    pydoc.Helper(io.StringIO(), out).help(gpc_tune)
    assert "TunedClassifier" in out.getvalue() and "minimize" in out.getvalue()


@pytest.mark.parametrize("said, want", [("v1.2.3", "1.2.3"), ("v1.2.3-devel", "1.2.3.dev0"), ("v1.2.3-rc.1", "1.2.3-rc.1"), (
    "v1.2.3-0.20260203040506-0123456789ab+dirty", "1.2.3.dev20260203040506+g0123456789ab.dirty")])
def test_version_of_the_program(said, want, monkeypatch):
    version = importlib.import_module("packaging.version").Version
    assert version(gpc_tune.__version__) > version("0")
    monkeypatch.setattr(gpc_tune._process.Process, "command", lambda *args: f"gpc-tune {said} go1.26 linux/amd64")
    assert gpc_tune.__version__ == want and version(want) >= version("1.2.3.dev0")


def test_version_without_the_program(monkeypatch):
    gpc_tune._process.resident().close()
    monkeypatch.setenv("GPC_TUNE_PROGRAM", "/nowhere")
    with pytest.raises(AttributeError, match="GPC_TUNE_PROGRAM names /nowhere, which is no program"):
        gpc_tune.__version__


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
    (lambda: fitted(cv=KFold(5)), r"cv is KFold\(.*\), expected a number of folds, such as 10, or None"),
    (lambda: fitted().predict(X.assign(a="high")), "no value of 'a' is a number as in fit; one is 'high'"),
    (lambda: gpc_tune.Search({"x": {1, 2}}), r"the range of x is {1, 2}, expected"),
    (lambda: gpc_tune.Search({"x": (1, 2, 3)}), r"the range of x is \(1, 2, 3\), expected"),
    (lambda: gpc_tune.GaussianProcessClassifier().fit(X.assign(d=pd.period_range("2020", periods=60)), Y), "input d "),
], ids=range(9))
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
    assert all(("more" in p) == (p["n"] > 4) for p in seen)


def test_a_time_in_seconds():
    tuned = gpc_tune.TunedClassifier(time=1, verbose=False).fit(X, Y)
    assert tuned.answer_["configuration"] >= 0
    assert {"inference", "preprocess", "tune"} <= set(tuned.answer_["model"])

SPACE = {"rate": {"log": (1e-4, 1.0)}, "n": (1, 8), "kind": ["a", "b"],
         "more": {"linear": {"from": 0, "to": 9, "when": {"kind": "b"}}}}


def loss(point):
    return abs(np.log(point["rate"]) + 3) + point["n"] + point.get("more", 2)


@pytest.mark.parametrize("method", ["bayes", "sobol"])
def test_a_search_goes_on_with_more_trials(method, tmp_path):
    """The trials are those of a search that had as many from the beginning."""
    def stopped(point):
        seen.append(point)
        if len(seen) == 7:
            raise KeyboardInterrupt
        return loss(point)

    def search(trials, f=loss, **more):
        return gpc_tune.minimize(f, SPACE, trials=trials, method=method, random_state=1, **more)

    seen = []
    assert len(search(4, stopped, folder=tmp_path / "mine").trials_) == 4
    with pytest.raises(KeyboardInterrupt):
        search(8, stopped, folder=tmp_path / "mine")
    found = search(9, stopped, folder=tmp_path / "mine")
    assert len(seen) == 10 and seen[6] == seen[7] and points(found) == points(search(9))
    with pytest.raises(gpc_tune.InvalidError, match="trials was 9, and is 4"):
        search(4, folder=tmp_path / "mine")


@pytest.mark.parametrize("change, text", [
    ({"random_state": 2}, "random_state was 1, and is 2"),
    ({"method": "random"}, "method was 'sobol', and is 'random'"),
    ({"stop_early": "median"}, "stop_early was None, and is 'median'"),
    ({"space": {"x": (0.0, 2.0)}}, r"space\['x'\] was .*1\.0.*, and is .*2\.0"),
    ({"space": {"y": (0.0, 1.0)}}, r"space\['x'\] was .*, and is None; space\['y'\] was None"),
], ids=range(5))
def test_a_search_with_other_arguments(change, text, tmp_path):
    same = {"f": lambda p: p["x"], "space": {"x": (0.0, 1.0)}, "trials": 3, "method": "sobol", "random_state": 1,
            "folder": tmp_path / "mine"}
    gpc_tune.minimize(**same)
    with pytest.raises(gpc_tune.InvalidError, match=text) as wrong:
        gpc_tune.minimize(**{**same, **change})
    assert "another folder" in str(wrong.value) and not SHELL.search(str(wrong.value))
    assert len(gpc_tune.minimize(**{**same, "trials": 5}).trials_) == 5


def test_a_mistake_in_a_search_can_be_mended(tmp_path):
    with pytest.raises(gpc_tune.InvalidError, match="^method is 'bays', expected one of bayes, auto, random, sobol"):
        gpc_tune.minimize(loss, SPACE, method="bays", folder=tmp_path / "mine")
    assert gpc_tune.minimize(loss, SPACE, trials=2, method="sobol", folder=tmp_path / "mine").done


def test_a_function_gets_active_values_alone(tmp_path):
    seen = []
    space = {"net.kind": ["a", "b"], "net.more": {"linear": {"from": 0, "to": 9, "when": {"net.kind": "b"}}},
             "last": {"whole": {"from": 1, "to": 3, "when": {"net.more": {"above": 4}}}}}
    search = gpc_tune.minimize(lambda p: seen.append(p) or 1.0, space, trials=16, method="sobol")
    for p in seen:
        assert ("net.more" in p) == (p["net.kind"] == "b") and ("last" in p) == (p.get("net.more", 0) > 4)
    told = [t["point"] for t in search.trials_]
    assert {len(p) for p in seen} == {1, 2, 3} and all(p in told for p in seen) and all(p in seen for p in told)
    first = gpc_tune.Search(space, trials=1, method="sobol", folder=tmp_path / "kept")
    asked = first.ask()
    assert gpc_tune.Search(space, trials=1, method="sobol", folder=tmp_path / "kept").untold_ == [asked]


@pytest.mark.parametrize("space, n", [({"n": (1, 3), "kind": ["a", "b"]}, 6), (
    {"kind": ["a", "b"], "n": {"whole": {"from": 1, "to": 3, "when": {"kind": "b"}}}}, 4)], ids=range(2))
def test_a_space_with_fewer_points_than_trials(space, n):
    with pytest.warns(gpc_tune.GpcTuneWarning, match=f"^{n} trials and not 20: the space has {n} points") as seen:
        search = gpc_tune.minimize(lambda p: 1.0, space, trials=20)
    assert len(search.trials_) == n and seen[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gpc_tune.minimize(lambda p: 1.0, space, trials=n)


def test_a_method_that_ends_before_its_trials():
    """cmaes evaluates whole generations, of 6 points for two inputs: 4 + [3 log 2], Hansen 2016."""
    with pytest.warns(gpc_tune.GpcTuneWarning, match="^6 trials and not 9: cmaes ends there$"):
        gpc_tune.minimize(lambda p: p["x"] + p["y"], {"x": (0.0, 1.0), "y": (0.0, 1.0)}, trials=9, method="cmaes")


def test_two_programs_in_one_folder(tmp_path):
    code = "import sys, gpc_tune\n" \
           "s = gpc_tune.Search({'x': (0.0, 1.0)}, method='sobol', trials=4, folder=sys.argv[1])\n" \
           "s.tell(s.ask(), 1)\ns.ask()\nprint('ready', flush=True)\nsys.stdin.read()"
    other = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "mine")], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
    assert other.stdout.readline() == b"ready\n"
    same = {"f": lambda p: p["x"], "space": {"x": (0.0, 1.0)}, "method": "sobol", "trials": 4,
            "folder": tmp_path / "mine"}
    with pytest.raises(gpc_tune.InvalidError, match="another Python uses .*mine: wait .* or give another"):
        gpc_tune.minimize(**same)
    other.kill()
    other.communicate()
    mine = gpc_tune.Search(**{key: value for key, value in same.items() if key != "f"})
    if not os.fork():  # a fork of the Python that has the folder
        try:
            gpc_tune.minimize(**same)
        except gpc_tune.InvalidError as wrong:
            os._exit(7 if "another Python" in str(wrong) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.wait()[1]) == 7 and mine.untold_
    kept = [gpc_tune.minimize(**same), gpc_tune.minimize(**same)]  # and one Python may use it twice
    assert [len(search.trials_) for search in kept] == [4, 4]


SHELL = re.compile(r"(?<=[ ;(>])--?[a-z]|gpc-tune (ask|card|compare|export|fit|report|run|search|show)\b|[a-z]\.yaml\b")


def test_answers_and_reports_speak_of_python():
    tuned = gpc_tune.TunedClassifier({"kernel": ["se", "linear"], "inference": [{"laplace": {"max_iterations": 1}},
                                                                                "logistic_regression"], "tune": "none"},
                                     verbose=False)
    with pytest.warns(gpc_tune.GpcTuneWarning) as seen:
        tuned.fit(X, Y)
    texts = [str(w.message) for w in seen] + [str(tuned.report_), json.dumps(tuned.answer_)]
    failed = gpc_tune.minimize(lambda p: 1 / 0, {"x": (0.0, 1.0)}, trials=3, catch=(ZeroDivisionError,))
    texts += [str(failed.report_)]
    for report in (tuned.report_, failed.report_):
        texts.append(re.sub(r"(?s)<(style|script).*?</\1>|<[^>]*>", " ", report.page))
    for text in texts:
        assert not SHELL.search(text), SHELL.search(text)
    assert any("jobs failed" in text for text in texts) and "division by zero" in texts[-3]
    assert "conclusion: " in str(tuned.report_) and {"conclusion", "<style"} <= set(re.findall(
        "conclusion|<style", tuned.report_.page))
    with pytest.raises(gpc_tune.InvalidError, match="^time 1q is no time"):
        gpc_tune.TunedClassifier(time="1q").fit(X, Y)


@pytest.mark.parametrize("make", [
    lambda kernel: gpc_tune.GaussianProcessClassifier(kernel),
    lambda kernel: gpc_tune.GaussianProcessClassifier({"sum": [kernel, "noise"]}),
    lambda kernel: gpc_tune.TunedClassifier({"kernel": ["se", kernel]}, verbose=False),
], ids=["kernel", "sum", "study"])
def test_a_kernel_of_scikit_learn(make):
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel
    with pytest.raises(TypeError, match=r"RBF\(length_scale=2\).* Write .* 'matern32', {'se': {'ard': True}} or "):
        make(ConstantKernel() * RBF(2)).fit(X, Y)


@pytest.mark.parametrize("weight, text", [
    (np.zeros(60), "only rows whose sample_weight is 0"),
    (Y * 2.0, "classes .* only one class whose sample_weight is not 0"),
    (np.where(np.arange(60) == 7, -1.5, 1), "sample_weight .* row 7 is -1.5"),
    (np.where(np.arange(60) == 3, np.nan, 1), "sample_weight .* row 3 is nan"),
    (np.where(np.arange(60) == 3, np.inf, 1), "sample_weight .* row 3 is inf"),
], ids=["zero", "one class", "negative", "nan", "inf"])
@pytest.mark.parametrize("make", [gpc_tune.GaussianProcessClassifier, gpc_tune.TunedClassifier])
def test_weights_are_named(make, weight, text):
    with pytest.raises(ValueError, match=text):
        make().fit(X, Y, weight)
    with pytest.raises(ValueError, match=r"only one class \(n_samples = 60\)$"):
        make().fit(X, np.ones(60, dtype=int))


@pytest.mark.parametrize("study, kernels, inference", [
    ({"kernel": "se"}, ["se"], "ep"), ({"kernels": ["se", "linear"]}, ["se", "linear"], "ep"),
    ({"model": {"kernel": "matern32"}, "inference": ["laplace", "base_rate"]}, ["matern32"], "laplace"),
], ids=range(3))
@pytest.mark.parametrize("classes", [2, 3])
def test_a_short_study(study, kernels, inference, classes):
    y = Y if classes == 2 else np.digitize(X["a"], [-.5, .5])
    model = gpc_tune.TunedClassifier(study, verbose=False).fit(X[["a", "b"]], y)
    of, likelihood = model._model.field("model"), "probit" if classes == 2 else "softmax"
    assert of["kernel"] in kernels and (of["inference"], of["likelihood"]) == (inference, likelihood)
    assert model._model.field("tuned")["inference"] == "laplace" and model.answer_["by"] == "information_bits"
    assert model.answer_["cases"] == 60 and model.sets(X[["a", "b"]]).shape == (60, classes)


def test_a_study_of_yaml():
    with pytest.raises(gpc_tune.InvalidError, match='^study.yaml:1:17: .*unknown kernel "sex"'):
        gpc_tune.TunedClassifier("model: {kernel: sex, likelihood: probit, inference: laplace}").fit(X, Y)
    lines = "data:\n  train: gone.csv\n  label: z\nmodel:\n  kernel: sex\n  likelihood: probit\n  inference: laplace\n"
    with pytest.raises(gpc_tune.InvalidError, match='^study.yaml:5:11: .*unknown kernel "sex"'):
        gpc_tune.TunedClassifier(lines).fit(X, Y)
    with pytest.raises(gpc_tune.InvalidError, match='^unknown kernel "sex".*\n    "kernel": "sex"$'):
        gpc_tune.GaussianProcessClassifier("sex").fit(X, Y)


def test_columns_that_a_study_leaves_out():
    table = X.assign(u=[f"k{i}" for i in range(60)], one=1.0, name=pd.Categorical([f"n{i}" for i in range(60)]))
    model = gpc_tune.TunedClassifier(time=1, verbose=False).fit(table, Y)
    assert set(model.why(table.head(2)).columns) == {"class", "base", *X.columns, "nearest", "outside"}
    with pytest.warns(gpc_tune.GpcTuneWarning, match="importances need y"):
        assert {name.split()[0] for name in model.effects(table).curves["input"]} == set(X.columns)


@pytest.mark.parametrize("options", [
    {"kernel": "{se: {ard: true}}", "preprocess": "power", "random_state": 3, "mean": "constant"},
    {"kernel": "linear", "likelihood": "logit", "preprocess": "none"}, {"preprocess": "whiten", "random_state": 1}])
def test_load_has_the_parameters_of_the_file(options, tmp_path):
    fitted(**options).save(tmp_path / "model.json")
    want = {**gpc_tune.GaussianProcessClassifier(inference="laplace", likelihood="probit").get_params(), **options}
    assert gpc_tune.load(tmp_path / "model.json").get_params() == want
    again = gpc_tune.load(tmp_path / "model.json").fit(X, Y)
    assert (again.predict_proba(X) == fitted(**options).predict_proba(X)).all()
    for name in set(want) - {"tune", "cv", "verbose"}:
        assert name in gpc_tune.load.__doc__


def words(text):
    return set(re.findall(r"[a-z_0-9]+", text))


def listed(name):
    return set(re.findall(r"(?m)^  (\w+)  ", gpc_tune.explain(name))) - {"exact", "gaussian"}  # of regression


@pytest.mark.parametrize("of, kinds", [
    (gpc_tune.GaussianProcessClassifier, ["kernels", "means", "inference", "likelihoods"]),
    (gpc_tune.Search, ["ranges"])])
def test_docstrings_have_the_names(of, kinds):
    for kind in kinds:
        assert len(listed(kind)) > 1 and listed(kind) <= words(of.__doc__), listed(kind) - words(of.__doc__)


def test_every_method_fits_with_the_defaults():
    rows = X[["a", "b"]].head(24)
    for name in sorted(listed("inference")) if ALL else ["ep", "sampling"]:
        assert set(gpc_tune.GaussianProcessClassifier(inference=name).fit(rows, Y[:24]).predict(rows)) <= {0, 1}


def test_docstrings_have_the_keys():
    doc = gpc_tune.TunedClassifier.__doc__
    model = gpc_tune.TunedClassifier({"kernel": ["se", "linear"], "inference": "laplace"}, verbose=False).fit(X, Y)
    keys = set(re.findall("``([a-z_]+)``", doc[doc.index("answer_ ("):doc.index("report_ (")]))
    assert len(keys) > 8 and keys <= set(model.answer_), keys - set(model.answer_)
    assert set(model.answer_["rivals"][0]) - {"none"} <= words(doc)
    trial = gpc_tune.minimize(lambda p: 1.0, {"x": (0.0, 1.0)}, trials=1).trials_[0]
    assert set(trial) <= words(gpc_tune.Search.trials_.__doc__) & words(gpc_tune.minimize.__doc__)
    found = model.effects(X, Y, inputs=["day"])
    assert "day" in set(found.importance["input"])
    for name in ("day days", "day month (sine)", "day month (cosine)"):
        assert name in set(found.curves["input"]) and f'"{name}"' in gpc_tune.Effects.__doc__
    for text in (gpc_tune, gpc_tune.GaussianProcessClassifier, gpc_tune.TunedClassifier, gpc_tune.Search):
        assert not re.search(r"gpc-tune (?!pipe)[a-z]+ ", text.__doc__.replace("the program gpc-tune", ""))


def test_one_row_with_a_text_in_place_of_a_number():
    """As the command predict: the cell is missing, and a warning says so."""
    model = fitted(cv=3)
    row = X.head(1).assign(a=np.nan)
    for says in (model.predict_proba, model.why, model.sets):
        want = says(row)
        with pytest.warns(gpc_tune.GpcTuneWarning, match='"a" that are no numbers: they are treated as missing; "high"'):
            assert np.asarray(says(row.assign(a="high"))).tolist() == np.asarray(want).tolist()
    with pytest.raises(ValueError, match="no value of 'a' is a number"):
        model.predict(pd.concat([row, row]).assign(a="high"))


def test_names_of_parameters():
    model = gpc_tune.GaussianProcessClassifier()
    for name in ("kernel__length_scale", "tune__restarts", "kernels"):
        text = f"Invalid parameter '{name}' for estimator Gauss.*. Valid parameters are: .'kernel', .*. Options are parts of"
        with pytest.raises(ValueError, match=text):
            GridSearchCV(model, {name: [1, 2]}, error_score="raise").fit(X[["a"]], Y)
    pipe = make_pipeline(StandardScaler(), model)
    assert pipe.set_params(gaussianprocessclassifier__kernel="linear").get_params()["gaussianprocessclassifier"] is model
    assert model.kernel == "linear" and model.get_params(deep=True) == model.get_params(deep=False)


@pytest.mark.parametrize("labels", [(">50K", "<=50K"), ("ja/nein", 'the "rest"'), ("A+", "A-"), ("5 days", "10 days"),
                                    ("A", "a")])
def test_classes_keep_their_names(labels, tmp_path):
    """In reports and in the model file, whatever characters they have."""
    y = np.where(Y, *labels)
    model = fitted(y, cv=3)
    model.save(tmp_path / "model.json")
    again = gpc_tune.load(tmp_path / "model.json")
    assert again.classes_.tolist() == sorted(labels) and (again.predict(X) == model.predict(X)).all()
    assert (model.sets(X) == again.sets(X)).to_numpy().all()
    assert set(model.why(X.head(2), label=labels[0])["class"]) == {labels[0]}
    study = {"inference": ["logistic_regression", "base_rate"], "evaluate": {"kfold": {"k": 3}}}
    report = str(gpc_tune.TunedClassifier(study, verbose=False).fit(X, y).report_)
    assert all(f"{label} ({(y == label).sum()})" in report for label in labels)


@pytest.mark.parametrize("labels", [("10%", "20%"), ("1e5", "1e6"), ("1.5", "2.5"), ("a; b", "b"), ("NA", "x"), ("01", "1")])
def test_classes_that_the_program_may_read_otherwise(labels):
    model = fitted(np.where(Y, *labels), cv=3)
    assert set(model.classes_) == set(labels) == set(model.predict(X)) and set(model.sets(X).columns) == set(labels)
    assert model._model.field("columns")["classes"] == ["class 0", "class 1"]


def test_the_warning_of_a_column_names_the_line_that_called():
    with pytest.warns(UserWarning, match="column-vector") as found:
        gpc_tune.GaussianProcessClassifier(inference="logistic_regression").fit(X, Y.reshape(-1, 1))
    assert found[0].filename == __file__


def test_explain():
    assert "squared exponential" in gpc_tune.explain("se") and "matern52" in gpc_tune.explain("kernels")
    assert 'gpc_tune.explain("kernels")' in gpc_tune.explain("se")
    with pytest.raises(gpc_tune.InvalidError, match='nothing is called "matern53"; did you mean [^(]*$'):
        gpc_tune.explain("matern53")


def test_progress_names_no_files(capfd):
    fitted(verbose=True)
    assert re.search("^log evidence -", capfd.readouterr().err)


def test_an_ordered_categorical_has_its_order():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(90, 1))
    rank = np.digitize(X[:, 0] + .3 * rng.normal(size=90), [-.5, .5])
    names = np.array(["low", "mid", "high"])[rank]
    ordered = pd.Series(names).astype(pd.CategoricalDtype(["low", "mid", "high"], ordered=True))
    by_number = gpc_tune.GaussianProcessClassifier(likelihood="ordinal").fit(X, rank)
    by_name = gpc_tune.GaussianProcessClassifier(likelihood="ordinal").fit(X, ordered)
    assert by_name.log_evidence_ == pytest.approx(by_number.log_evidence_, abs=1e-9)
    assert by_name.classes_.tolist() == ["high", "low", "mid"]
    assert np.allclose(by_name.predict_proba(X)[:, [1, 2, 0]], by_number.predict_proba(X), rtol=0, atol=1e-12)
    with pytest.warns(gpc_tune.GpcTuneWarning, match="ordinal takes the classes in the order high < low < mid"):
        gpc_tune.GaussianProcessClassifier(likelihood="ordinal").fit(X, names)


def test_why_of_inputs_with_its_own_names():
    X = pd.DataFrame(R.normal(size=(40, 3)), columns=["class", "base", "noise"])
    model = gpc_tune.GaussianProcessClassifier().fit(X, X["base"] > 0)
    why = model.why(X[:2])
    assert list(why.columns) == ["class", "base", "class (input)", "base (input)", "noise", "nearest", "outside"]
    assert abs(why["base (input)"]).min() > abs(why["noise"]).max()


def test_time_is_for_the_default_study():
    with pytest.raises(gpc_tune.InvalidError, match="time is for the default study"):
        gpc_tune.TunedClassifier({"kernel": "se"}, time="5s", verbose=False).fit(R.normal(size=(40, 1)), [0, 1] * 20)


def test_points_have_floats_where_ranges_have():
    seen = []

    def f(point):
        seen.append(point)
        return point["x"] + point["n"]

    search = gpc_tune.minimize(f, {"x": (0.0, 4.0), "C": {"log": (1e-2, 1e3)}, "n": (1, 3)}, trials=8, random_state=0)
    points = [*seen, search.best_[0], *(t["point"] for t in search.trials_)]
    assert all(isinstance(p["x"], float) and isinstance(p["C"], float) and isinstance(p["n"], int) for p in points)
    upper = gpc_tune.minimize(lambda p: -p["C"], {"C": {"log": (1e-2, 1e3)}}, trials=6, random_state=0)
    assert upper.best_[0]["C"] == 1000 and "C=1000" in upper.report_.text


def test_choices_are_plain_values():
    with pytest.raises(gpc_tune.InvalidError, match=r"the choices of layers are .* expected texts, numbers"):
        gpc_tune.minimize(lambda p: 0, {"layers": [(10,), (10, 10)]}, trials=2)


def test_effects_of_one_input_by_name():
    X = R.normal(size=(40, 2))
    model = gpc_tune.GaussianProcessClassifier().fit(X, X[:, 0] > 0)
    curves = model.effects(X, X[:, 0] > 0, inputs="x2", repeats=2).curves
    assert set(curves["input"]) == {"x2"}


def test_a_program_that_is_not_there(monkeypatch):
    monkeypatch.setenv("GPC_TUNE_PROGRAM", "/nowhere/gpc-tune")
    with pytest.raises(gpc_tune.GpcTuneError, match="GPC_TUNE_PROGRAM names /nowhere/gpc-tune"):
        gpc_tune._process.program()


def test_a_column_of_ids_is_named_without_the_study():
    X = pd.DataFrame({"id": [f"u{k}" for k in range(150)], "v": R.normal(size=150)})
    with pytest.raises(gpc_tune.InvalidError) as error:
        gpc_tune.GaussianProcessClassifier().fit(X, X["v"] > 0)
    assert re.fullmatch(r'X: column "id" has 150 different texts \("u0" here\), too many for categories \(100\); '
                        "correct it, or leave the column out", str(error.value)), error.value


@pytest.mark.parametrize("options, text", [
    ({"method": "foo"}, "^method is 'foo', expected one of bayes, auto, random, sobol, latin_hypercube, nelder_mead, cmaes$"),
    ({"trials": 1001}, "must be from 1 to 1000"), ({"trials": 0}, "must be from 1 to"), ({"n_jobs": 0}, "^n_jobs is 0, expected a whole number, 1 or more"),
    ({"n_jobs": -2}, "^n_jobs is -2, expected"), ({"n_jobs": None}, "^n_jobs is None, expected"), ({"n_jobs": 2.5}, "^n_jobs is 2.5")])
def test_a_search_refuses_mistakes_before_the_first_point(options, text):
    with pytest.raises(gpc_tune.InvalidError, match=text):
        gpc_tune.Search({"x": (0.0, 1.0)}, **options)


@pytest.mark.parametrize("name", ["noise", "trials", "linear", "test", "choice"])
def test_explain_speaks_of_python(name):
    text = gpc_tune.explain(name)
    assert len(text) > 50 and not re.search(r"a file|the file|a flag|the program|manifest|command:|--", text), text


@pytest.mark.parametrize("make", [
    lambda: gpc_tune.GaussianProcessClassifier(cv=5), lambda: gpc_tune.TunedClassifier({"kernel": ["se"]}, verbose=False)])
def test_a_class_of_one_case_is_no_matter_of_sets(make):
    with pytest.raises(gpc_tune.InvalidError, match='would train without class "b"') as raised:
        make().fit(X[["a", "b"]], ["a"] * 59 + ["b"])
    assert "sets" not in str(raised.value)


def test_why_names_missing_values():
    table = X.head(4).copy()
    table.loc[0, "a"], table.loc[1, "kind"], table.loc[1, "day"] = np.nan, None, pd.NaT
    assert fitted().why(table)["outside"].tolist() == ["a missing", "kind missing; day missing", "", ""]


def test_both_classifiers_prepare_columns_in_the_same_way():
    table = X.assign(c=np.where(np.arange(60) % 6 == 0, np.nan, X["b"] ** 3))
    tuned = gpc_tune.TunedClassifier(time=1, verbose=False).fit(table, Y)
    assert tuned._model.field("columns")["inputs"] == fitted().fit(table, Y)._model.field("columns")["inputs"]


def test_ranges_may_be_short_with_options():
    long = {"kind": ["a", "b"], "c": {"log": {"from": 1e-3, "to": 1, "when": {"kind": "a"}}}, "n": {"whole": {"from": 2, "to": 8, "step": 2}}}
    short = {"kind": ["a", "b"], "c": {"log": [1e-3, 1], "when": {"kind": "a"}}, "n": {"whole": (2, 8), "step": 2}}
    points = []
    for space in (long, short):
        search = gpc_tune.minimize(lambda p: p["n"] + p.get("c", 1), space, trials=6, random_state=3)
        points.append([t["point"] for t in search.trials_])
    assert points[0] == points[1] and any(p["n"] in (4, 6) for p in points[1])


@pytest.mark.parametrize("of, want", [
    ({"log": {"from": 1, "to": 2}, "when": {"k": "a"}}, {"log": {"from": 1, "to": 2, "when": {"k": "a"}}}),
    ({"choice": ["a", "b"], "init": "b"}, {"choice": {"values": ["a", "b"], "init": "b"}}),
    ({"linear": (1, 2, 3)}, {"linear": (1, 2, 3)}), ({"log": [1, 2]}, {"log": {"from": 1, "to": 2}})])
def test_no_option_of_a_range_is_lost(of, want):
    assert gpc_tune._search._range("x", of) == want


def test_failed_trials_have_their_points():
    def f(p):
        if p["a"] > 0.5:
            raise ZeroDivisionError("no")
        return p["a"]
    search = gpc_tune.minimize(f, {"a": (0.0, 1.0), "l": {"log": (1e-3, 1e3)}}, trials=8, method="random", random_state=1, catch=(ZeroDivisionError,))
    failed = [t["point"] for t in search.trials_ if t["failure"]]
    assert failed and all(0.5 < p["a"] <= 1 and 1e-3 <= p["l"] <= 1e3 for p in failed)


def test_texts_have_no_order_that_nobody_gave():
    n = 90
    kind = np.array(["low", "mid", "high"])[np.arange(n) % 3]
    table = pd.DataFrame({"level": kind, "pain": pd.Categorical(kind, ["low", "mid", "high"], ordered=True), "x": R.normal(size=n),
                          "dose": [f"{k % 7} mg" for k in range(n)], "seen": [f"2024-{k % 12 + 1:02}-0{k % 9 + 1}" for k in range(n)],
                          "band": pd.Categorical([f"{k % 4}0 kg" for k in range(n)])})
    y = np.array(["low", "mid", "high"])[np.digitize(table["x"], [-.5, .5])]
    model = gpc_tune.TunedClassifier(time=1, verbose=False).fit(table, y, np.where(np.arange(n) % 2, 1, 2))
    of = {c["name"]: c for c in model._model.field("columns")["inputs"]}
    assert of["level"]["levels"] == ["high", "low", "mid"] and of["pain"]["order"] == ["low", "mid", "high"]
    assert of["band"]["levels"] == ["00 kg", "10 kg", "20 kg", "30 kg"]
    assert of["dose"]["unit"] == "mg" and "date" in of["seen"] and "ordinal" not in model.study_
    ordered = pd.Series(y).astype(pd.CategoricalDtype(["mid", "low", "high"], ordered=True))
    assert "order: [mid, low, high]" in gpc_tune.TunedClassifier(time=1, verbose=False).fit(table[["x"]], ordered).study_


@pytest.mark.parametrize("study", [None, {"kernels": ["se", "{sum: [se, noise]}"], "inference": "laplace", "data": {"preprocess": "power"}}])
def test_a_study_can_be_run_again(study, tmp_path):
    weight = np.repeat([1, 2], 30)
    model = gpc_tune.TunedClassifier(study, time=1 if study is None else None, random_state=5, verbose=False).fit(X, Y, weight)
    again = gpc_tune.TunedClassifier(model.study_, verbose=False).fit(X, Y, weight)
    assert (again.predict_proba(X) == model.predict_proba(X)).all() and again._model.field("seed") == 5
    assert again.answer_["configuration"] == model.answer_["configuration"] and again.sets(X).shape == (60, 2)
    assert model._model.field("preprocess")["how"] == ("standardize" if study is None else "power")


def test_why_of_a_class_and_of_new_categories():
    model, table = fitted(), X.head(4).copy()
    table.loc[1, "kind"], table.loc[2, "a"] = "unheard of", 1e3
    with pytest.warns(gpc_tune.GpcTuneWarning):
        of = {label: model.why(table, label) for label in (0, 1)}
    for label, k in ((0, 0), (1, 1)):
        assert of[label]["class"].tolist() == [label] * 4
        assert np.allclose(of[label][["base", *X.columns]].sum(axis=1), model.predict_proba(table)[:, k], atol=1e-12)
    assert np.allclose(of[1]["a"], -of[0]["a"], atol=1e-12)
    assert of[1]["outside"][1] == "kind is a new category" and of[1]["outside"][2].startswith("a 1000 above ")
    with pytest.raises(gpc_tune.InvalidError, match=r"label is 'yes', expected one of the classes \[0, 1\]"):
        model.why(table, "yes")


def test_weights_of_a_class_are_pointed_out():
    model = gpc_tune.GaussianProcessClassifier(inference="laplace")
    with pytest.warns(gpc_tune.GpcTuneWarning, match='a case of class "1" weighs on average 4 times .* costs'):
        model.fit(X[["a", "b"]], Y, np.where(Y == 1, 4.0, 1.0))


def test_probabilities_warn_of_no_sets():
    y = np.where(np.arange(60) % 12 == 0, "rare", np.where(Y, "a", "b"))
    model = gpc_tune.GaussianProcessClassifier(inference="laplace", cv=3).fit(X[["a", "b"]], y)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "class .* held-out cases")
        model.predict_proba(X[["a", "b"]]), model.score(X[["a", "b"]], y)
    with pytest.warns(gpc_tune.GpcTuneWarning, match='class "rare" has 5 held-out cases, and a coverage of 0.9 needs 9'):
        assert model.sets(X[["a", "b"]])["rare"].all()


def test_warnings_of_fit_name_no_data_set():
    y = np.arange(150) % 3
    table = pd.DataFrame({"a": 10 * y + np.cos(np.arange(150))})
    with pytest.warns(gpc_tune.GpcTuneWarning) as seen:
        gpc_tune.GaussianProcessClassifier(inference="laplace", mean="constant").fit(table, y)
    texts = [str(w.message) for w in seen]
    assert any(text.startswith('input "a" alone predicts the class') for text in texts), texts
    assert any(text.startswith("se, softmax, laplace: the prior mean has no effect") for text in texts), texts


def test_far_rows_are_one_warning():
    rows = R.normal(size=(60, 4))
    model = gpc_tune.GaussianProcessClassifier(inference="laplace").fit(rows, rows[:, 0] > 0)
    with pytest.warns(gpc_tune.GpcTuneWarning) as seen:
        model.predict_proba(np.vstack([rows, rows + [0, 99, 99, 0], rows + [0, 0, 99, 0]]))
    assert len(seen) == 1 and '"x2" (60), "x3" (120) are far' in str(seen[0].message) and "(cases: 120)" in str(seen[0].message)


def test_hyperparameters_have_the_names_and_numbers_of_the_report():
    model = gpc_tune.TunedClassifier({"kernel": "{sum: [{se: {ard: true}}, noise]}", "inference": "laplace"}, verbose=False).fit(X, Y)
    said = dict(re.findall(r"(\S*(?:amplitude|length_scale\[.*?\]))=(\S+)", model.report_.text))
    assert {name: f"{v:.4g}" for name, v in model.hyperparameters_.items()} == {name: f"{float(v):.4g}" for name, v in said.items()}
    assert {"1.se.length_scale[a]", "1.se.length_scale[kind]", "2.noise.amplitude"} <= set(model.hyperparameters_)
    logs = model._model.field("theta")
    assert np.allclose(sorted(np.exp(list(logs.values()))), sorted(model.hyperparameters_.values()), rtol=1e-12)
    assert pickle.loads(pickle.dumps(model)).hyperparameters_ == model.hyperparameters_
    assert gpc_tune.GaussianProcessClassifier(inference="base_rate").fit(X, Y).hyperparameters_ == {}


def test_one_text_among_numbers_is_a_missing_value():
    model, some = fitted(), X.assign(a=X["a"].astype(object))
    some.loc[0, "a"] = "high"
    with pytest.warns(gpc_tune.GpcTuneWarning, match='values of "a" that are no numbers'):
        assert np.isfinite(model.predict_proba(some)).all()
    assert model.predict_proba(X.assign(a=None)).shape == (60, 2)  # nothing but missing values


def test_far_rows_are_warned_of_once():
    """20 rows, of which a tenth are 2."""
    model, rows = fitted(), X.head(20).copy()
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", gpc_tune.GpcTuneWarning)
        rows.loc[0, "b"] = 99.0
        model.predict_proba(rows)
        assert not seen
        rows.loc[1, "b"] = 99.0
        model.predict_proba(rows), model.predict(rows.head(1))
    assert len(seen) == 1 and "far from all training cases" in str(seen[0].message)


def test_whole_numbers_with_many_values_are_one_warning():
    """They keep their names in reports and model files, also in the default study."""
    y = np.append(np.arange(100) % 12 + 33, 7)
    rows = np.random.default_rng(0).normal(size=(101, 2))
    for model in (gpc_tune.GaussianProcessClassifier(inference="base_rate"),
                  gpc_tune.TunedClassifier(time="1s", verbose=False)):
        with pytest.warns(gpc_tune.GpcTuneWarning) as seen:
            model.fit(rows, y)
        texts = [str(w.message) for w in seen]
        assert sum("y looks like a number" in text for text in texts) == 1 and "its 13 values" in texts[0], texts
        assert "of which 1 have one case;" in texts[0] and "y > limit makes two" in texts[0] and seen[0].filename == __file__
        assert set(model._model.field("columns")["classes"]) <= {str(v) for v in y}
    assert "label: 33 (9), 34 (9)" in str(model.report_)
    rare = np.append(np.arange(60) % 2, np.arange(9) + 5)
    with pytest.warns(gpc_tune.GpcTuneWarning) as seen:
        gpc_tune.GaussianProcessClassifier(inference="base_rate").fit(rows[:69], rare)
    assert [str(w.message) for w in seen if "single case" in str(w.message)] == [
        '9 classes have a single case: "5", "6", "7", "8", "9", "10", "11", "12", "13"']


@pytest.mark.parametrize("y", [np.arange(40) % 20, np.arange(240) % 20, (np.arange(40) % 20).astype(str)], ids=len)
def test_classes_that_do_not_look_like_a_number(y):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", gpc_tune.GpcTuneWarning)
        _classifiers._labels(y)
    assert not seen


def test_a_numeric_y_is_an_error_that_says_what_to_do():
    with pytest.raises(ValueError, match="^Unknown label type: continuous. y has numbers, and this package predicts classes; "
                                         "y > limit makes two classes of it$"):
        gpc_tune.GaussianProcessClassifier().fit(X, X["a"])
    for model in (gpc_tune.GaussianProcessClassifier(), gpc_tune.TunedClassifier()):
        with pytest.raises(ValueError, match="^y has 101 values, and 100 classes are possible; y > limit makes two of numbers$"):
            model.fit(np.zeros((202, 1)), np.arange(202) // 2)


def test_a_column_that_identifies_cases_is_a_warning():
    def warned(**more):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always", gpc_tune.GpcTuneWarning)
            gpc_tune.GaussianProcessClassifier(inference="logistic_regression").fit(X[["a", "b"]].assign(**more), Y)
        return [str(w.message) for w in seen if "identifier" in str(w.message)]

    ids = np.random.default_rng(1).permutation(60) + 1000
    for name, values in (("customer_id", ids), ("CustomerId", ids.astype(float)), ("case no", [f"c{i}" for i in ids])):
        assert warned(**{name: values}) == [f'"{name}": an identifier, by its name and as every row has another value? '
                                            'Leave it out']
    for name, values in (("customer_id", ids // 2), ("ids", ids), ("weight_id", ids + .5), ("covid", ids)):
        assert warned(**{name: values}) == []


def test_what_fit_sets_is_not_there_before_it():
    from sklearn.exceptions import NotFittedError
    for model in (gpc_tune.GaussianProcessClassifier(), gpc_tune.TunedClassifier()):
        for name in ("answer_", "report_", "study_", "classes_", "log_evidence_", "hyperparameters_", "feature_names_in_"):
            assert not hasattr(model, name)
            with pytest.raises(NotFittedError, match=f"This {type(model).__name__} instance is not fitted yet"):
                getattr(model, name)
        for use in (model.predict, model.why, model.sets, model.effects, lambda X: model.save("no file")):
            with pytest.raises(NotFittedError):
                use(X)
        with pytest.raises(AttributeError, match="object has no attribute 'predct'"):
            model.predct
    with pytest.raises(AttributeError, match="object has no attribute 'answer_'"):
        fitted().answer_


def test_time_of_a_study_of_ones_own():
    study = {"kernel": {"se": {"ard": True}}, "inference": "laplace", "evaluate": {"hold_out": {}}}
    with pytest.raises(gpc_tune.InvalidError) as wrong:
        gpc_tune.TunedClassifier(study, time="30s").fit(X, Y)
    limit = json.loads("{" + re.search(r'"tune": (\{.*\}\})$', str(wrong.value))[0] + "}")
    assert limit == {"tune": {"stop": {"time": "30s"}}} and "key of a study: stop" in gpc_tune.explain("time")
    study["tune"] = {"method": "bayes", "trials": 500, "stop": {"time": "1ms"}}
    report = str(gpc_tune.TunedClassifier(study, verbose=False).fit(X, Y).report_)
    assert re.search(r"stop.*time", report), report


def test_reports_name_no_file():
    table = X[["a", "b"]].assign(k=3.0)
    report = gpc_tune.TunedClassifier(time="1s", verbose=False).fit(table, Y).report_
    for text in (str(report), report.page):
        assert not re.search(r"dataset train\b|on train\b|by the file|training file", text)
    assert "left out: k (as study_ says)" in str(report)
    with pytest.warns(gpc_tune.GpcTuneWarning, match="that do not occur in fit") as seen:
        fitted().predict(X.assign(kind="new"))
    assert not any("file" in str(w.message) for w in seen)
    with pytest.warns(gpc_tune.GpcTuneWarning, match=r"configuration \d \({?(se|linear).*is selected: its log_evidence"):
        fitted(kernel=["se", "linear"])


def test_effects_without_labels_say_so():
    model = fitted()
    assert str(model.effects(X, inputs=["a"])).startswith("Effects(importances need y, the labels, points of curves: ")
    assert str(model.effects(X, Y, inputs=["a"])).startswith("Effects(importance of 4 inputs, points of curves: ")


@pytest.mark.parametrize("fit, text", [
    (lambda: gpc_tune.GaussianProcessClassifier(likelihood="gaussian").fit(X, Y), "this likelihood takes numeric labels"),
    (lambda: gpc_tune.GaussianProcessClassifier(likelihood="gaussian").fit(X, np.arange(60) % 12), "takes numeric labels"),
    (lambda: gpc_tune.GaussianProcessClassifier(likelihood="softmax").fit(X, Y), "is for three or more classes"),
    (lambda: gpc_tune.GaussianProcessClassifier(cv=70).fit(X, Y), "k: 70 folds of 60 cases")])
def test_messages_quote_no_line_that_nobody_wrote(fit, text):
    with pytest.raises(gpc_tune.InvalidError, match=text) as wrong:
        fit()
    assert "\n" not in str(wrong.value)


def test_pairs_are_those_of_classes():
    text = gpc_tune.explain("pairs")
    assert "| Two classes" in text and "| Three classes" in text and "| Numbers" not in text
    assert text.endswith("Labels are classes here, no numbers.")


def test_warnings_that_differ_in_numbers_are_given_once():
    with warnings.catch_warnings(record=True) as found:
        warnings.resetwarnings()
        for n in ("1", "2.5"):
            gpc_tune._process.warn(f"x1 adds nothing: the difference is {n} bits")
            gpc_tune._process.warn(f"x{n} adds nothing: the difference is 1 bits")
        assert [str(w.message)[:12] for w in found] == ["x1 adds noth", "x2.5 adds no"]
        warnings.simplefilter("always")
        gpc_tune._process.warn("x1 adds nothing: the difference is 3 bits")
        assert len(found) == 3


@pytest.mark.parametrize("dtype", ["string", "Int64", "boolean"])
def test_missing_labels_of_pandas(dtype):
    labels = pd.Series([1, 0] * 30).astype(dtype)
    labels[3] = pd.NA
    with pytest.raises(ValueError, match="^Input y contains NaN"):
        gpc_tune.GaussianProcessClassifier().fit(X, labels)


def test_reports_of_effects_have_their_table():
    effects = fitted().effects(X, Y, repeats=2)
    assert str(effects.report_) == repr(effects) and len(str(effects.report_).splitlines()) > 2
