"""Tables as the program reads them: NumPy arrays and pandas frames, without rounding, as Parquet."""

import contextlib
import functools
import re
import struct
import sys
from typing import Any, Iterable, NamedTuple, Optional, Sequence, Union

import numpy as np

ID = re.compile(r"(?i)^(id|uuid|key|index|row|unnamed: 0)$|[_ .-](id|nr|no|key)$|(?-i:[a-z](Id|ID|Nr|No)$)")
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


def kind_of(values: Any, name: str = "") -> str:
    """The kind of a column with these values."""
    dtype = values.dtype
    if hasattr(dtype, "categories"):
        return "ordered" if dtype.ordered else "category"
    if dtype.kind == "M":
        return "date"
    if dtype.kind != "O":
        return "text" if dtype.kind in "US" else "number"
    kinds = set()
    for value in values:
        if value is None or value is getattr(sys.modules.get("pandas"), "NA", None) or isinstance(value, float):
            continue
        number = isinstance(value, (bool, int, np.number, np.bool_)) or hasattr(value, "__float__")
        if not (number or isinstance(value, str) or hasattr(value, "isoformat")):
            raise TypeError(f"the values of input {name} must be numbers, texts or dates: argument must be a string or "
                            f"a number, not {type(value).__name__!r}")
        kinds.add("text" if isinstance(value, str) else "number" if number else "date")
    if kinds == {"text"} and all(DATE.fullmatch(value) for value in values if isinstance(value, str)):
        return "date"
    return "text" if "text" in kinds or len(kinds) > 1 else (kinds or {"number"}).pop()


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


def learn(names: Optional[list[Any]], columns: Sequence[Any], taken: Iterable[str]) -> list[Column]:
    """The inputs that the columns of a training table are, with names that differ from each other."""
    used, out = set(taken), []
    for j, values in enumerate(columns):
        name = str(names[j]).strip() if names is not None else f"x{j + 1}"
        name = name if name.isprintable() and name else f"x{j + 1}"
        kind, meaning = kind_of(values, name), None
        while name in used:
            name += "_"
        used.add(name)
        if kind == "ordered":
            meaning = {"ordered": [text_of(v).decode() for v in values.dtype.categories]}
        elif kind == "date":
            hour = ["hour"] * (len({t.split(b" ")[1] for t in values_of(values, kind) if t}) > 1)
            meaning = {"date": {"form": "ymd", "parts": ["days", "month", "weekday", *hour]}}
        out.append(Column(name, kind, meaning))
    return out


def identifies(column: Column, values: Values) -> bool:
    """Whether a column has the name of an identifier, and another whole number or text in every row."""
    whole = column.kind == "text" or column.kind == "number" and not (values % 1).any()  # type: ignore[operator]
    return bool(whole and ID.search(column.name)) and len({*values}) == len(values) > 2


def values_of(values: Any, kind: str) -> Values:
    """The values of a column of this kind. What cannot have the kind is text, which the program reports."""
    try:
        if kind == "number":
            out = numbers(np.asarray(values) if hasattr(values, "cat") else values)
            if np.isinf(out).any():
                raise ValueError("Input X contains infinity or a value too large for dtype('float64').")
            return out
        if kind == "date":
            if getattr(values.dtype, "tz", None) is not None:  # dates and times are those of their own clocks
                values = values.dt.tz_localize(None)
            elif values.dtype.kind == "O":
                values = [None if v is None or v != v else v for v in values]
            moments = np.asarray(values, dtype="datetime64[us]")
            whole = moments.astype("datetime64[s]")
            texts = np.datetime_as_string(whole if (whole == moments)[~np.isnat(moments)].all() else moments)
            return [b"" if t == "NaT" else t.replace("T", " ").encode() for t in texts.tolist()]
    except (TypeError, ValueError) as wrong:
        if "infinity" in str(wrong) or "Complex" in str(wrong) or "argument must be" in str(wrong):
            raise
    na = getattr(sys.modules.get("pandas"), "NA", None)
    return [text_of(None if value is na else value) for value in np.asarray(values, dtype=object).tolist()]


def parquet(names: Sequence[str], columns: Sequence[Values], n: int) -> bytes:
    """A Parquet file of n rows, in one row group of plain pages: https://parquet.apache.org/docs/file-format."""
    bodies = [c.tobytes() if isinstance(c, np.ndarray) else b"".join([struct.pack("<I", len(t)) + t for t in c])
              for c in columns]
    heads, footer = _descriptions(tuple(names), tuple(isinstance(c, np.ndarray) for c in columns),
                                  tuple(map(len, bodies)), n)
    return b"".join([b"PAR1", *sum(zip(heads, bodies), ()), footer])


@functools.lru_cache(16)
def _descriptions(names: tuple[str, ...], numeric: tuple[bool, ...], sizes: tuple[int, ...],
                  n: int) -> tuple[list[bytes], bytes]:
    heads, schema, chunks, at = [], [_struct({4: "schema", 5: len(names)})], [], 4
    for name, is_number, size in zip(names, numeric, sizes):
        kind = 5 if is_number else 6  # DOUBLE, BYTE_ARRAY
        page = _struct({1: 0, 2: size, 3: size, 5: {1: n, 2: 0, 3: 3, 4: 3}})
        schema.append(_struct({1: kind, 3: 0, 4: name, **({} if is_number else {6: 0})}))
        chunks.append(_struct({2: np.int64(at), 3: {1: kind, 2: [0], 3: [name], 4: 0, 5: np.int64(n),
                                                 6: np.int64(len(page) + size), 7: np.int64(len(page) + size),
                                                 9: np.int64(at)}}))
        heads.append(page)
        at += len(page) + size
    footer = _struct({1: 1, 2: schema, 3: np.int64(n), 4: [_struct({1: chunks, 2: np.int64(at - 4), 3: np.int64(n)})]})
    return heads, footer + struct.pack("<I", len(footer)) + b"PAR1"


def _varint(v: int) -> bytes:
    return bytes([v & 127 | 128]) + _varint(v >> 7) if v > 127 else bytes([v])


def _value(v: Any) -> tuple[int, bytes]:
    """The type and the bytes of a value in the compact protocol of Thrift. Bytes are a structure."""
    if isinstance(v, (int, np.int64)):
        return 5 if isinstance(v, int) else 6, _varint(int(v) << 1)  # zigzag; none is negative
    if isinstance(v, str):
        return 8, _varint(len(text := v.encode())) + text
    if isinstance(v, list):
        items = [_value(i) for i in v]
        return 9, bytes([0xF0 | items[0][0]]) + _varint(len(v)) + b"".join(i for _, i in items)
    return 12, v if isinstance(v, bytes) else _struct(v)


def _struct(fields: dict[int, Any]) -> bytes:
    values = {number: _value(of) for number, of in fields.items()}
    return b"".join(bytes([kind, number << 1]) + text for number, (kind, text) in values.items()) + b"\0"
