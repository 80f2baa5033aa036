"""Executes the notebooks at the end of docs/python.md, and writes them there with what they print and draw.

    GPC_TUNE_PROGRAM=./gpc-tune PYTHONPATH=clients/python python3 clients/python/notebooks.py

It needs numpy, pandas and scikit-learn, and runs in the root of the repository.
"""

import ast
import contextlib
import io
import os
import re
import warnings

PAGE, PICTURE, MARK = "docs/python.md", "docs/python-{}.svg", "## Four notebooks\n"

START = MARK + """
The script `clients/python/notebooks.py` executes these cells and writes what they print. A notebook shows reports \
and effects as pages; here are pictures
of them.
"""

NOTEBOOKS = [("My table", """
A table of diabetes has seven inputs, and 332 further cases in another file.
""", ["""
import pandas as pd
from gpc_tune import GaussianProcessClassifier

table = pd.read_csv("experiments/data/sets/pima_train.csv")
others = pd.read_csv("experiments/data/sets/pima_test.csv")
X, y = table.drop(columns="label"), table["label"]
new, labels = others.drop(columns="label"), others["label"]
model = GaussianProcessClassifier("{se: {ard: true}}", inference="laplace", cv=5).fit(X, y)
round(model.score(new, labels), 3)
""", "Sets of classes say how sure the model is. A set of one class decides, a set of two does not.", """
pd.concat([model.sets(new.head(4), coverage=0.9), labels.head(4)], axis=1)
""", "What drives it? Loss of information in bits per case, and the effect of the glucose concentration:", """
found = model.effects(new, labels, inputs=["glu"])
found.importance.round(3)
""", "found"]), ("A tuned classifier beside scikit-learn's", """
`TunedClassifier` compares configurations by cross-validation. It takes the place of a classifier of scikit-learn.
""", ["""
from gpc_tune import TunedClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

study = {"model": {"kernel": ["se", "linear"], "likelihood": "probit", "inference": "laplace"},
         "tune": {"restarts": 2}, "evaluate": {"kfold": {"k": 5}}, "predict": {"sets": {"coverage": 0.9}}}
tuned = TunedClassifier(study, verbose=False)
svm = make_pipeline(StandardScaler(), SVC(probability=True, random_state=0))
logistic = make_pipeline(StandardScaler(), LogisticRegression())
pd.DataFrame({name: {"accuracy": c.fit(X, y).score(new, labels),
                     "log loss": log_loss(labels, c.predict_proba(new))}
              for name, c in (("tuned", tuned), ("SVM", svm), ("logistic", logistic))}).round(3)
"""]), ("Reading a report", """
The [report](answer.md) of the tuned classifier says which configuration to use, what that may cost, and what speaks \
against it.
""", ["""
print(tuned.report_)
""", """
answer = tuned.answer_
answer["configuration"], answer["set"], answer["skill"]["better"]
"""]), ("A model of my own, with early stopping", """
The model is a linear one that is trained by stochastic gradients. Its function reports the loss on held-out cases \
after each epoch, and trials that are
behind end early.
""", ["""
import numpy as np
from gpc_tune import minimize
from sklearn.linear_model import SGDClassifier

scaled = StandardScaler().fit(X).transform(X)
train, held = np.arange(150), np.arange(150, 200)

def loss_of(point, trial):
    own = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=point["rate"], alpha=point["penalty"],
                        random_state=0)
    for epoch in range(1, 16):
        own.partial_fit(scaled[train], y.iloc[train], classes=["No", "Yes"])
        loss = log_loss(y.iloc[held], own.predict_proba(scaled[held]))
        trial.report(epoch, loss)
    return loss

space = {"rate": {"log": {"from": 1e-4, "to": 1}}, "penalty": {"log": {"from": 1e-5, "to": 1}}}
search = minimize(loss_of, space, trials=24, method="sobol", stop_early="median")
point, loss = search.best_
{name: float(f"{v:.2g}") for name, v in point.items()}, round(loss, 3), sum(t["stopped"] for t in search.trials_)
""", "search"])]


def executed(code, names):
    """What a cell prints, and the value of its last expression."""
    tree = ast.parse(code)
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(tree, PAGE, "exec"), names)
        value = eval(compile(last, PAGE, "eval"), names) if last else None
    return out.getvalue(), value


def picture(name, names):
    """The picture of effects, or of the values on the way of a search."""
    if name == "search":
        of = names["search"]
        return of._process.command("report", of._run, "--formats", "svg", "--figure", "way-0", warned=False)
    return names["model"]._run(names["new"], names["labels"], "effects", "--input", "glu", "--repeats", "5",
                               "--seed", "1", "--format", "svg")


def page():
    """The text of the notebooks, and the pictures by their files."""
    names, text, pictures = {}, [START], {}
    for title, intro, cells in NOTEBOOKS:
        text.append(f"\n### {title}\n{intro}")
        for cell in cells:
            if not cell.startswith("\n") and " " in cell:
                text.append(f"\n{cell}\n")
                continue
            if not cell.startswith("\n"):
                file = PICTURE.format(len(pictures) + 1)
                pictures[file] = picture(cell, names)
                text.append(f"\n![{title}]({os.path.basename(file)})\n")
                continue
            printed, value = executed(cell, names)
            text.append(f"\n```python\n{cell.strip()}\n```\n")
            shown = printed + ("" if value is None else str(value) if hasattr(value, "iloc") else repr(value))
            if shown:
                shown = "\n".join(line.rstrip() for line in shown.strip("\n").splitlines())
                text.append(f"\n```text\n{shown}\n```\n")
    return "".join(text), pictures


def main():
    warnings.simplefilter("ignore")
    text, pictures = page()
    with open(PAGE, encoding="utf-8") as file:
        before = file.read().split(MARK)[0].rstrip("\n")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(before + "\n\n" + text)
    for name, svg in pictures.items():
        with open(name, "w", encoding="utf-8") as file:
            file.write(svg)


if __name__ == "__main__":
    main()
