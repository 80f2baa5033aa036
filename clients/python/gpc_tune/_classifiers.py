"""The classifiers, with the conventions of scikit-learn, their reports and their effects."""

import csv
import functools
import html
import inspect
import io
import json
import os
import pathlib
import re
import warnings
from typing import Any, Callable, Mapping, Optional, Sequence, Union

import numpy as np
from . import _table
from ._process import InvalidError, Model, Process, in_python, warn, working

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import DataConversionWarning, NotFittedError
except ImportError:
    NotFittedError, DataConversionWarning = type("NotFittedError", (ValueError, AttributeError), {}), UserWarning
    BaseEstimator, ClassifierMixin = type("BaseEstimator", (), {}), type("ClassifierMixin", (), {})  # type: ignore

CHUNK = 1 << 25  # bytes of a table that are predicted at a time
Part = Union[str, Mapping[str, Any], Sequence[Any], None]


class Report:
    """The report of a run: a page in a notebook, and text where it is printed."""
    def __init__(self, text: str, page: str):
        self.text, self.page = in_python(text), in_python(page)

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return (f'<iframe srcdoc="{html.escape(self.page)}" style="width: 100%; height: 40em; border: 0" '
                'title="report"></iframe>')

    def save(self, path: Union[str, pathlib.Path]) -> None:
        """Writes the page as an HTML file."""
        pathlib.Path(path).write_text(self.page, encoding="utf-8")


class Effects:
    """Importances and effects of the inputs of a classifier, as pandas frames, or record arrays if it is not imported.

    Attributes:
        importance (table, a row for each input, the most important first): ``input``; ``bits``, the information per
            case that predictions lose if the values of the input come from other cases, with the ends ``lo`` and ``hi``
            of its 95 % interval; ``noise``, the level of noise. Empty without labels.
        curves (table, a row for each point of each curve): ``input``; ``kind``, partial_dependence, the mean prediction
            if all cases had this x, or accumulated_local, local effects up to x, of mean 0; ``scale``, probability or
            latent, the latent function; ``class``, of two the positive one alone; ``beside`` and ``given``, the
            second input of a pair and its value; ``x``, the value of the input, NaN for a category, whose name is
            ``level``; ``mean``, with its 95 % band ``lo`` to ``hi``, NaN where there is none. A date has curves of its
            parts, named with them: "day days" since 1970, "day month (sine)", "day month (cosine)", ...
        base_bits (float): Information of the predictions of the labelled cases, in bits per case; NaN without labels.
        report_ (Report): The page with all tables and pictures, which a notebook shows."""
    def __init__(self, of: dict[str, Any], names: dict[str, Any], classes: dict[str, Any], page: Callable[[], str]):
        self.base_bits = float(of["base_bits"]) if of["scored"] else float("nan")
        rows = of["importance"] or []
        self.importance = _table.frame({"input": [names.get(row["input"], row["input"]) for row in rows], **{
            key: np.array([row[key] for row in rows], dtype=float) for key in ("bits", "lo", "hi", "noise")}})
        keys = "input kind scale class beside given level x mean lo hi".split()
        shown = {"input": names, "beside": names, "class": classes}
        points = [(*(shown.get(key, {}).get(c.get(key), c.get(key, "")) for key in keys[:6]),
                   (c.get("names") or {i: ""})[i],
                   *(c[key][i] if c.get(key) and (key != "x" or not c.get("names")) else np.nan for key in keys[7:]))
                  for c in of["curves"] or [] for i in range(len(c["x"]))]
        columns = zip(keys, zip(*points)) if points else ((key, []) for key in keys)
        self.curves = _table.frame({key: np.array(v, dtype=float) if key in keys[7:] else [*v] for key, v in columns})
        self._page, self._text = page, ", ".join((
            f"importance of {len(rows)} inputs" if of["scored"] else "importances need y, the labels",
            f"points of curves: {len(points)}"))

    @functools.cached_property
    def report_(self) -> Report:
        return Report(repr(self), self._page())

    def __repr__(self) -> str:
        return f"Effects({self._text})\n{self.importance}"

    def _repr_html_(self) -> str:
        return self.report_._repr_html_()


def _column(y: Any, n: int) -> np.ndarray:
    """Labels as an array, (n,), of a sequence (n,) or (n, 1)."""
    if y is None:
        raise ValueError("This classifier requires y to be passed, but the target y is None.")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                      "(n_samples,), for example using ravel().", DataConversionWarning, stacklevel=3)
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    if len(y) != n:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{n}, {len(y)}]")
    return y


