"""The estimator passes scikit-learn's checks, recovers known mixtures and scores shuffled data worse."""

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.utils.estimator_checks import parametrize_with_checks

from tapewise.clustering.estimators import CANDIDATES, CellKMeans, measure_silhouette

Floats = NDArray[np.float64]

CENTERS = np.array([[4.0, -0.5], [5.5, 1.0], [7.0, 0.0], [8.5, 2.0]])
SHARES = np.array([0.4, 0.3, 0.2, 0.1])


def draw_mixture(seed: int, count: int = 20_000, spread: float = 0.15) -> tuple[Floats, NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    labels = rng.choice(len(SHARES), count, p=SHARES)
    return CENTERS[labels] + rng.normal(0, spread, (count, 2)), labels


def bin_rows(rows: Floats) -> tuple[Floats, Floats]:
    """Return means and counts of buckets an eighth of an octave wide, as mart.workload_cells does."""
    buckets = np.floor(8 * rows / np.log10(2))
    _, inverse, counts = np.unique(buckets, axis=0, return_inverse=True, return_counts=True)
    means = np.column_stack([np.bincount(inverse, rows[:, feature]) / counts for feature in (0, 1)])
    return means, counts.astype(np.float64)


@pytest.mark.study("clustering")
@parametrize_with_checks([CellKMeans(random_state=0)])
def test_the_estimator_follows_scikit_learns_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("seed", range(5))
def test_a_known_mixture_is_recovered(seed):
    rows, labels = draw_mixture(seed)
    cells, counts = bin_rows(rows)
    found = CellKMeans(random_state=seed).fit(cells, sample_weight=counts)
    assert found.n_clusters_ == len(CENTERS)
    # The limit is five standard errors of the smallest class's mean.
    assert np.abs(found.cluster_centers_ - CENTERS).max() < 5 * 0.15 / np.sqrt(SHARES.min() * len(rows))
    # The limit is five standard errors of a share.
    shares = np.bincount(found.labels_, counts) / counts.sum()
    assert np.abs(shares - SHARES).max() < 5 * np.sqrt(0.25 / len(rows))
    # Nearly all requests get the class that they were drawn from.
    assert (found.predict(rows) == labels).mean() > 0.999


@pytest.mark.study("clustering")
@pytest.mark.parametrize("seed", range(5))
def test_shuffled_data_score_worse_than_real_data(seed):
    rows, _ = draw_mixture(seed)
    shuffled = np.column_stack([rows[:, 0], np.random.default_rng(seed).permutation(rows[:, 1])])
    real, worse = (
        CellKMeans(random_state=seed).fit(cells, sample_weight=counts)
        for cells, counts in map(bin_rows, (rows, shuffled))
    )
    assert max(worse.criterion_values_.values()) < max(real.criterion_values_.values()) - 0.05


@pytest.mark.study("clustering")
def test_cells_give_the_same_classes_as_plain_k_means_of_the_rows():
    rows, _ = draw_mixture(7, 50_000, spread=0.5)
    cells, counts = bin_rows(rows)
    start = rows[:5]
    plain = KMeans(5, init=start, n_init=1, tol=0, max_iter=10_000).fit(rows)
    ours = CellKMeans(5, init=start).fit(cells, sample_weight=counts)
    plain_centers = plain.cluster_centers_[np.lexsort(plain.cluster_centers_.T[::-1])]
    assert np.abs((ours.cluster_centers_ - plain_centers) / rows.std(axis=0)).max() < 0.01
    inertia = ((rows - ours.cluster_centers_[ours.predict(rows)]) ** 2).sum()
    assert inertia <= 1.005 * plain.inertia_


def test_a_cell_counts_as_often_as_it_has_requests():
    cells = np.array([[0.0, 0.0], [1.0, 0.0], [10.0, 0.0], [11.0, 0.0]])
    found = CellKMeans(2, random_state=0).fit(cells, sample_weight=[3, 1, 1, 1])
    assert found.cluster_centers_.tolist() == [[0.25, 0.0], [10.5, 0.0]]
    assert found.inertia_ == pytest.approx(3 * 0.25**2 + 0.75**2 + 2 * 0.5**2)
    # A request's term is its distance to its own centre divided by its distance to the other centre.
    expected = 1 - (3 * 0.25 / 10.5 + 0.75 / 9.5 + 0.5 / 9.75 + 0.5 / 10.75) / 6
    assert found.criterion_values_ == {2: pytest.approx(expected)}


def test_all_candidates_criterion_values_are_kept_and_the_best_is_chosen():
    cells, counts = bin_rows(draw_mixture(3)[0])
    found = CellKMeans(random_state=3).fit(cells, sample_weight=counts)
    values = found.criterion_values_
    assert tuple(values) == CANDIDATES == tuple(range(2, 13))
    assert found.n_clusters_ == max(values, key=values.get)
    assert values[4] == measure_silhouette(cells, counts, found.cluster_centers_)


def test_no_more_classes_are_tried_than_there_are_different_cells():
    found = CellKMeans(random_state=0).fit([[1.0, 1.0], [1.0, 1.0], [5.0, 5.0]])
    assert found.criterion_values_ == {2: 1.0} | dict.fromkeys(range(3, 13))
    alike = CellKMeans(random_state=0).fit([[1.0, 1.0], [1.0, 1.0]])
    assert (alike.n_clusters_, set(alike.criterion_values_.values())) == (1, {None})
    assert alike.cluster_centers_.tolist() == [[1.0, 1.0]]
    # A cell without requests does not count.
    weightless = CellKMeans(random_state=0).fit([[1.0, 1.0], [5.0, 5.0]], sample_weight=[1, 0])
    assert weightless.n_clusters_ == 1


def test_classes_are_in_the_order_of_their_centres():
    rows, _ = draw_mixture(2)
    found = CellKMeans(random_state=5).fit(rows[:2000])
    assert found.cluster_centers_.tolist() == sorted(found.cluster_centers_.tolist())
    assert (found.labels_ == found.predict(rows[:2000])).all()


@pytest.mark.study("clustering")
def test_the_same_seed_gives_the_same_bits():
    cells, counts = bin_rows(draw_mixture(1, spread=0.6)[0])
    first = CellKMeans(random_state=9).fit(cells, sample_weight=counts)
    again = clone(first).fit(cells, sample_weight=counts)
    assert (again.cluster_centers_ == first.cluster_centers_).all()
    assert again.criterion_values_ == first.criterion_values_


def test_a_resolution_keeps_single_cells_from_becoming_classes():
    # There are two kinds of requests, each in a few neighbouring cells.
    cells = np.array([[place + 0.04 * step, 0.0] for place in (0.0, 5.0) for step in range(6)])
    assert CellKMeans(random_state=0).fit(cells).n_clusters_ == 12
    found = CellKMeans(resolution=0.04, random_state=0).fit(cells)
    assert found.n_clusters_ == 2
    # The cells of each kind are 0.1, 0.06 and 0.02 from their centre; the other centre is 5 away.
    own = np.sqrt(np.array([0.1, 0.06, 0.02]) ** 2 + 0.04**2)
    assert found.criterion_values_[2] == pytest.approx(1 - own.mean() / 5, abs=1e-3)
