from datetime import date

import pytest

from dpassay.arguments import UsageError
from dpassay.properties.experiments.gaussian_selection.bike_data import REGISTERED_BOUND, registered_rides


def test_the_series_is_the_one_of_the_paper() -> None:
    rides = registered_rides()
    assert len(rides.days) == len(rides.answers) == 731
    assert rides.answers.max() == 1
    assert rides.answers.min() > 0
    assert rides.days[int(rides.answers.argmax())] == date(2012, 9, 26)
    assert rides.answers[0] * REGISTERED_BOUND == pytest.approx(654, abs=1e-9)
    assert rides.sensitivity == 1 / 6946


def test_days_are_consecutive() -> None:
    days = registered_rides().days
    assert [(day - days[0]).days for day in days] == list(range(731))


def test_a_window_keeps_dates_and_counts_together() -> None:
    rides = registered_rides()
    window = rides.window(date(2012, 9, 26), 3)
    assert window.days[0] == date(2012, 9, 26)
    assert window.answers[0] == 1
    assert len(window.answers) == 3


@pytest.mark.parametrize(
    ("first", "length"), [(date(2010, 12, 31), 5), (date(2012, 12, 31), 2), (date(2011, 1, 1), 0)]
)
def test_a_window_outside_the_series_is_refused(first: date, length: int) -> None:
    with pytest.raises(UsageError, match="does not lie in 2011-01-01 to 2012-12-31"):
        registered_rides().window(first, length)