def _labels(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The classes in order, and the index of the class of each case."""
    of = y.dtype.kind
    for wrong, text in (
            (of == "O" and any(v is None or str(v) == "<NA>" or v != v for v in y.tolist()), "Input y contains NaN."),
            (of == "O" and len({isinstance(v, str) for v in y.tolist()}) > 1, "Unknown label type: texts and numbers"),
            (of == "c", "Complex data not supported"),
            (of == "f" and not np.isfinite(y).all(), "Input y contains NaN or infinity."),
            (of == "f" and (y != np.floor(y)).any(), "Unknown label type: continuous. y has numbers, and this package "
             "predicts classes; y > limit makes two classes of it")):
        if wrong:
            raise ValueError(text)
    classes, coded, counts = np.unique(y, return_inverse=True, return_counts=True)
    if len(classes) > 100:
        raise ValueError(f"y has {len(classes)} values, and 100 classes are possible; y > limit makes two of numbers")
    if of in "iuf" and len(classes) > (10 if 1 in counts else 20):
        warn(f"y looks like a number: each of its {len(classes)} values is taken for a class, of which "
             f"{(counts == 1).sum()} have one case; y > limit makes two classes of it")
    return classes, coded


class _Classifier(ClassifierMixin, BaseEstimator):
    """What both classifiers share: the table of the training cases, and predictions."""
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **wrong: Any) -> "_Classifier":
        """Fits to the rows of X.

        Parameters:
            X (array or pandas frame, (n, d)): Inputs. A category or text is 1 or 0 for each level, all 0 where missing
                or, at predict, new; ordered ones are ranks; dates, also texts as in files, are days, month, weekday and
                hour in their zone; missing numbers, and words for them, the median (``{"data": {"missing_indicators":
                True}}`` of TunedClassifier: and where).
            y (array or series, (n,)): Labels: texts, whole numbers or truth values.
            sample_weight (array, (n,), optional): How many equal cases each row stands for, 0 or more. Where errors on
                a class cost more, fit without weights, and multiply its column of predict_proba by the cost."""
        if wrong:
            raise TypeError(f"fit takes no {[*wrong][0]}; groups: TunedClassifier({{'data': {{'group': 'a column'}}}})")
        names, columns, n = _table.columns_of(X)
        classes, coded = _labels(_column(y, n))
        ordered = sorted(str(name).strip() for name in names or ())
        if same := sorted({a for a, b in zip(ordered, ordered[1:]) if a == b}):
            raise ValueError(f"several columns of X have one name: {same}. Give each a name of its own")
        weight = np.asarray(1.0 if sample_weight is None else sample_weight, dtype=np.float64)
        weight = np.full(n, float(weight)) if weight.ndim == 0 else weight
        if weight.shape != (n,):
            raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n,)}!")
        for i in np.flatnonzero(~(np.isfinite(weight) & (weight >= 0))):
            raise ValueError(f"sample_weight must be 0 or more and finite, but that of row {i} is {weight[i]}")
        kept = weight > 0
        if (present := len(np.unique(coded[kept]))) < 2:
            found = f"one class (n_samples = {n})" if len(classes) < 2 else "one class whose sample_weight is not 0"
            raise ValueError("This classifier needs samples of at least 2 classes in the data, but the data contains "
                             f"only {found if kept.any() else 'rows whose sample_weight is 0'}")
        label = str(getattr(y, "name", None) or "label").strip() or "label"
        while names is not None and label in map(str, names):
            label += "_"
        weighted = f"sample weight of {label}"
        vars(self).pop("feature_names_in_", None)
        if names is not None and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, dtype=object)
        elif names is not None and any(isinstance(name, str) for name in names):
            raise TypeError("Feature names are only supported if all input features have string names, but your input "
                            f"has {sorted({type(v).__name__ for v in names})} as feature name / column name types.")
        self.classes_, self.n_features_in_ = classes, len(columns)
        with working() as process:
            self._inputs = _table.learn(names, columns, [label, weighted], process.ask)
            texts = [_table.text_of(c).decode() for c in classes.tolist()]
            self._names, self._label = process.ask("classes", columns=texts)[0]["classes"], label
            table = [_table.values_of(c, i.kind) for c, i in zip(columns, self._inputs)]
            rows = np.flatnonzero(kept)
            if isinstance(self, GaussianProcessClassifier):  # whose fit does not depend on the order of the rows
                rows = rows[np.lexsort([np.asarray(v)[rows] for v in (coded, *reversed(table))])]
            table = [v[rows] if isinstance(v, np.ndarray) else [v[i] for i in rows] for v in table]
            table.append([self._names[k].encode() for k in coded[rows]])
            header, self._rows = [i.name for i in self._inputs] + [label], rows  # in the order of the model file
            dtype = getattr(y, "dtype", None)
            ranks = {str(c): k for k, c in enumerate(dtype.categories)} if getattr(dtype, "ordered", False) else {}
            if not ranks and isinstance(classes[0], str) and "ordinal" in str(getattr(self, "likelihood", "")):
                warn(f"ordinal takes the classes in the order {' < '.join(classes)}: an ordered categorical y has one")
            data = {"train": "train.parquet", "label": label, "missing": "median", "categorical": "one_hot",
                    "columns": {i.name: i.meaning for i in self._inputs if i.meaning},
                    "categories": [i.name for i in self._inputs if i.kind in ("text", "category")],
                    "order": sorted(self._names, key=lambda name: ranks.get(str(classes[self._names.index(name)]), 0))
                    if 2 < len(classes) == present and (ranks or hasattr(self, "likelihood")) else None,
                    "positive": self._names[1] if len(classes) == 2 else None,
                    "weights": weighted if (weight[kept] != 1).any() else None}
            if data["weights"]:
                header, table = header + [weighted], table + [weight[rows]]
            body, fields = _table.packed(header, table, len(rows))
            same = ", ".join(process.ask("write", body, name="train.parquet", **fields)[0].get("columns", ()))
            if same and isinstance(self, GaussianProcessClassifier):
                warn(f"{same}: an identifier, by its name and as every row has another value? Leave it out")
            self._tune(process, {key: value for key, value in data.items() if value})  # type: ignore[attr-defined]
            self._model = Model(process.ask("read", name="model.json")[1], process)
        return self

    def _made(self, process: Process, study: Any, data: dict[str, Any], name: str = "", rows: int = 0) -> Any:
        text = study if isinstance(study, str) else json.dumps(study, default=plain, ensure_ascii=False)
        return json.loads(process.ask("table", text.encode(), name=name, table=data, rows=rows, classes=len(
            self.classes_), columns=[i.name for i in self._inputs])[1])

    def _predictions(self, X: Any) -> tuple[np.ndarray, np.ndarray]:
        header, table, n = self._table_of(X)
        size = sum(v.nbytes if isinstance(v, np.ndarray) else 4 * n + sum(map(len, v)) for v in table)
        rows = max(1, n * CHUNK // max(size, 1))
        proba, decisions = np.zeros((n, len(self.classes_))), np.empty(n, dtype=int)
        for at in range(0, n, rows):
            part = [v[at:at + rows] for v in table]
            of, classes, out = self._model.predict(*_table.packed(header, part, len(part[0])))
            index = np.array([self._names.index(c) for c in classes] + [-1])
            for k, name in enumerate(classes):
                proba[at:at + rows, index[k]] = out[:, of.index(f"p[{name}]")]
            decisions[at:at + rows] = index[out[:, of.index("decision")].astype(int)]
        return proba, decisions

    def _table_of(self, X: Any) -> tuple[list[str], list[_table.Values], int]:
        """The names of the inputs, their values for the rows of X, and the number of rows. Raises or warns if names or
        number of columns are not those of the training table."""
        header = [i.name for i in self._inputs]
        names, columns, n = _table.columns_of(X)
        kind, fitted = type(self).__name__, getattr(self, "feature_names_in_", None)
        names = names if names and all(isinstance(name, str) for name in names) else None
        if fitted is not None and names is not None and {*fitted} - {*names}:
            used = {i["name"] for i in self._model.field("columns")["inputs"]}
            for j in [j for j, i in enumerate(self._inputs) if fitted[j] not in names and i.name not in used]:
                names.insert(j, fitted[j]), columns.insert(j, np.full(n, None))
        elif names and fitted is not None and not hasattr(self, "_rows"):  # load knows the inputs alone
            names, columns = fitted.tolist(), [columns[names.index(name)] for name in fitted]
        if (fitted is None) != (names is None):
            warnings.warn(f"X has feature names, but {kind} was fitted without feature names" if names else f"X does "
                          f"not have valid feature names, but {kind} was fitted with feature names", stacklevel=4)
        elif fitted is not None and names != fitted.tolist():
            lists = {"Feature names unseen at fit time": set(names or ()) - set(fitted),
                     "Feature names seen at fit time, yet now missing": set(fitted) - set(names or ())}
            text = "".join("\n- ".join([f"{what}:", *sorted(which)[:5], *["..."] * (len(which) > 5)]) + "\n"
                           for what, which in lists.items() if which)
            raise ValueError("The feature names should match those that were passed during fit.\n" + (
                text or "Feature names must be in the same order as they were in fit.\n"))
        if (d := len(columns)) != self.n_features_in_:
            raise ValueError(f"X has {d} features, but {kind} is expecting {self.n_features_in_} features as input.")
        for i, zone in [(i, _table.aware(c)) for i, c in zip(self._inputs, columns) if i.kind == "date"]:
            if zone is not None and bool(zone) != bool(had := i.meaning["date"].get("zone")):
                raise ValueError(f"the dates of {i.name!r} have {zone or 'no time zone'}, and in fit they had "
                                 f"{had or 'none'}: use tz_localize")
        table = [_table.values_of(c, i.kind) for c, i in zip(columns, self._inputs)]
        for i, of in zip(self._inputs, table) if n > 1 else ():
            if i.kind == "number" and isinstance(of, list) and max(of) and not re.search(rb"\d", b" ".join(of)):
                raise ValueError(f"no value of {i.name!r} is a number as in fit; one is {max(of).decode()!r}")
        return header, table, n

    def predict(self, X: Any) -> np.ndarray:
        """The classes, (n,), of the rows of X, (n, d), which may lack columns that are no inputs, as a group. A text in
        place of a number counts as missing, with a warning; if two rows or more have no number at all, a ValueError."""
        decisions = self._predictions(X)[1]
        if (decisions < 0).any():
            raise ValueError("the costs of the study reject some of these cases, which have no class")
        return self.classes_[decisions]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probabilities, (n, classes), of classes_ for the rows of X, (n, d)."""
        return self._predictions(X)[0]

    def sets(self, X: Any, coverage: float = 0.9) -> Any:
        """The sets of classes that contain the true class with this coverage, for the cases of each class apart.

        A set compares the probabilities of a case with those of held-out training cases, which TunedClassifier has and
        GaussianProcessClassifier(cv=...). The array of bool, (n, classes), or frame says which classes are in each,
        several where it is unsure, and none where a case is unlike the held-out ones."""
        if not 0 < coverage < 1:
            raise InvalidError(f"coverage is {coverage}, expected a number between 0 and 1, such as 0.9")
        if self._model.field("sets") is None:
            raise InvalidError("the model has no held-out folds to compare with: use GaussianProcessClassifier(cv=10), "
                               "more time, or evaluate: {kfold: {k: 10}} and predict: {sets: {coverage: 0.9}} in yours")
        rows = csv.DictReader(io.StringIO(self._run(X, None, "predict", "--sets", repr(float(coverage)))))
        out = np.array([[name in row["set"].split("; ") for name in self._names] for row in rows], dtype=bool)
        return _table.frame(dict(zip(self.classes_.tolist(), out.T)), X.index) if hasattr(X, "iloc") else out

    def why(self, X: Any, label: Any = None) -> Any:
        """Says what moved each prediction, by Shapley values. A row takes up to seconds; verbose counts them.

        label is the class whose probability is explained, by default the most probable one of each row. The table has
        ``class``, this class; ``base``, its mean probability over up to 50 cases of fit, or for logistic_regression the
        one at their medians; the effect of each input, which with base sum to the probability; ``nearest``, positions
        in the X of fit (load does not know them), classes and kernel values, empty with inducing inputs; ``outside``,
        inputs that are missing, have a new category or are beyond the values of fit."""
        if label is not None and label not in (known := self.classes_.tolist()):
            raise InvalidError(f"label is {label!r}, expected one of the classes {known}")
        of = [] if label is None else ["--why-of", self._names[known.index(label)]]
        head, *rows = csv.reader(io.StringIO(self._run(X, None, "predict", "--why", *of)))
        of = dict(zip(head, zip(*rows)))
        classes = dict(zip(self._names, self.classes_.tolist()))
        columns = {"class": [classes[name] for name in of["why_of"]], "base": np.array(of["base"], dtype=float)}
        for name, i in zip(getattr(self, "feature_names_in_", [i.name for i in self._inputs]), self._inputs):
            if f"why[{i.name}]" in of:  # a study may leave out inputs
                name = f"{name} (input)" if name in ("class", "base", "nearest", "outside") else name
                columns[name] = np.array(of[f"why[{i.name}]"], dtype=float)
        at, known = getattr(self, "_rows", []), len(self._model.field("inputs") or [])  # a subsample has fewer
        place = (lambda m: f"{m[1]}{at[int(m[2])]} ") if known == len(at) else r"\1"
        near = [re.sub(r"(^|; )(\d+) (?=\()", place, text) for text in of.get("nearest", [""] * len(rows))]
        return _table.frame({**columns, "nearest": near, "outside": list(of["outside"])}, getattr(X, "index", None))

    def effects(self, X: Any, y: Any = None, *, inputs: Sequence[str] = (), pairs: Sequence[Sequence[str]] = (),
                repeats: int = 5, random_state: Optional[int] = None) -> Effects:
        """Measures what drives the predictions: importances and effects of the inputs.

        Parameters:
            X (array or pandas frame, (n, d)): Cases, best such that the model was not fitted to.
            y (array or series, (n,), optional): Their labels. Importances need them.
            inputs (names): Inputs that get curves: names in the frame, or x1, x2, ... of an array; by default six.
            pairs (pairs of names): Inputs whose joint effect is shown: of the first at three values of the second.
            repeats (int): Permutations of each input, 2 or more.
            random_state (int, optional): Seed of the permutations."""
        known = {str(name): i.name for name, i in zip(getattr(self, "feature_names_in_", ()), self._inputs)}
        args = ["--repeats", str(repeats), "--seed", str(1 if random_state is None else _seed(random_state))]
        every = [] if y is not None or pairs else [i["name"] for i in self._model.field("columns")["inputs"]]
        for name in [inputs] if isinstance(inputs, str) else inputs if len(inputs) else every:
            args += ["--input", known.get(str(name), str(name))]
        for a, b in pairs:
            args += ["--pair", f"{known.get(str(a), a)},{known.get(str(b), b)}"]
        return Effects(json.loads(self._run(X, y, "effects", *args, "--format", "json")),
                       {i: name for name, i in known.items()}, dict(zip(self._names, self.classes_.tolist())),
                       functools.partial(self._run, X, y, "effects", *args, "--format", "html"))

    def _run(self, X: Any, y: Any, command: str, *args: str) -> str:
        """The output of a command on the model file and the rows of X, with the labels y if they are there."""
        header, table, n = self._table_of(X)
        if y is not None:
            place = {c: k for k, c in enumerate(self.classes_.tolist())}
            y = _column(y, n)
            if unseen := sorted({str(v) for v in y.tolist() if v not in place}):
                raise ValueError(f"y contains previously unseen labels: {unseen}")
            header.append(self._label)
            table.append([self._names[place[v]].encode() for v in y.tolist()])
        with working() as process:
            process.ask("write", self._model.file, name="model.json")
            body, fields = _table.packed(header, table, n)
            process.ask("write", body, name="cases.parquet", **fields)
            return process.command(command, "model.json", "cases.parquet", *args, verbose=self.verbose)

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """The logarithms of the probabilities, (n, classes)."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @property
    def log_evidence_(self) -> float:
        """The log evidence of the fitted model, in nats; NaN where its method has none."""
        return float(self._model.field("log_evidence"))

    @property
    def hyperparameters_(self) -> dict[str, float]:
        """The hyperparameters in natural units, by the names of the report: see the class."""
        return self._model.described[0]

    @property
    def coefficients_(self) -> Any:
        """The coefficients of logistic regression, a table: class, prepared input, value and standard_error."""
        rows, of = self._model.field("coefficients") or [], dict(zip(self._names, self.classes_.tolist()))
        table = {key: [row[key] for row in rows] for key in ("class", "input", "value", "standard_error")}
        return _table.frame({**table, "class": [of[name] for name in table["class"]]})

    @property
    def scales_(self) -> Any:
        """The prepared inputs, a table: input, mean and scale, NaN with whiten; the kernel sees (x - mean) / scale."""
        how, names = self._model.field("preprocess"), self._model.described[1]
        none = {"mean": [0.0] * len(names), "scale": [np.nan if "root" in how else 1.0] * len(names)}
        return _table.frame({"input": names, **{key: np.array(how.get(key, of)) for key, of in none.items()}})

    def __getattr__(self, name: str) -> Any:
        if re.fullmatch("_(model|inputs|names)|[a-z].*_", name) and "_model" not in vars(self):
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' first.")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the model file, which load, gpc-tune predict and serve-model read. It has training cases."""
        pathlib.Path(path).write_bytes(self._model.file)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, which are the arguments of the class, by their names."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **params: Any) -> "_Classifier":
        """Sets parameters by their names. A value has its options in it, such as ``kernel={"se": {"ard": True}}``."""
        if unknown := [name for name in params if name not in (known := self.get_params())]:
            raise ValueError(f"Invalid parameter {unknown[0]!r} for estimator {self}. Valid parameters are: "
                             f"{[*known]}. Options are parts of their values, such as kernel={{'se': {{'ard': True}}}}")
        vars(self).update(params)
        return self

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy: the share of the rows of X, (n, d), whose predicted class is that of y, (n,)."""
        decided = self.predict(X)
        return float(np.average(decided == _column(y, len(decided)), weights=sample_weight))

    _more_tags = lambda self: {"allow_nan": True}  # of scikit-learn before 1.6

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = True
        return tags


def plain(value: Any) -> Any:
    """What JSON has in place of a number or an array of NumPy."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{value!r} is no text, number, list or mapping. Write a kernel as 'matern32', {{'se': {{'ard': "
                    "True}} or '{sum: [se, linear]}'. RBF of scikit-learn is se, WhiteKernel noise, DotProduct linear, "
                    "Matern matern12, matern32 or matern52; each kernel has an amplitude, as by a ConstantKernel")


