"""What gpc-tune export writes is read by Optuna and by MLflow, where these are installed."""

import math

import pytest

import gpc_tune


def searched(folder, steps=(1, 2)):
    def f(point, trial):
        if point["layers"] == 3:
            raise OverflowError("too large")
        for step in steps:
            trial.report(step, point["rate"] + 1 / step)
        return point["rate"]

    space = {"rate": {"log": {"from": 1e-3, "to": 1}}, "layers": (1, 4), "kind": ["a", "b"]}
    return gpc_tune.minimize(f, space, trials=8, method="sobol", folder=folder, catch=(OverflowError,))


@pytest.fixture
def optuna():
    """Optuna keeps the frames that import it, in tracebacks of what it did not find, so no test imports it itself."""
    return pytest.importorskip("optuna", reason="Optuna is not installed, so it does not read its journal here")


@pytest.fixture
def mlflow():
    return pytest.importorskip("mlflow", reason="MLflow is not installed, so it does not read its file store here")


def test_optuna(tmp_path, optuna):
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


def of(values):
    """Values by key, of which MLflow before 1.0 has a list."""
    return values if isinstance(values, dict) else {v.key: v.value for v in values}


@pytest.mark.parametrize("steps", [(), (1, 2)])
def test_mlflow(tmp_path, mlflow, steps):
    if steps and int(mlflow.__version__.split(".")[0]) < 1:
        pytest.skip("MLflow before 1.0 has no steps")
    search = searched(tmp_path / "of", steps)
    search._process.command("export", search._run, "--what", "mlflow", "-o", str(tmp_path / "mlruns"))
    client = mlflow.tracking.MlflowClient(tracking_uri=(tmp_path / "mlruns").as_uri())
    experiment = client.get_experiment_by_name("search")
    runs = client.search_runs([experiment.experiment_id], "")
    assert len(runs) == 8
    best = min((run for run in runs if "value" in of(run.data.metrics)), key=lambda run: of(run.data.metrics)["value"])
    metrics, params = of(best.data.metrics), of(best.data.params)
    point, value = search.best_
    assert metrics["value"] == value and float(params["rate"]) == point["rate"] and params["kind"] == point["kind"]
    if steps:
        assert [m.step for m in client.get_metric_history(best.info.run_id, "value on the way")] == [1, 2]
