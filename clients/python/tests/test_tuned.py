"""The classifier that runs a study."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest

from gpc_tune import GaussianProcessClassifier, GpcTuneWarning, InvalidError, TunedClassifier

RNG = np.random.default_rng(1)
X = pd.DataFrame({"a": RNG.normal(size=90), "b": RNG.normal(size=90), "zip": pd.Categorical(RNG.integers(1, 4, 90)),
                  "pain": pd.Categorical(RNG.choice(["low", "mid", "top"], 90), ["low", "mid", "top"], ordered=True)})
Y = pd.Series(np.where(X.a + X.pain.cat.codes - 1 + RNG.normal(size=90) / 2 > 0, "ill", "well"), name="state")
STUDY = """version: 1
data:
  train: gone.csv
  preprocess: none
model:
  kernel: {se: {ard: true}}
  likelihood: probit
  inference: [laplace, base_rate]
evaluate: {kfold: {k: 3}}
"""


@pytest.mark.filterwarnings("ignore")
def test_the_study_of_init(capfd):
    table = X.rename(columns={"pain": "pain.level = x"})
    model = TunedClassifier(time="2s", random_state=3).fit(table, Y)
    assert model.score(table, Y) > .8
    inputs = {c["name"]: c for c in model._model.field("columns")["inputs"]}
    assert inputs["zip"]["levels"] == ["1", "2", "3"] and inputs["pain.level = x"]["order"] == ["low", "mid", "top"]
    assert model._model.field("seed") == 3 and model.study_.startswith("#")
    assert "conclusion: use #" in str(model.report_) and "state" in model.report_.page
    assert model.report_._repr_html_().startswith("<iframe srcdoc=") and "<script" not in model.report_._repr_html_()
    assert model.answer_["configuration"] in model.answer_["set"] and "warning" not in capfd.readouterr().err
    other = pickle.loads(pickle.dumps(model))
    assert (other.predict_proba(table) == model.predict_proba(table)).all() and str(other.report_) == str(model.report_)


@pytest.mark.filterwarnings("ignore")
def test_classes_of_one_case_and_many_classes():
    y = np.append(RNG.integers(0, 3, 89), 7)
    model = TunedClassifier(time="1s", verbose=False).fit(X, y)
    assert TunedClassifier(time="1s", verbose=False).fit(X, np.arange(90) // 3 + 5).predict(X).min() >= 5
    assert model.classes_.tolist() == [0, 1, 2, 7] and model.predict_proba(X).shape == (90, 4)


@pytest.mark.filterwarnings("ignore")
def test_a_default_study_without_folds():
    table = RNG.normal(size=(1500, 12))
    model = TunedClassifier(time="1s", verbose=False).fit(table, np.where(table[:, 0] > .5, 2, table[:, 1] > 0))
    assert "\nevaluate: {hold_out" in model.study_ and model.predict_proba(table[:3]).shape == (3, 3)
    with pytest.raises(InvalidError, match=r"no held-out folds to compare with: use .*, more time, or"):
        model.sets(table[:3])


@pytest.mark.parametrize("form", ["text", "file", "mapping"])
def test_a_study_of_ones_own(form, tmp_path):
    study = STUDY
    if form == "file":
        study = tmp_path / "study.yaml"
        study.write_text(STUDY)
    if form == "mapping":
        study = {"model": {"kernel": {"se": {"ard": True}}, "likelihood": "probit",
                           "inference": ["laplace", "base_rate"]}, "evaluate": {"kfold": {"k": 3}}}
    model = TunedClassifier(study, verbose=False).fit(X, Y, sample_weight=np.arange(90) % 4)
    assert model._model.field("model")["inference"] == "laplace" and model.answer_["configuration"] == 0
    assert model._model.field("preprocess")["how"] == ("standardize" if form == "mapping" else "none") and len(model._model.field("weights")) == 67


def test_a_mistake_in_a_study():
    with pytest.raises(InvalidError, match="study.yaml:5:.*unknown kernel"):
        TunedClassifier("version: 1\nmodel:\n  likelihood: probit\n  inference: ep\n  kernel: sse\n").fit(X, Y)


def test_failed_jobs_are_a_warning():
    y = ["b"] * 2 + ["a"] * 28
    study = {"model": {"kernel": "se", "likelihood": "probit",
                       "inference": [{"laplace": {"max_iterations": 1}}, "base_rate"]},
             "tune": "none", "evaluate": {"kfold": {"k": 2}}}
    with pytest.warns(GpcTuneWarning, match="jobs failed"):
        assert set(TunedClassifier(study, verbose=False).fit(X[:30], y).predict(X)) == {"a"}


PRIOR = {"log_normal": {"mean": 1, "sd": 0.5}}


@pytest.mark.parametrize("kernel, inference", [
    ({"se": {"length_scale": {"prior": PRIOR}}}, "laplace"), ({"se": {"length_scale": {"prior": PRIOR}}}, "ep"),
    ("linear", "laplace"), ("se", "logistic_regression"), ("se", "base_rate")])
def test_the_model_of_an_answer_is_one_of_the_plain_class(kernel, inference):
    """The plain class fits the same model with these arguments, without a warning."""
    table = X[["a", "b"]].assign(b=np.exp(X["b"]))
    tuned = TunedClassifier({"kernel": kernel, "inference": inference, "preprocess": "power",
                             "evaluate": {"kfold": {"k": 3}}}, verbose=False).fit(table, Y)
    assert tuned.answer_["model"]["preprocess"] == "power" == tuned._model.field("preprocess")["how"]
    with warnings.catch_warnings():
        warnings.simplefilter("error", GpcTuneWarning)
        plain = GaussianProcessClassifier(**tuned.answer_["model"]).fit(table, Y)
        del tuned.answer_["model"]["tune"]  # the objective is then chosen by the priors
        alone = GaussianProcessClassifier(**tuned.answer_["model"]).fit(table, Y)
    for other in (plain, alone):
        assert np.allclose(other.predict_proba(table), tuned.predict_proba(table), rtol=0, atol=1e-5)
        assert other._model.field("tuned")["objective"] == tuned._model.field("tuned")["objective"]
    if inference in ("laplace", "ep"):
        assert alone._model.field("tuned")["objective"] == "log_" + ("posterior" if kernel != "linear" else "evidence")


def test_preprocess_is_a_key_of_a_study():
    with pytest.raises(InvalidError, match='unknown key "missing_indicators"; missing_indicators is a key of data'):
        TunedClassifier({"kernel": "se", "missing_indicators": True}).fit(X, Y)
    table, study = X[["a", "b"]].mask(X[["a", "b"]] > 1), {"inference": "laplace", "evaluate": {"kfold": {"k": 3}}}
    tuned = TunedClassifier({**study, "data": {"missing_indicators": True}}, verbose=False).fit(table, Y)
    assert len(tuned._model.field("preprocess")["mean"]) == 4  # two inputs, and where each is missing


def test_scores_of_an_answer():
    """The log loss in bits below that of the class frequencies in each fold's training cases is the score."""
    tuned = TunedClassifier({"kernel": ["se", "linear"], "inference": ["laplace", "base_rate"],
                             "evaluate": {"kfold": {"k": 3}}}, verbose=False).fit(X, Y)
    answer = tuned.answer_
    assert set(answer) <= set(re.findall("``([a-z_]+)``", TunedClassifier.__doc__)) | {"none"}
    assert answer["scores"]["information_bits"]["value"] == answer["score"] and answer["by"] == "information_bits"
    losses = {int(line.split()[0]): line for line in str(tuned.report_).splitlines() if re.match(r"\d+  ", line)}
    assert f"{answer['scores']['log_loss']['value']:.4f}" in losses[answer["configuration"]]
    assert f"{100 * answer['scores']['error_rate']['value']:.1f}" in losses[answer["configuration"]]