class GaussianProcessClassifier(_Classifier):
    """A Gaussian-process classifier, whose hyperparameters maximise the log evidence.

        >>> X = np.random.default_rng(0).normal(size=(60, 2))
        >>> y = np.where(X[:, 0] + X[:, 1] ** 2 > 1, "ill", "well")
        >>> model = GaussianProcessClassifier({"se": {"ard": True}}, inference="laplace", cv=5).fit(X, y)
        >>> model.predict_proba(X[:2]), model.predict(X[:2]), model.sets(X[:2], coverage=0.9)
        >>> grid = {"kernel": ["linear", {"se": {"length_scale": 1}}, {"se": {"length_scale": {"fixed": 2}}}]}
        >>> GridSearchCV(model, grid).fit(X, y).best_params_

    Parameters:
        kernel (text or mapping): Covariance function: se (as RBF), matern12, matern32, matern52, rational_quadratic,
            linear, polynomial, constant, noise, periodic, neural_network or hamming. With options, such as a length
            scale for each input: ``{"se": {"ard": True}}``. Of others: ``{"sum": ["se", "noise"]}``, product, active,
            additive, per_class, and choice, if tune has restarts. A mapping may be text too: ``"{sum: [se, noise]}"``.
            Of a list of kernels the one with the largest log evidence is taken, with a warning that says which.
        inference (text or mapping): Method that approximates the posterior and predicts: ep, laplace, pl, online,
            variational, ensemble_mean_field, naive_mean_field, sampling, ``{"ep": {"inducing": 200}}`` for thousands of
            cases; or another classifier: base_rate, p1nn, least_squares, svm, logistic_regression.
        likelihood (text or mapping, optional): probit (the default), logit, noisy_threshold or step for two classes;
            softmax (the default), multinomial_probit or ordinal for more: see ``explain("pairs")``.
        mean (text or mapping): Prior mean of the latent function: zero or constant.
        classes (text): With more than two classes joint, or one_vs_rest.
        preprocess (text): What the inputs are before the kernel sees them: standardize, none, power or whiten.
        tune (text or mapping, optional): How hyperparameters are chosen: bfgs, auto, none, which keeps initial values,
            or another of ``explain("strategies")``, as in ``{"method": "bfgs", "restarts": 5}``. By default by bfgs on
            the log evidence of Laplace's method if ep or sampling predicts (for likelihoods without derivatives of ep),
            and else of the method itself, or if the kernel has priors (``explain("priors")``) on log_posterior, which
            adds their log densities.
        cv (int, optional): Number of folds whose held-out predictions sets() compares with. By default no sets.
        random_state (int, optional): Seed of all random numbers. Without one it is 0, so that a fit repeats.
        verbose (bool): Shows progress on standard error.

    Attributes:
        classes_, n_features_in_, feature_names_in_: As in scikit-learn. log_evidence_ (float) is in nats.
        scales_ (table): ``input``, ``mean`` and ``scale``, a standard deviation, of x, or with power of its power.
            coefficients_ (table): of logistic_regression.
        hyperparameters_ (dict): Numbers in natural units, no logarithms. ``amplitude`` is a standard deviation of the
            latent function; ``length_scale`` and ``period`` are in units of the prepared inputs, with ard one for each
            input, ``length_scale[age]``: times the scale in scales_, it has the units of X. ``2.noise.amplitude`` is of
            the second kernel of a sum or product, ``class[a].amplitude`` of that of a class; ``mean.`` and
            ``likelihood.`` begin other names."""
    def __init__(self, kernel: Part = "se", *, inference: Part = "ep", likelihood: Part = None, mean: Part = "zero",
                 classes: str = "joint", preprocess: str = "standardize", tune: Part = None,
                 cv: Optional[int] = None, random_state: Optional[int] = None, verbose: bool = False):
        self.kernel, self.inference, self.likelihood, self.mean = kernel, inference, likelihood, mean
        self.classes, self.preprocess, self.tune, self.cv = classes, preprocess, tune, cv
        self.random_state, self.verbose = random_state, verbose

    def _tune(self, process: Process, data: dict[str, Any]) -> None:
        names = ("kernel", "mean", "inference", "likelihood", "classes")[:5 if len(self.classes_) > 2 else 4]
        study = {name: v for name in (*names, "preprocess", "tune") if (v := getattr(self, name)) is not None}
        if not isinstance(self.cv, (int, np.integer, type(None))):
            raise InvalidError(f"cv is {self.cv!r}, expected a number of folds, such as 10, or None")
        study |= {"seed": _seed(self.random_state)} if self.cv is None else {
            "seed": _seed(self.random_state), "evaluate": {"kfold": {"k": self.cv}}}
        process.study("model.yaml", self._made(process, study, data)["study"])
        process.command("fit", "model.yaml", "-m", "model.json", verbose=self.verbose)


