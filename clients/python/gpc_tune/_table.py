"""Tables as the program reads them: NumPy arrays and pandas frames, without rounding, as Parquet."""

import contextlib
import datetime
import functools
import json
import re
import struct
import sys
from typing import Any, Callable, Iterable, NamedTuple, Optional, Sequence, Union

import numpy as np
from ._process import warn

DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?")
Values = Union[np.ndarray, "list[bytes]"]  # float64 with NaN for missing, or texts with b"" for missing


class Column(NamedTuple):
    """An input: its name in the program, the kind of its values, and what it means to the program."""
    name: str
    kind: str  # number, text, category, ordered or date
    meaning: Optional[dict[str, Any]] = None


@functools.lru_cache(1 << 12, typed=True)
def text_of(value: Any) -> bytes:
    """A category as a text that is no number to clean up and no mark of a missing value."""
    if value is None or value != value:
        return b""
    text = str(int(value) if isinstance(value, (float, np.floating)) and value == int(value) else value)
    if text != text.strip() or text.lower() in ("", "na", "nan", "?") or not text.isprintable():  # as missing values
        text = "=" + repr(text)
    return text.encode()


def numbers(values: Any) -> np.ndarray:
    """Values as float64, where None and missing values of pandas are NaN; TypeError or ValueError otherwise."""
    if getattr(values.dtype, "kind", "") == "c":
        raise ValueError("Complex data not supported")
    if hasattr(values, "to_numpy") and getattr(values.dtype, "kind", "") != "m":
        values = values.to_numpy(dtype=float, na_value=np.nan)
    values = np.asarray(values)
    if values.dtype.kind == "m":
        return np.where(np.isnat(values), np.nan, values / np.timedelta64(1, "s"))
    if values.dtype.kind == "M":
        raise TypeError("dates are no numbers")
    return values.astype(np.float64)


def frame(columns: dict[Any, Any], index: Any = None) -> Any:
    """A table with these columns: a pandas frame where pandas is imported, and otherwise a record array."""
    if pandas := sys.modules.get("pandas"):
        return pandas.DataFrame(columns, index=index)
    arrays = [np.asarray(v) for v in columns.values()]
    return np.rec.fromarrays([a if len(a) else a.astype("U1") for a in arrays], names=[str(name) for name in columns])


def columns_of(X: Any) -> tuple[Optional[list[Any]], list[Any], int]:
    """The names of the columns, None for those of an array, the columns, and the number of rows."""
    if hasattr(X, "toarray"):
        raise TypeError("Sparse data was passed; dense data is required. Use X.toarray()")
    names, X = (list(X.columns), X) if hasattr(X, "iloc") and hasattr(X, "columns") else (None, np.asarray(X))
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D array instead. Reshape your data by X.reshape(-1, 1) if it "
                         "has a single feature, X.reshape(1, -1) if it is one sample, or DataFrame([X]) if a dict.")
    if names is None and X.dtype.kind in "US":  # an array has one type: columns of numbers became texts
        X = X.astype(object)
        for j in range(X.shape[1]):
            with contextlib.suppress(ValueError):
                X[:, j] = X[:, j].astype(float)
    if 0 in X.shape:
        what = "feature" if len(X) else "sample"
        raise ValueError(f"Found array with 0 {what}(s) (shape={X.shape}) while a minimum of 1 is required.")
    return names, list(X.T) if names is None else [X.iloc[:, j] for j in range(X.shape[1])], len(X)


def aware(values: Any) -> Optional[str]:
    """The time zone of dates by its name in the program, empty for dates without one, and None for other values."""
    zones = [getattr(values.dtype, "tz", None)] if values.dtype.kind == "M" else [
        getattr(v, "tzinfo", None) for v in (values if values.dtype.kind == "O" else ()) if hasattr(v, "isoformat")]
    zone = re.sub("^UTC(?=[+-])", "", str(next(filter(None, zones), "")))
    return (zone if re.match("$|[+-]|.*/", zone) else "utc") if zones else None


