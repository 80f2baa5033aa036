"""The program: where it is, one process of it, and the errors that it reports."""

import contextlib
import functools
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import warnings
import weakref
from typing import Any, Callable, Iterator, Optional

import numpy as np

_processes: "weakref.WeakSet[Process]" = weakref.WeakSet()
_resident: "Callable[[], Optional[Process]]" = lambda: None
_choosing = threading.RLock()
_warned: set[str] = set()
# Exit codes: mistakes on the command line, in files and data, and in the folder; and a run of which some jobs failed.
INVALID, FAILURES = (2, 3, 6), 4

# A clause that names a flag or a command of the program ends at a semicolon, and so do a line and an element of a page.
_PART = r"(?:&#?\w+;|[^;<>\n.]|\.(?! ))*"
_FLAG = r"(?: --[a-z]|\bgpc-tune (?:ask|card|compare|export|fit|init|list|predict|report|run|search|show|tell)\b)"
_SHELL = [(re.compile(pattern, re.M), by) for pattern, by in (
    (r"^\S+ \((?:a flag|a column|a field of manifest|.*: program\)|gpc-tune list (?:figures|formats))(?s:.*?)"
     r"(?=^\S+ \(|\Z)", ""), (r"^invalid data: (--given:1:\d+: )?|^--(?=[a-z-]+:? )|^train[,:] |(?<=\()train, ", ""),
    (r"\b(?:train\.parquet:(?:row \d+:)?|cases\.parquet:) ?", "X: "), ("in the training file", "in fit"),
    (r"gpc-tune (?:list|explain) (?!shows)(\w+)", r'gpc_tune.explain("\1")'), ("best on train:", "best:"),
    (r"choose another folder with -o", "give another folder"), (r"name it under drop or id", "leave the column out"),
    (r"\bdataset train, |; name the column that holds the label", ""), (r"in a file:$", "in a study:"),
    (r"\(a key of the file: ", "(a key of a study: "), (r" program: \{command: .*?\], hyperparameters: (.*)\}", r" \1"),
    (r"^\| Numbers +\| p(?s:.*)", "Labels are classes here, no numbers."), (r"\(dropped\)", "(as study_ says)"),
    ("importance needs 3 cases with a label, and 0 have one", "importances need y, the labels"),
    (rf"<div><dt>[^<]*</dt><dd><code>gpc-tune [^<]*</code></dd></div>|(?<=\S) \([^()\n]*{_FLAG}[^()\n]*\)", ""),
    (rf"^{_PART}?{_FLAG}{_PART}\.?(?:\n|; |\Z)|(?:(?<=>)|;|(?<=\.)(?= )){_PART}?{_FLAG}{_PART}\.?", ""))]


def in_python(text: str) -> str:
    """A text or a page of the program without the clauses that name its flags and commands."""
    for pattern, by in _SHELL:
        text = pattern.sub(by, text)
    return text


class GpcTuneError(RuntimeError):
    """What the program reported. ``code`` is its exit code, or None if it was killed."""
    def __init__(self, text: str, code: Optional[int] = None):
        super().__init__(text)
        self.code = code


class InvalidError(GpcTuneError, ValueError):
    """A mistake in data, parameters or a study; the text says where, and what to do."""


class Wait(GpcTuneError):
    """There is no point to ask for before the value of another one is told."""


class GpcTuneWarning(UserWarning):
    """A warning of the program about the data or a fit."""


def program() -> str:
    """The path of the program: of the variable GPC_TUNE_PROGRAM, in the wheel, or on the PATH."""
    name = "gpc-tune.exe" if os.name == "nt" else "gpc-tune"
    inside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", name)
    found = os.environ.get("GPC_TUNE_PROGRAM") or (inside if os.path.exists(inside) else shutil.which(name))
    if not shutil.which(found or ""):
        raise GpcTuneError(f"the variable GPC_TUNE_PROGRAM names {found}, which is no program" if found else
                           "gpc-tune is not there: install its wheel, or name the program in GPC_TUNE_PROGRAM")
    return found  # type: ignore[return-value]


def warn(text: str) -> None:
    """Gives a warning of the program at the line that called this package, by default once whatever its numbers are."""
    text = in_python(text)
    kind = re.sub(r"(?<![\w-])[-+]?\d[\d.e+-]*", "", text)
    how = [*(of[0] for of in warnings.filters if of[1] is None and issubclass(GpcTuneWarning, of[2])), "default"]
    if how[0] == "default" and kind in _warned or text.startswith("values of ") and " stands in for each" in text:
        return
    _warned.add(kind)
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").startswith("gpc_tune."):
        frame, level = frame.f_back, level + 1
    warnings.warn(text, GpcTuneWarning, stacklevel=level)