GROUPED = pd.DataFrame({"a": RNG.normal(size=120), "customer": [f"C{k // 2:03d}" for k in range(120)],
                        "visit": np.arange(120) % 40, "day": pd.date_range("2024-01-01", periods=120)})
LABELS = np.where(GROUPED.a + np.repeat(RNG.normal(size=60), 2) > 0, "gone", "here")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [str, "category", object, "int"])
@pytest.mark.parametrize("of, role", [("group", "group"), ("id", "id"), ("drop", "drop")])
def test_a_column_with_another_role_is_no_category(kind, of, role):
    column = GROUPED.customer.str[1:].astype(int) if kind == "int" else GROUPED.customer.astype(kind)
    evaluate = {"evaluate": {"kfold": {"k": 3}}} if of != "group" else {}
    study = {"inference": "laplace", "data": {role: "customer" if role == "group" else ["customer"]}, **evaluate}
    tuned = TunedClassifier(study, verbose=False).fit(GROUPED.assign(customer=column), LABELS)
    assert [c["name"] for c in tuned._model.field("columns")["inputs"]] == ["a", "visit", "day"]
    assert (tuned.answer_["evaluation"] == "group_kfold") == (role == "group")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("study, text", [
    ({}, "kfold: {k: "), ({"predict": {"calibrate": "temperature"}}, "predict: {calibrate: temperature}"),
    ({"evaluate": {"kfold": {"k": 3}}}, "evaluate: {kfold: {k: 3}}"), ({"tune": {"restarts": 2}}, "objective: log_posterior"),
    ({"data": {"missing_indicators": True}, "preprocess": "whiten"}, "missing_indicators: true")])