def read(values: Any, name: str, ask: Callable[..., Any]) -> tuple[Any, str, Optional[dict[str, Any]]]:
    """The values of a column, their kind, and the meaning of texts that are dates. Words for missing values are missing
    ones among numbers and dates; texts that all are numbers are categories. ask asks the program."""
    dtype, na = values.dtype, getattr(sys.modules.get("pandas"), "NA", None)
    if hasattr(dtype, "categories"):
        return values, "ordered" if dtype.ordered else "category", None
    if dtype.kind not in "OUS":
        return values, "date" if dtype.kind == "M" else "number", None
    every = np.asarray(values.astype(str) if dtype.kind == "S" else values, dtype=object)
    values, numbers, strays = [None if v is None or v is na or v != v else v for v in every.tolist()], [], []
    for v in values:
        try:
            numbers.append(np.nan if v is None else float(v))
        except (TypeError, ValueError):
            if not isinstance(v, str) and not hasattr(v, "isoformat"):
                raise TypeError(f"the values of input {name} must be numbers, texts or dates: argument must be a string"
                                f" or a number, not {type(v).__name__!r}") from None
            numbers.append(np.nan)
            strays.append(v)
    every[:], present, texts = values, sum(v is not None for v in values), [v for v in values if isinstance(v, str)]
    n = present - len(strays)
    if not strays:
        return (every, "text", None) if texts and len(texts) == n else (np.array(numbers), "number", None)
    if not n and (not texts or len(texts) == present and all(DATE.fullmatch(v) for v in texts)):
        return every, "date", None
    said = json.loads(ask("texts", columns=sorted({*map(str, strays)}))[1])
    if not (odd := said["odd"]) and n:
        return np.array(numbers), "number", None
    if said["date"] and not odd and not n:
        if said["other"]:
            warn(f'is the day first in the dates of "{name}"? They are read in the form {said["date"]["form"]}, and '
                 f'{said["other"]} fits as well: pd.to_datetime(X["{name}"], format=...) says which')
        every[[v in (said["words"] or ()) for v in values]] = None
        return every, "date", {"date": said["date"]}
    what, of = ("dates", "datetime") if said["date"] else ("numbers", "numeric")
    n = n or len(strays) - sum(str(v) in odd for v in strays)
    if odd and 2 * n > present and (said["date"] or n < present):
        warn(f'{n} of {present} values of "{name}" are {what}, and {odd[0]!r} is not: if it is missing, X["{name}"] = '
             f'pd.to_{of}(X["{name}"], errors="coerce") makes {what} of them, and else they are categories')
    return every, "text", None


def learn(names: Optional[list[Any]], columns: list[Any], taken: Iterable[str], ask: Any) -> list[Column]:
    """The inputs that the columns of a training table are, with different names. Columns of texts become as read."""
    used, out = set(taken), []
    for j, values in enumerate(columns):
        name = str(names[j]).strip() if names is not None else f"x{j + 1}"
        name = name if name.isprintable() and name else f"x{j + 1}"
        columns[j], kind, meaning = read(values, name, ask)
        while name in used:
            name += "_"
        used.add(name)
        if kind == "ordered":
            meaning = {"ordered": [text_of(v).decode() for v in values.dtype.categories]}
        elif kind == "date" and not meaning:
            hour, zone = ["hour"] * (len({t[11:] for t in values_of(values, kind, True) if t}) > 1), aware(values)
            meaning = {"date": {"form": "ymd", "parts": ["days", "month", "weekday", *hour]}}
            meaning["date"].update({"zone": zone} if zone else {})
        out.append(Column(name, kind, meaning))
    return out


def values_of(values: Any, kind: str, local: bool = False) -> Values:
    """The values of a column of this kind, zoned dates in UTC unless local. Others are texts, which are reported."""
    try:
        if kind == "number":
            out = numbers(np.asarray(values) if hasattr(values, "cat") else values)
            if np.isinf(out).any():
                raise ValueError("Input X contains infinity or a value too large for dtype('float64').")
            return out
        if kind == "date":
            zone, utc = not local and aware(values), datetime.timezone.utc
            if getattr(values.dtype, "tz", None) is not None:
                values = (values if local else values.dt.tz_convert("UTC")).dt.tz_localize(None)
            elif values.dtype.kind in "OU":
                values = [None if v is None or v != v else v if getattr(v, "tzinfo", None) is None else
                          (v if local else v.astimezone(utc)).replace(tzinfo=None) for v in values]
                if any(isinstance(v, str) and not DATE.fullmatch(v) for v in values):  # the program reads them
                    return [b"" if v is None else str(v).strip().encode() for v in values]
            moments = np.asarray(values, dtype="datetime64[us]")
            whole = moments.astype("datetime64[s]")
            texts = np.datetime_as_string(whole if (whole == moments)[~np.isnat(moments)].all() else moments)
            return [b"" if t == "NaT" else t.replace("T", " ").encode() + b"Z" * bool(zone) for t in texts.tolist()]
    except (TypeError, ValueError) as wrong:
        if "infinity" in str(wrong) or "Complex" in str(wrong) or "argument must be" in str(wrong):
            raise
    na = getattr(sys.modules.get("pandas"), "NA", None)
    values = [None if value is na else value for value in np.asarray(values, dtype=object).tolist()]
    return [b"" if kind == "number" and not str(value).strip() else text_of(value) for value in values]


def packed(names: Sequence[str], columns: Sequence[Values], n: int) -> tuple[bytes, dict[str, Any]]:
    """A table of n rows as the program takes it: the bytes of its columns, and fields that describe it."""
    bodies = [c.tobytes() if isinstance(c, np.ndarray) else b"".join([struct.pack("<I", len(t)) + t for t in c])
              for c in columns]
    return b"".join(bodies), {"columns": list(names), "sizes": [*map(len, bodies)], "rows": n, "texts": [
        not isinstance(c, np.ndarray) for c in columns]}