class Process:
    """One process of ``gpc-tune pipe``, which ends with this object, in a session of its own, so that Ctrl-C reaches
    only Python. It removes the folder of its files when its standard input ends; here it is removed after a kill."""
    def __init__(self) -> None:
        self.lock, self.busy = threading.RLock(), False  # busy: a command runs, which may take long
        self.models = 0  # the number of owners, such as models that predict with it
        self.texts: dict[str, tuple[str, list[str]]] = {}  # what users call the YAML files written for it; their lines
        self._child = subprocess.Popen([program(), "pipe"], bufsize=0, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, start_new_session=os.name != "nt",
                                       creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0))
        self._folder: list[str] = []
        self.close = weakref.finalize(self, _end, self._child, self._folder)
        _processes.add(self)
        self._from = open(self._child.stdout.fileno(), "rb", buffering=1 << 16, closefd=False)  # type: ignore
        self._folder.append(self._answer()["text"])

    @property
    def alive(self) -> bool:
        return self.close.alive and self._child.poll() is None

    def ask(self, do: str, body: bytes = b"", said: Callable[[str], None] = lambda message: None,
            **fields: Any) -> tuple[dict[str, Any], bytes]:
        """Sends a request, and returns its response with the bytes that follow it; said gets messages of a command.
        An exception, such as the KeyboardInterrupt of Ctrl-C, ends the process: a response would be left."""
        with self.lock:
            try:
                rest = memoryview(json.dumps({"do": do, "bytes": len(body), **fields}).encode() + b"\n" + body)
                while rest:
                    rest = rest[self._child.stdin.write(rest):]  # type: ignore[union-attr]
                while True:
                    response = self._answer()
                    out = self._from.read(response.get("bytes", 0))
                    if len(out) < response.get("bytes", 0):
                        raise self._ended(b"")
                    if not ("text" in response and len(response) == 1 and do == "run"):
                        break
                    said(response["text"])
            except (BrokenPipeError, ConnectionError):
                raise self._ended(b"") from None
            except BaseException:
                self._child.kill()
                self.close()
                raise
        if "error" in response:
            raise error(response["error"], response.get("code"))
        return response, out

    def _answer(self) -> dict[str, Any]:
        line = self._from.readline()
        try:
            return json.loads(line)
        except ValueError:  # the process has crashed, and this is its last message
            raise self._ended(line) from None

    def _ended(self, line: bytes) -> GpcTuneError:
        self._child.stdin.close()  # type: ignore[union-attr]
        text = (line + self._from.read()).decode(errors="replace").strip()
        self.close()
        code = self._child.returncode
        return GpcTuneError(text or f"the program was ended ({code})", code if code and code > 0 else None)

    def command(self, *args: str, verbose: bool = False, warned: bool = True, partly: bool = False) -> str:
        """Runs a command in the folder of the process, and returns its standard output. Progress goes to standard error
        if verbose; with warned, warnings become Python warnings, and with partly also failures of some jobs."""
        text: list[str] = []

        def said(message: str) -> None:
            text.append(message)
            for line in message.splitlines() if verbose else ():
                if not line.startswith(("warning: ", "gpc-tune: ", "results: ", "predicts ")):
                    print(line.replace("model: model.json, ", ""), file=sys.stderr, flush=True)

        self.busy = True
        try:
            response, out = self.ask("run", args=args, said=said)
        finally:
            self.busy = False
        before, mistake, message = "".join(text).rpartition("gpc-tune: ")
        found = [line for line in (before if mistake else message).splitlines() if line.startswith("warning: ")]
        if partly and response["code"] == FAILURES and re.match(r"\d+ of \d+ jobs failed", message):
            found.append("warning: " + message.strip())
        elif response["code"] != 0:
            raise error("\n".join([self._quoted(message.strip()), *found]), response["code"])
        for line in found if warned else ():
            warn(line[len("warning: "):])
        return out.decode()

    def path(self, name: str) -> str:
        """The path of a file of the folder; a path stays as it is."""
        return os.path.join(self._folder[0], name)

    def study(self, name: str, text: str, shown: str = "") -> None:
        """Writes a YAML file, in the folder or at a path. Messages quote lines, and have positions if it has a name."""
        self.texts[name] = shown, text.splitlines()
        path = self.path(name)
        pathlib.Path(path + ".new").write_text(text, encoding="utf-8")
        os.replace(path + ".new", path)  # the file is whole, however this Python ends

    def _quoted(self, message: str) -> str:
        """A message with the line of each mistake that has a position in a YAML file."""
        def quoted(at: "re.Match[str]") -> str:
            shown, lines = self.texts.get(at[1], (at[1], []))
            line = [t.strip().rstrip(",") for t in lines[int(at[2]) - 1:int(at[2])] if not re.match(
                r'\W*(data|positive|order|categories|sets|kfold|inference)"?:', t)]  # which may be of this package
            return "\n    ".join([(f"{shown}:{at[2]}:{at[3]}: " if shown else "") + at[4], *line])
        return re.sub(r"(?m)^(.+?\.yaml):(\d+):(\d+): (.*)", quoted, message)