def test_what_a_mapping_leaves_out_is_the_default(study, text):
    """The default study has two comparators, and sections of the mapping stand in place of its own."""
    table = GROUPED[["a", "visit"]]
    tuned = TunedClassifier(study, time=1, random_state=7, verbose=False).fit(table, LABELS)
    plain = re.sub(r"\s+", " ", tuned.study_)
    assert "inference: [ep, base_rate, logistic_regression]" in plain and text in plain and "seed: 7" in plain
    assert len(tuned.answer_["rivals"]) > 1
    assert ("sets: {coverage: 0.9}" in plain) == ("predict" not in study)
    if study.get("preprocess"):
        assert tuned._model.field("preprocess")["how"] == "whiten"
    if "tune" in study:
        assert re.search("tune: {method: bfgs, restarts: 2, .*inference: laplace", plain)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model", [{}, {"inference": "laplace"}])
def test_a_group_alone_decides_the_evaluation(model):
    """Also where another column looks like groups to the program, and where the groups do not."""
    for name in ("visit", "customer"):
        tuned = TunedClassifier({"data": {"group": name}, **model}, time=None if model else 1, verbose=False)
        tuned.fit(GROUPED, LABELS)
        assert tuned.answer_["evaluation"] == "group_kfold"
        assert name not in [c["name"] for c in tuned._model.field("columns")["inputs"]]


@pytest.mark.filterwarnings("ignore")
def test_a_group_is_not_needed_to_predict():
    tuned = TunedClassifier({"data": {"group": "customer"}, "inference": "laplace"}, verbose=False).fit(GROUPED, LABELS)
    table = GROUPED.drop(columns="customer")
    assert (tuned.predict_proba(table) == tuned.predict_proba(GROUPED)).all()
    assert (np.asarray(tuned.sets(table)) == np.asarray(tuned.sets(GROUPED))).all() and len(tuned.why(table.head(2))) == 2
    with pytest.raises(ValueError, match="yet now missing:\n- a\n"):
        tuned.predict(table.drop(columns="a"))
    with pytest.raises(TypeError, match="fit takes no groups; groups: TunedClassifier\\({'data': {'group': "):
        tuned.fit(table, LABELS, groups=GROUPED.customer)
    with pytest.raises(InvalidError, match='unknown key "groups"; group is a key of data'):
        TunedClassifier({"groups": "customer", "inference": "laplace"}).fit(GROUPED, LABELS)


@pytest.mark.filterwarnings("ignore")
def test_decisions_of_an_answer():
    """The threshold and the cost are those of predict and of the report."""
    y = np.where(GROUPED.a + RNG.normal(size=120) > 1, "ill", "well")
    study = {"inference": "laplace", "evaluate": {"kfold": {"k": 3}}, "data": {"positive": "ill"}}
    predict = {"predict": {"loss": {"ill": {"well": 10}}, "threshold": {"maximise": "utility"}}}
    plain, tuned = (TunedClassifier({**study, **more}, verbose=False).fit(GROUPED[["a"]], y) for more in ({}, predict))
    assert plain.answer_["decisions"]["threshold"] is None
    threshold = tuned.answer_["decisions"]["threshold"]
    p = tuned.predict_proba(GROUPED[["a"]])[:, 0]
    assert ((p >= threshold) == (tuned.predict(GROUPED[["a"]]) == "ill")).all() and threshold != .5
    assert f"decisions cost {tuned.answer_['decisions']['mean_loss']:.4g} per case" in str(tuned.report_)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("form", ["%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S"])
def test_dates_as_texts_are_dates(form):
    table = GROUPED[["a"]].assign(day=pd.date_range("2024-01-01 00:30", periods=120, freq="29h"))
    texts = table.assign(day=table.day.dt.strftime(form))
    for make in (GaussianProcessClassifier(inference="laplace"), TunedClassifier({"inference": "laplace"}, verbose=False)):
        dates, other = (make.fit(of, LABELS).predict_proba(of) for of in (texts.assign(day=pd.to_datetime(texts.day)), texts))
        assert (dates == other).all()
    missing = texts.assign(day=[None, *texts.day[1:]])
    assert "date" in GaussianProcessClassifier(inference="laplace").fit(missing, LABELS)._model.field("columns")["inputs"][1]
