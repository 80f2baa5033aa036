"""The conventions of scikit-learn."""

import copy
import os
import pickle

import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from joblib.externals.loky import get_reusable_executor
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from gpc_tune import GaussianProcessClassifier, TunedClassifier

X, Y = load_iris(return_X_y=True, as_frame=True)
X, Y = X.iloc[::3], Y.iloc[::3]
QUICK = GaussianProcessClassifier(inference="logistic_regression")


ALL = os.environ.get("GPC_TUNE_TEST_ALL")
STUDY = "model: {inference: [logistic_regression, base_rate]}\nevaluate: {kfold: {k: 2}}\n"
CHECKED = [GaussianProcessClassifier(inference="laplace", tune="none")]
if ALL:
    CHECKED += [GaussianProcessClassifier(), TunedClassifier(STUDY, verbose=False)]


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks(CHECKED)
def test_estimator(estimator, check):
    if check.keywords.get("readonly_memmap") and not ALL:
        pytest.skip("the same check again, with arrays that are read only: run it with GPC_TUNE_TEST_ALL=1")
    check(estimator)


def test_grid_search():
    found = GridSearchCV(QUICK, {"preprocess": ["standardize", "none"]}, cv=3).fit(X, Y)
    assert found.best_score_ > .8 and found.best_params_["preprocess"] in ("standardize", "none")


def test_two_processes():
    assert cross_val_score(QUICK, X, Y, cv=2, n_jobs=2).min() > .8
    model = clone(QUICK).fit(X, Y)
    want = model.predict_proba(X)
    for got in Parallel(n_jobs=2)(delayed(model.predict_proba)(X) for _ in range(2)):
        assert (got == want).all()
    get_reusable_executor().shutdown(wait=True)
    for got in Parallel(n_jobs=2, backend="multiprocessing")(delayed(model.predict_proba)(X) for _ in range(2)):
        assert (got == want).all()
    for got in Parallel(n_jobs=4, backend="threading")(delayed(model.predict_proba)(X) for _ in range(8)):
        assert (got == want).all()


def test_pipelines_and_frames():
    table = X.assign(town=pd.Categorical(np.where(X.iloc[:, 0] > 5.5, "a", "b")))
    columns = make_column_transformer((StandardScaler(), list(X.columns)),
                                      (OneHotEncoder(sparse_output=False), ["town"]))
    model = make_pipeline(columns, clone(QUICK)).set_output(transform="pandas").fit(table, Y)
    assert model.score(table, Y) > .9
    assert list(model[-1].feature_names_in_)[-2:] == ["onehotencoder__town_a", "onehotencoder__town_b"]


def test_calibration():
    model = CalibratedClassifierCV(clone(QUICK), cv=2).fit(X, Y)
    assert np.allclose(model.predict_proba(X).sum(1), 1)


def test_copies():
    model = clone(QUICK).fit(X, Y, sample_weight=np.arange(len(Y)) % 3)
    want = model.predict_proba(X)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert (other.predict_proba(X) == want).all() and other.log_evidence_ == model.log_evidence_
    assert pickle.dumps(model).count(b'"schema": "gpc-tune/model/') == 1
    assert not hasattr(clone(model), "classes_")
