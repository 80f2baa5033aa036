"""What the estimators take from scikit-learn, and what stands in for it where it is not installed."""

import inspect
from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.exceptions import DataConversionWarning, NotFittedError
except ImportError:
    NotFittedError, DataConversionWarning = type("NotFittedError", (ValueError, AttributeError), {}), UserWarning

    class BaseEstimator:  # type: ignore[no-redef]
        """Parameters are the arguments of __init__, kept under their names."""
        def get_params(self, deep: bool = True) -> dict[str, Any]:
            return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

        def set_params(self, **params: Any) -> "BaseEstimator":
            if unknown := sorted(params.keys() - self.get_params().keys()):
                raise ValueError(f"{type(self).__name__} has no {unknown[0]!r}, but {[*self.get_params()]}")
            vars(self).update(params)
            return self

    class ClassifierMixin:  # type: ignore[no-redef]
        """A classifier is scored by its accuracy."""
        def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
            """The share of the rows of X, (n, d), whose predicted class is that of y, (n,)."""
            return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))  # type: ignore


def labels(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """The classes in order, and the index of the class of each case; y is (n,) or (n, 1)."""
    import warnings
    if y is None:
        raise ValueError("This classifier requires y to be passed, but the target y is None.")
    y = np.asarray(y)
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
                      "(n_samples,), for example using ravel().", DataConversionWarning, stacklevel=4)
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
    of = y.dtype.kind
    for wrong, text in (
            (of == "O" and any(v is None or v != v for v in y.tolist()), "Input y contains NaN; leave the cases out."),
            (of == "O" and len({isinstance(v, str) for v in y.tolist()}) > 1, "Unknown label type: texts and numbers"),
            (of == "c", "Complex data not supported"),
            (of == "f" and not np.isfinite(y).all(), "Input y contains NaN or infinity."),
            (of == "f" and (y != np.floor(y)).any(), "Unknown label type: 'continuous'. This y has fractions.")):
        if wrong:
            raise ValueError(text)
    return np.unique(y, return_inverse=True)


def weights(sample_weight: Any, n: int) -> np.ndarray:
    """The weight of each case, (n,): 1 where nothing else is said."""
    w = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    w = np.full(n, float(w)) if w.ndim == 0 else w
    if w.shape != (n,):
        raise ValueError(f"sample_weight.shape == {w.shape}, expected {(n,)}!")
    if len(wrong := np.flatnonzero(~(np.isfinite(w) & (w >= 0)))):
        raise ValueError(f"sample_weight must be 0 or more and finite, but that of row {wrong[0]} is {w[wrong[0]]}")
    return w
