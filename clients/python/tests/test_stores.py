"""What gpc-tune export writes is read by Optuna and by MLflow, where these are installed."""

import math

import pytest

import gpc_tune


def searched(folder):
    def f(point, trial):
        if point["layers"] == 3:
            raise OverflowError("too large")
        for step in (1, 2):
            trial.report(step, point["rate"] + 1 / step)
        return point["rate"]

    return gpc_tune.minimize(f, {"rate": {"log": {"from": 1e-3, "to": 1}}, "layers": (1, 4), "kind": ["a", "b"]}, trials=8,
                             method="sobol", folder=folder, catch=(OverflowError,))


def test_optuna(tmp_path):
    optuna = pytest.importorskip("optuna", reason="Optuna is not installed, so it does not read its journal here")
    search = searched(tmp_path / "of")
    search._process.command("export", search._run, "--what", "optuna", "-o", str(tmp_path / "journal.log"))
    storage = optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(str(tmp_path / "journal.log")))
    study = optuna.load_study(study_name="search", storage=storage)
    point, value = search.best_
    assert study.best_value == value and study.best_params == pytest.approx(point)
    assert len(study.trials) == 8 and {t.state.name for t in study.trials} == {"COMPLETE", "FAIL"}
    for mine, theirs in zip(search.trials_, study.trials):
        if math.isfinite(mine["value"]):
            assert theirs.params == pytest.approx(mine["point"]) and sorted(theirs.intermediate_values) == [1, 2]


def test_mlflow(tmp_path):
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed, so it does not read its file store here")
    search = searched(tmp_path / "of")
    search._process.command("export", search._run, "--what", "mlflow", "-o", str(tmp_path / "mlruns"))
    client = mlflow.tracking.MlflowClient(tracking_uri=(tmp_path / "mlruns").as_uri())
    experiment = client.get_experiment_by_name("search")
    runs = client.search_runs([experiment.experiment_id])
    assert len(runs) == 8
    best = min((run for run in runs if "value" in run.data.metrics), key=lambda run: run.data.metrics["value"])
    point, value = search.best_
    assert best.data.metrics["value"] == value and float(best.data.params["rate"]) == point["rate"]
    assert best.data.params["kind"] == point["kind"]
    assert [m.step for m in client.get_metric_history(best.info.run_id, "value on the way")] == [1, 2]
