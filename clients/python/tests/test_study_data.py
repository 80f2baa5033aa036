"""The section data of a study is used or refused, and tables and labels are checked."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import DataConversionWarning
from sklearn.metrics import accuracy_score

from gpc_tune import GaussianProcessClassifier, InvalidError, TunedClassifier

R = np.random.default_rng(3)
X = pd.DataFrame({"a": R.normal(size=90), "b": R.normal(size=90), "who": [f"p{i // 3}" for i in range(90)],
                  "day": pd.date_range("2024-01-01", periods=90)})
Y = np.where(X.a + R.normal(size=90) / 2 > 0, "ill", "well")
MODEL = {"inference": "laplace", "tune": "none"}
pytestmark = pytest.mark.filterwarnings("ignore::gpc_tune.GpcTuneWarning")


def tuned(data, model, **options):
    study = {"data": data, **(MODEL if model else {}), **options}
    return TunedClassifier(study, time=None if model else 1, verbose=False)


def inputs(model):
    return [c["name"] for c in model._model.field("columns")["inputs"]]


@pytest.mark.parametrize("model", [False, True])
@pytest.mark.parametrize("data", [
    {"group": "Who"}, {"drop": ["Who"]}, {"id": "Who"}, {"weights": "Who"}, {"categories": ["Who"]}, {"columns": ["a", "Who"]},
    {"columns": {"Who": {"unit": "kg"}}}, {"ignore_case": ["Who"]}, {"group": 9}], ids=str)
def test_a_column_that_is_not_there_is_an_error(data, model):
    name = "9" if 9 in data.values() else "Who"
    with pytest.raises(InvalidError, match=f'^no column "{name}"' + '; did you mean "who"\\?' * (name == "Who")):
        tuned(data, model).fit(X, Y)


def test_the_place_of_a_mistake_in_data_is_its_key():
    with pytest.raises(InvalidError, match='^unknown key "unt"'):
        tuned({"columns": {"a": {"unt": "kg"}}}, False).fit(X, Y)


@pytest.mark.parametrize("model", [False, True])
def test_what_the_section_data_names_is_used(model):
    """Columns by their numbers from 1, lists of inputs, and inputs that look like something else."""
    found = tuned({"group": 3, "drop": "b"}, model).fit(X, Y)
    assert found.answer_["evaluation"] == "group_kfold" and inputs(found) == ["a", "day"]
    found = tuned({"columns": ["who", "a"]}, model, evaluate={"kfold": {"k": 3}}).fit(X, Y)
    assert inputs(found) == ["a", "who"] and "levels" in found._model.field("columns")["inputs"][1]
    found = tuned({"columns": ["day"], "order": ["well", "ill"]}, model, evaluate={"kfold": {"k": 3}}).fit(X, Y)
    assert "date" in found._model.field("columns")["inputs"][0]
    assert found._model.field("columns")["classes"] == ["well", "ill"]


@pytest.mark.parametrize("model", [False, True])
def test_what_a_table_cannot_have_is_refused(model):
    with pytest.raises(InvalidError, match="label: who} is a column of X"):
        tuned({"label": "who"}, model).fit(X, Y)
    with pytest.raises(InvalidError, match="^sample_weight and data: {weights: ...} are both given"):
        tuned({"weights": "b"}, model).fit(X.assign(b=1), Y, np.full(90, 2))
    with pytest.raises(InvalidError, match="^data: {test: ...} has no use where fit has one table"):
        tuned({"test": "b.csv"}, model).fit(X, Y)


@pytest.mark.parametrize("data", ["data:\n  train: gone.csv\n  group: who\n  drop: [b]\n", "data: {group: who, drop: b}\n"])
def test_the_groups_of_a_study_of_yaml_stay_together(data, tmp_path):
    """Only the files of its section data give place to the table."""
    text = data + "model: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\n"
    (tmp_path / "study.yaml").write_text(text + "evaluate: {group_kfold: {k: 3}}\n")
    found = TunedClassifier(tmp_path / "study.yaml", verbose=False).fit(X, Y)
    assert found.answer_["evaluation"] == "group_kfold" and inputs(found) == ["a", "day"]
    with pytest.raises(InvalidError, match='fold 0 would have cases of group "p'):
        TunedClassifier(text + "evaluate: {kfold: {k: 3}}\n", verbose=False).fit(X, Y)
    with pytest.raises(InvalidError, match='no column "Who"; did you mean "who"'):
        TunedClassifier(text.replace("who", "Who") + "evaluate: {group_kfold: {k: 3}}\n", verbose=False).fit(X, Y)


@pytest.mark.parametrize("make", [lambda: GaussianProcessClassifier(inference="laplace", tune="none"),
                                  lambda: TunedClassifier(MODEL, verbose=False)])
def test_labels_of_score_are_checked(make):
    table = X[["a", "b"]]
    model = make().fit(table, Y)
    want = accuracy_score(Y, model.predict(table))
    assert want == model.score(table, Y) == model.score(table, list(Y)) == model.score(table, pd.Series(Y, index=range(90, 0, -1)))
    for column in (pd.DataFrame({"y": Y}), Y[:, None]):
        with pytest.warns(DataConversionWarning, match="A column-vector y was passed") as caught:
            assert model.score(table, column) == want
        assert caught[0].filename == __file__
        model.effects(table, column, inputs=["a"])
    for wrong in (Y[:10], Y[:1], [], "a", np.stack([Y, Y], 1)):
        with pytest.raises(ValueError, match="inconsistent numbers of samples|y should be a 1d array"):
            model.score(table, wrong)
        with pytest.raises(ValueError, match="inconsistent numbers of samples|y should be a 1d array"):
            model.effects(table, wrong, inputs=["a"])
    with pytest.raises(ValueError, match="target y is None"):
        model.score(table, None)


@pytest.mark.parametrize("names", [["u", "v", "u"], ["u", "v", "u "], [1, 2, 1]], ids=str)
def test_columns_of_one_name_are_refused(names):
    table = pd.DataFrame(R.normal(size=(90, 3)), columns=names)
    for model in (GaussianProcessClassifier(), TunedClassifier()):
        with pytest.raises(ValueError, match=f"^several columns of X have one name: \\['{str(names[0])}'\\]"):
            model.fit(table, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GaussianProcessClassifier(inference="laplace", tune="none").fit(table.iloc[:, :2], Y)