def error(text: str, code: Optional[int]) -> GpcTuneError:
    """The exception of a message of the program."""
    return (InvalidError if code in INVALID else GpcTuneError)(in_python(text).strip() or text, code)


def explain(name: str) -> str:
    """Says what a name means: a kernel, a method, a range, a key of a study or of answer_. Print it. Names of lists are
    "kernels", "means", "likelihoods", "priors", "inference", "pairs" (which inference supports which likelihood),
    "strategies", "ranges", "splitters" and "scores"."""
    with working() as process:
        try:
            text = process.command("list", name)
        except InvalidError:
            text = process.command("explain", name)
    return in_python(text).strip("\n") or text


def _end(child: subprocess.Popen, folder: list[str]) -> None:
    """Ends a process: it removes its folder once its standard input is closed."""
    child.stdin.close()  # type: ignore[union-attr]
    try:
        child.wait(5)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
    child.stdout.close()  # type: ignore[union-attr]
    for name in folder:  # it is there only if the process was killed
        shutil.rmtree(name, ignore_errors=True)


def _forked() -> None:
    global _resident, _choosing
    _resident, _choosing = (lambda: None), threading.RLock()
    while _processes:
        one = _processes.pop()  # it belongs to the parent
        one.close.detach(), one._child.stdin.close(), one._child.stdout.close()  # type: ignore[union-attr]
        one._child.returncode = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)


def resident(idle: bool = False) -> Process:
    """The process of this interpreter, or a new one if that runs a command or, with idle, anything."""
    global _resident
    with _choosing:
        process = _resident()
        if process is None or not process.alive or process.busy or idle and not process.lock.acquire(blocking=False):
            process = Process()
            _resident = weakref.ref(process)
        elif idle:
            process.lock.release()
        process.busy = process.busy or idle
        return process


@contextlib.contextmanager
def working() -> Iterator[Process]:
    """A process without other work, whose folder is empty before and after."""
    process = resident(idle=True)
    try:
        process.ask("clear")
        yield process
    finally:
        process.busy = False
        if not process.models:  # after an exception, whose traceback may keep the process alive
            process.close()
        elif process.alive:
            process.ask("clear")


def keep(owner: Any, process: Process) -> Process:
    """Keeps a process alive until the last of its owners is gone, whatever else refers to it, such as a traceback."""
    def leave() -> None:
        process.models -= 1
        if not process.models and not process.busy:
            process.close()

    process.models += 1
    weakref.finalize(owner, leave).atexit = False
    return process


class Model:
    """A model file, and the process that predicts with it. Pickles hold the file's bytes alone."""
    def __init__(self, file: bytes, process: Optional[Process] = None):
        self.file, self.name, self._warned = file, hashlib.sha256(file).hexdigest(), False
        self._process = keep(self, process) if process else None

    def __reduce__(self):
        return Model, (self.file,)

    def field(self, name: str) -> Any:
        """A field of the file, which has each on a line."""
        found = re.search(b'(?m)^"' + name.encode() + b'": (.*)$', self.file)
        return json.loads(found[1].rstrip(b",")) if found else None

    def arguments(self) -> dict[str, Any]:
        """The arguments of GaussianProcessClassifier that describe the model."""
        return {**{k: v for k, v in self.field("model").items() if k != "average" and v != "none"},
                "preprocess": self.field("preprocess")["how"]}

    @functools.cached_property
    def described(self) -> tuple[dict[str, float], list[str]]:
        """The hyperparameters in natural units by name, and the names of the prepared inputs."""
        response, out = self._working().ask("load", self.file, name=self.name)
        return dict(zip(response.get("columns", ()), np.frombuffer(out, "<f8").tolist())), response["classes"]

    def _working(self) -> Process:
        """The process that has predicted before, or another if that has ended or runs a command."""
        if self._process is None or not self._process.alive or self._process.busy:
            self._process = keep(self, resident())
        return self._process

    def predict(self, table: bytes, of: dict[str, Any]) -> tuple[list[str], list[str], np.ndarray]:
        """The names of the columns, the classes, and the numbers of predictions, (n, columns)."""
        process = self._working()
        with process.lock:
            try:
                response, out = process.ask("predict", table, name=self.name, **of)
            except InvalidError as wrong:
                if not str(wrong).startswith("no model "):
                    raise
                process.ask("load", self.file, name=self.name)
                response, out = process.ask("predict", table, name=self.name, **of)
        columns = response["columns"]
        rows = np.frombuffer(out, "<f8").reshape(-1, len(columns))
        for text in filter(None, response.get("text", "").split("\n")):
            far = re.search(r" far from all training cases.* \(cases: (\d+)\)", text)
            if not far or not self._warned and 10 * int(far[1]) >= len(rows):  # a few outliers are far in every fold
                self._warned |= bool(far)
                warn(text)
        return columns, response.get("classes", []), rows