def load(path: Union[str, "os.PathLike[str]"]) -> GaussianProcessClassifier:
    """The fitted classifier of a model file, which save or the program gpc-tune has written.

    Classes are whole numbers or truth values where all of them are, and else texts. A file of TunedClassifier has only
    its best model, inputs, costs and threshold, by which predict decides. A table may have further columns. get_params
    has kernel, inference, likelihood, mean, classes, preprocess and random_state (0 is None) of the file, and other
    defaults. A pickle has all."""
    model = Model(pathlib.Path(path).read_bytes())
    if not (columns := model.field("columns")):
        raise InvalidError(f"{os.fspath(path)} is no model file of gpc-tune")
    out = GaussianProcessClassifier(**model.arguments(), random_state=model.field("seed") or None)
    out._model, out._names, out._label = model, columns["classes"], columns["label"]["name"]
    out._inputs = [_table.Column(i["name"], "date" if "date" in i else "text" if {"levels", "order"} & set(i) else
                                 "number", i) for i in columns["inputs"]]
    plain = [re.fullmatch(r"-?\d{1,15}|False|True", name) for name in out._names]
    values = [json.loads(name.lower()) if all(plain) else name for name in out._names]
    out.classes_ = np.array(values if len(set(map(type, values))) == 1 else out._names)
    out.n_features_in_ = len(out._inputs)
    if [i.name for i in out._inputs] != [f"x{j + 1}" for j in range(out.n_features_in_)]:
        out.feature_names_in_ = np.array([i.name for i in out._inputs], dtype=object)
    return out


