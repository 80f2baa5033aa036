"""The mean log loss of scikit-learn's classifiers on a table, as one line of JSON.

    python3 peers.py TRAIN NEW LABEL

Both files are CSV. Numbers are imputed by the median and scaled, texts are one-hot, and texts with many values are left
out. Each classifier has a small choice of one hyperparameter by cross-validation.
"""
import json
import sys
import warnings

import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

MOST = 30  # values of a text

KINDS = {
    "logistic regression": (LogisticRegression(max_iter=5000), {"C": [0.01, 0.1, 1, 10]}),
    "random forest": (RandomForestClassifier(200, random_state=0), {"min_samples_leaf": [1, 5, 15]}),
    "boosting": (GradientBoostingClassifier(random_state=0, learning_rate=0.05), {"n_estimators": [25, 50, 100, 200]}),
    "SVC": (SVC(probability=True, random_state=0), {"C": [0.1, 1, 10]}),
}


def read(path, sign):
    return pd.read_csv(path, sep=sign, decimal="," if sign == ";" else ".",
                       na_values=["-", "prefer not to say", "keine Angabe"])


def main(train, new, label):
    with open(train) as f:
        head = f.readline()
    sign = max(",;\t", key=head.count)
    train, new = read(train, sign), read(new, sign)
    y, x = train.pop(label), train
    truth = new.pop(label)
    numbers = [c for c in x if x[c].dtype.kind in "if"]
    texts = [c for c in x if x[c].dtype.kind not in "if" and x[c].nunique() <= MOST]
    for c in numbers:
        new[c] = pd.to_numeric(new[c], errors="coerce")
    inputs = ColumnTransformer([
        ("numbers", make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()), numbers),
        ("texts", OneHotEncoder(handle_unknown="ignore"), texts),
    ])
    out = {}
    for name, (kind, grid) in KINDS.items():
        choice = GridSearchCV(make_pipeline(inputs, kind),
                              {f"{type(kind).__name__.lower()}__{k}": v for k, v in grid.items()},
                              scoring="neg_log_loss", n_jobs=2, error_score="raise")
        choice.fit(x, y)
        out[name] = log_loss(truth, choice.predict_proba(new), labels=choice.classes_)
    print(json.dumps(out))


warnings.filterwarnings("ignore")
main(*sys.argv[1:])
