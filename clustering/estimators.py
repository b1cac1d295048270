"""A scikit-learn estimator: k-means of weighted cells, which chooses the number of classes."""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data
from threadpoolctl import threadpool_limits

Floats = NDArray[np.float64]

CANDIDATES = tuple(range(2, 13))
CRITERION = "mean simplified silhouette of the requests, the highest; of equal ones the fewest classes"


class CellKMeans(ClusterMixin, BaseEstimator):
    """k-means of cells weighted by their numbers of requests; a criterion chooses the number of classes.

    The criterion is the *simplified silhouette*: the mean of 1 - a/b over all requests, where a is the
    distance of a request from its own centre, and b its distance from the next. It needs no distances between
    requests, is always between 0 and 1, and falls if a class is split into two that are close to each other.
    The same cells and `random_state` give the same result, to the last bit, on any number of processors.

    Parameters
    ----------
    n_clusters : the number of classes, or None for the candidate with the best criterion.
    resolution : the root-mean-square distance of requests from the centre of their cell. For the criterion,
        no request is nearer to a centre than this; otherwise one class per cell would be best.
    candidates : numbers of classes to try if `n_clusters` is None; the lowest of equally good ones is chosen.
    init, n_init, max_iter, tol, random_state : as in scikit-learn's KMeans.

    Attributes
    ----------
    cluster_centers_ : one row per class, sorted by the first feature, then by the next.
    labels_ : the class of each cell.
    criterion_values_ : the criterion by number of classes; None if there are fewer different cells than that.
    n_clusters_, inertia_, n_iter_, n_features_in_ : for the chosen classes. The inertia is over the cells.
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        resolution: float = 0.0,
        candidates: Iterable[int] = CANDIDATES,
        init: str | ArrayLike = "k-means++",
        n_init: int = 10,
        max_iter: int = 1000,
        tol: float = 0.0,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.resolution = resolution
        self.candidates = candidates
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    # The names `X` and `y` follow scikit-learn's contract, here and in `predict`; `y` is ignored.
    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:  # noqa: ARG002, N803
        """Find the classes of the cells `X` (one row each), which contain `sample_weight` requests.

        There is a single class if there are fewer than two different cells.
        """
        cells: Floats = validate_data(self, X, dtype=np.float64)
        weights: Floats = _check_sample_weight(sample_weight, cells, dtype=np.float64)
        if self.n_clusters is not None:
            best = self._fit_once(cells, weights, self.n_clusters)
            values: dict[int, float | None] = {}
            if self.n_clusters > 1:
                values[self.n_clusters] = self._judge(cells, weights, best)
        else:
            best, values = self._fit_candidates(cells, weights)
        centers: Floats = best.cluster_centers_
        order = np.lexsort(centers.T[::-1])
        self.cluster_centers_ = centers[order]
        self.labels_ = np.argsort(order)[best.labels_].astype(np.int32)
        self.criterion_values_ = values
        self.n_clusters_ = len(centers)
        self.inertia_ = float(best.inertia_)
        self.n_iter_ = int(best.n_iter_)
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.int32]:  # noqa: N803
        """Return the class with the nearest centre for each row of `X`; on a tie, the first."""
        check_is_fitted(self)
        rows: Floats = validate_data(self, X, dtype=np.float64, reset=False)
        squares = np.zeros((len(rows), self.n_clusters_))
        for feature in range(rows.shape[1]):
            squares += (rows[:, feature, None] - self.cluster_centers_[:, feature]) ** 2
        labels: NDArray[np.int32] = squares.argmin(axis=1).astype(np.int32)
        return labels

    def _fit_once(self, cells: Floats, weights: Floats, n_clusters: int) -> Any:
        is_started = not isinstance(self.init, str)
        # Several threads would add up their parts in the order in which they end. This would change the last
        # digits.
        with threadpool_limits(1):
            return KMeans(
                n_clusters,
                init=self.init,
                n_init=1 if is_started else self.n_init,
                max_iter=self.max_iter,
                tol=self.tol,
                random_state=self.random_state,
            ).fit(cells, sample_weight=weights)

    def _judge(self, cells: Floats, weights: Floats, fitted: Any) -> float:
        return measure_silhouette(cells, weights, fitted.cluster_centers_, self.resolution)

    def _fit_candidates(self, cells: Floats, weights: Floats) -> tuple[Any, dict[int, float | None]]:
        different = len(np.unique(cells[weights > 0], axis=0))
        best, best_value = None, -np.inf
        values: dict[int, float | None] = {}
        for n_clusters in sorted(self.candidates):
            values[n_clusters] = None
            if n_clusters > different:
                continue
            fitted = self._fit_once(cells, weights, n_clusters)
            value = self._judge(cells, weights, fitted)
            values[n_clusters] = value
            if value > best_value:
                best, best_value = fitted, value
        return best or self._fit_once(cells, weights, 1), values


def measure_silhouette(cells: Floats, weights: Floats, centers: Floats, resolution: float = 0.0) -> float:
    """Return the mean simplified silhouette of weighted `cells`, between 0 and 1, for at least two `centers`.

    `resolution` is the root-mean-square distance of requests from the centre of their cell.
    """
    squares = ((cells[:, None, :] - centers[None, :, :]) ** 2).sum(axis=2)
    nearest = np.sqrt(np.partition(squares, 1, axis=1)[:, :2] + resolution**2)
    own, next_one = nearest[:, 0], nearest[:, 1]
    silhouettes = np.where(next_one > 0, 1 - own / np.where(next_one > 0, next_one, 1), 0)
    return float(np.average(silhouettes, weights=weights))