def _seed(random_state: Any) -> int:
    return int(random_state.randint(1 << 31) if hasattr(random_state, "randint") else random_state or 0)


class TunedClassifier(_Classifier):
    """The best of several models, compared by cross-validation and fitted to all cases.

        >>> X = np.random.default_rng(0).normal(size=(60, 2))
        >>> y = X[:, 0] + X[:, 1] ** 2 > 1
        >>> study = {"kernel": ["se", {"se": {"ard": True}}], "inference": ["laplace", "logistic_regression"],
        ...          "preprocess": "power", "evaluate": {"kfold": {"k": 5}}}
        >>> tuned = TunedClassifier(study, verbose=False).fit(X, y)
        >>> tuned.answer_["configuration"], tuned.answer_["set"], tuned.answer_["scores"]["log_loss"]["value"]
        >>> again = GaussianProcessClassifier(**tuned.answer_["model"]).fit(X, y)

    Parameters:
        study (mapping, text of YAML or path, optional): What is compared: every combination of the lists of kernel,
            mean, likelihood, inference and classes, as of GaussianProcessClassifier. Without any of them the default
            study has kernels, base_rate and logistic_regression, with preprocess power if inputs are skewed. Other keys
            of a mapping are ``"preprocess": "standardize"``, ``"tune": {"method": "bfgs", "restarts": 5}``,
            ``"evaluate": {"kfold": {"k": 10}}`` (or another of ``explain("splitters")``), ``"predict": {"sets":
            {"coverage": 0.9}, "threshold": {"maximise": "f1"}, "loss": {"ill": {"well": 5}}}``, of which sets() needs
            the first and the last says what it costs to take ill for well, and ``"data": {"group": "customer"}``, a
            column of X: cases of one customer are held out together. In YAML the first ones are below model.
        time (text or seconds, optional): What the default study of a large table is expected to take where nothing else
            runs, within half of it, and no limit: 30s, 2m (the default), 4h or overnight. Small tables take less.
        random_state, verbose: As of GaussianProcessClassifier. Without random_state the study has the seed.

    Attributes:
        classes_, log_evidence_, hyperparameters_, scales_ and all others: As of GaussianProcessClassifier.
        answer_ (dict): ``model``, arguments, some as text of YAML, with which GaussianProcessClassifier fits the best
            one again (but for options of tune, and for predict); ``configuration``, its number; ``score``, which
            decides, in units of ``by``, with its 95 % interval ``low`` to ``high``, over ``cases`` held out by
            ``evaluation``, and ``corrected`` for the choice of ``competed``; ``scores``, as log_loss or error_rate,
            each with value and ci95; ``decisions``, with the threshold of predict, None where the most probable class
            is taken, and with costs mean_loss, the mean cost of held-out cases, and its ci95; ``margin`` to the
            ``next`` best, with ``p``; ``set``, numbers of those that may be best; ``alternatives``, without the best,
            which is ``at_most`` this worse than any; ``rivals``, a list of dicts for the other models: configuration,
            score, difference, low, high, p and in_set; ``skill``, whether it is better than chance; ``trust``, reasons
            to doubt with remedies; ``dataset``, ``label``, ``left_out``, ``suspects``, ``drivers`` and ``recalibrated``
            as ``explain("drivers")`` says. The score is information_bits, how many bits per case log loss is below that
            of guessing by class frequencies; ``"evaluate": {"nested": {"score": "error_rate"}}`` takes another one.
        report_ (Report): The report of the run with all models by number, which a notebook shows as a page.
        study_ (text): The study that has run, as YAML; the default one says what each column is taken for, and why.
            ``TunedClassifier(study_)`` runs it again for a table with these columns, also after changes."""
    def __init__(self, study: Any = None, *, time: Union[str, float, None] = None, random_state: Optional[int] = None,
                 verbose: bool = True):
        self.study, self.time, self.random_state, self.verbose = study, time, random_state, verbose

    def _tune(self, process: Process, data: dict[str, Any]) -> None:
        seed, name = {} if self.random_state is None else {"seed": _seed(self.random_state)}, ""
        settings = ["--set", "report.formats=[html]", *(f"--set=seed={v}" for v in seed.values())]
        if yaml := not isinstance(self.study, (Mapping, type(None))):
            text = os.fspath(self.study)
            if "\n" not in text and ": " not in text:
                text, name = pathlib.Path(text).read_text(encoding="utf-8"), text
        else:
            text = {**(self.study or {}), **seed}
        made = self._made(process, text, data, name=name or "study.yaml" * yaml, rows=len(self._rows))
        name = name or "study.yaml" * yaml * (made["text"] != text)
        if not yaml and not made["model"]:
            time = self.time if isinstance(self.time, str) else "2m" if self.time is None else f"{self.time}s"
            texts = [i.name for i in self._inputs if i.kind == "text"] + [self._label]
            given = json.dumps({**made["given"], "texts": texts}, ensure_ascii=False)
            process.command("init", "study.yaml", "--data", "train.parquet", "--label", self._label, "--time", time,
                            "--given", given, "--sections", made["more"])
            self.study_ = process.ask("read", name="study.yaml")[1].decode()
        elif self.time is not None:
            raise InvalidError('time is for the default study. A search of yours has "tune": {"stop": {"time": "30s"}}')
        else:
            self.study_ = made["text" if yaml else "study"]
        process.study("study.yaml", self.study_, name)
        text = process.command("run", "study.yaml", "-o", "run", *settings, verbose=self.verbose, partly=True)
        more = ("-o", "run", "--resume", "-m", "model.json", *settings)
        process.command("fit", "study.yaml", *more, warned=False, partly=True)
        self.report_ = Report(text, process.ask("read", name="run/report.html")[1].decode())
        run = json.loads(process.ask("read", name="run/results.json")[1], object_hook=lambda of: {
            k: in_python(v) if isinstance(v, str) else v for k, v in of.items() if k != "keep"})
        how = (model := Model(process.ask("read", name="model.json")[1])).field("tuned")
        tune = {k: how[k] for k in ("method", "objective", "inference")} if how["method"] == "bfgs" else how["method"]
        best = run["configurations"][run.get("answer", {}).get("configuration", 0)]
        decisions = (best["evaluations"] or [{}])[0].get("decisions") or {}
        decisions = {"threshold": (model.field("threshold") or [None])[0], **decisions}
        more = {"model": {**model.arguments(), "tune": tune}, "scores": best["scores"], "decisions": decisions}
        self.answer_ = {**run["answer"], **more} if "answer" in run else {}
