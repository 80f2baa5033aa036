"""Texts of numbers and dates, words for missing values, and time zones."""

import datetime
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

from gpc_tune import GaussianProcessClassifier, GpcTuneWarning, TunedClassifier, load

R = np.random.default_rng(7)
U = R.normal(size=80)
Y = np.where(U + R.normal(size=80) / 3 > 0, "a", "b")
DAYS = pd.Series(pd.Timestamp("2024-01-20 00:30") + pd.to_timedelta(29 * np.argsort(R.random(80)), "h"))
MAKES = [lambda: GaussianProcessClassifier(inference="laplace", tune="none"),
         lambda: TunedClassifier({"inference": "laplace", "tune": "none"}, verbose=False)]


def input_of(model):
    return model._model.field("columns")["inputs"][0]


@pytest.mark.parametrize("make", [*MAKES, lambda: TunedClassifier(time=1, verbose=False)])
@pytest.mark.parametrize("word", ["missing", "N/A", "", "NA", "unknown"])
@pytest.mark.parametrize("number", [float, str])
def test_a_word_for_missing_among_numbers_is_a_missing_value(make, word, number):
    """As in a CSV file; the other texts are numbers, and so they are in predict."""
    table = pd.DataFrame({"u": pd.Series([number(v) for v in U], dtype=object), "v": np.arange(80) % 7})
    table.loc[5, "u"] = word
    numbers = table.assign(u=np.where(np.arange(80) == 5, np.nan, U))
    with warnings.catch_warnings():
        warnings.simplefilter("error", GpcTuneWarning)
        model = make().fit(table, Y)
    assert not {"levels", "order"} & set(input_of(model))
    assert (model.predict_proba(numbers) == make().fit(numbers, Y).predict_proba(numbers)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore" if word not in ("",) else "error", GpcTuneWarning)
        assert (model.predict_proba(table) == model.predict_proba(numbers)).all()


@pytest.mark.parametrize("make", MAKES)
def test_another_word_among_numbers_is_a_warning(make):
    for values, what, of in ((U, "numbers", "numeric"), (DAYS.dt.strftime("%d.%m.%Y"), "dates", "datetime")):
        table = pd.DataFrame({"u": pd.Series([*map(str, values)], dtype=object), "v": 1.0})
        table.loc[5, "u"] = "Xq"
        with pytest.warns(GpcTuneWarning, match=f"^79 of 80 values of \"u\" are {what}, and 'Xq' is not: .*to_{of}") as caught:
            model = make().fit(table, Y)
        assert "levels" in input_of(model) and caught[0].filename == __file__
    names = pd.DataFrame({"u": [str(k % 3) for k in range(80)], "v": ["a 1", "b"] * 40})
    with warnings.catch_warnings():
        warnings.simplefilter("error", GpcTuneWarning)
        assert input_of(make().fit(names, Y))["levels"] == ["0", "1", "2"]  # without a stray text they are names


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("form", ["%d/%m/%Y", "%d.%m.%Y %H:%M", "%Y/%m/%d", "%b %d, %Y", "%Y-%m-%dT%H:%M:%SZ"])
def test_texts_of_dates_are_dates_in_all_notations(make, form, tmp_path):
    table = pd.DataFrame({"u": DAYS.dt.strftime(form), "v": U})
    dates = table.assign(u=DAYS if "%H" in form else DAYS.dt.normalize())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model, other = make().fit(table, Y), make().fit(dates, Y)
        want = other.predict_proba(dates)
        assert np.allclose(model.predict_proba(table), want, rtol=0, atol=1e-12)  # sums over cases in another order
        model.save(tmp_path / "m.json")
        assert (load(tmp_path / "m.json").predict_proba(table) == model.predict_proba(table)).all()
        if "Z" not in form:
            assert np.allclose(model.predict_proba(dates), want, rtol=0, atol=1e-12)
    table.loc[3, "u"] = "unknown"
    assert "date" in input_of(make().fit(table, Y))


def test_a_doubtful_form_of_dates_is_a_warning():
    table = pd.DataFrame({"u": [f"0{1 + k % 9}/0{1 + k % 7}/2024" for k in range(80)], "v": U})
    with pytest.warns(GpcTuneWarning, match='^is the day first in the dates of "u"\\? They are read in the form mdy, and dmy'):
        GaussianProcessClassifier(inference="laplace", tune="none").fit(table, Y)


@pytest.mark.parametrize("kind", ["dtype", "objects"])
@pytest.mark.parametrize("zone", ["Europe/Berlin", "UTC", "+02:00"])
@pytest.mark.parametrize("make", MAKES)
def test_the_same_instant_has_the_same_probability(make, zone, kind, tmp_path):
    """In whatever zone it is given; the parts of a date are on the clock of the zone of fit."""
    of = (lambda dates: dates) if kind == "dtype" else lambda dates: pd.Series(dates.dt.to_pydatetime(), dtype=object)
    tz = datetime.timezone(datetime.timedelta(hours=2)) if zone[0] == "+" else zone
    local = DAYS.dt.tz_localize(tz)
    table, naive = (pd.DataFrame({"u": of(d), "v": U}) for d in (local, DAYS))
    model = make().fit(table, Y)
    assert input_of(model)["date"] == {"form": "ymd", "parts": ["days", "month", "weekday", "hour"], "zone": zone.replace("UTC", "utc")}
    want = model.predict_proba(table)
    assert (want == make().fit(naive, Y).predict_proba(naive)).all()
    model.save(tmp_path / "m.json")
    for other in (model, load(tmp_path / "m.json"), pickle.loads(pickle.dumps(model))):
        for away in ("America/New_York", "UTC"):
            assert (other.predict_proba(table.assign(u=of(local.dt.tz_convert(away)))) == want).all()
        with pytest.raises(ValueError, match="the dates of 'u' have no time zone, and in fit they had " + zone.replace("UTC", "utc").replace("+", "\\+")):
            other.predict(naive)
    with pytest.raises(ValueError, match="the dates of 'u' have .*, and in fit they had none"):
        make().fit(naive, Y).predict(table)


def test_midnights_of_a_zone_have_no_hour():
    table = pd.DataFrame({"u": DAYS.dt.normalize().dt.tz_localize("Europe/Berlin"), "v": U})
    assert input_of(MAKES[0]().fit(table, Y))["date"]["parts"] == ["days", "month", "weekday"]
