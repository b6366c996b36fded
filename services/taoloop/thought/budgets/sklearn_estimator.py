"""Estimates the length of replies by gradient-boosted trees, fitted anew from time to time on the replies of late."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from importlib import import_module
from types import TracebackType
from typing import Any, Final, Self

from taoloop.core.logs import EventLog
from taoloop.thought.budgets.estimating import RunningMean
from taoloop.thought.budgets.model import TokenFeatures

_KEPT: Final = 2000
"""How many replies it is fitted on: the latest."""
_FIRST_FIT: Final = 100
_FIT_EVERY: Final = 50

_log: Final = EventLog(__name__)


class BoostedEstimator:
    """A `TokenEstimator` of trees; until there are a hundred replies it is the running mean.

    It aims at the least absolute error, so that the rare reply that runs on to its longest length does not lift the
    estimates of all others. Fitting takes some 50 ms in a thread of its own; an estimate takes about one.

    Use it as a context manager, which owns the thread.

    Raises:
        ModuleNotFoundError: scikit-learn is not installed; the extra `estimator` brings it.
    """

    def __init__(self) -> None:
        import_module("sklearn.ensemble")  # seconds, which no thought is to wait for
        self._mean = RunningMean()
        self._rows: deque[tuple[Sequence[float], int]] = deque(maxlen=_KEPT)
        self._unfitted = 0
        self._trees: Any = None
        self._fitting: Future[Any] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="estimator")

    def __repr__(self) -> str:
        return f"<BoostedEstimator [{len(self._rows)} replies, {'fitted' if self._trees else 'not fitted yet'}]>"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)

    def estimate(self, features: TokenFeatures) -> int:
        """See `TokenEstimator.estimate`."""
        trees = self._trees
        if trees is None:
            return self._mean.estimate(features)
        return max(1, min(features.max_tokens, round(float(trees.predict([_row(features)])[0]))))

    def learn(self, features: TokenFeatures, tokens: int) -> None:
        """See `TokenEstimator.learn`."""
        self._mean.learn(features, tokens)
        self._rows.append((_row(features), tokens))
        self._unfitted += 1
        is_due = len(self._rows) >= _FIRST_FIT and (self._trees is None or self._unfitted >= _FIT_EVERY)
        if is_due and (self._fitting is None or self._fitting.done()):
            self._unfitted = 0
            self._fitting = self._thread.submit(_fitted, tuple(self._rows))
            self._fitting.add_done_callback(self._take)

    def settled(self) -> None:
        """Wait until what is being fitted is in use."""
        if self._fitting is not None and not self._fitting.cancelled():
            self._fitting.result()

    def _take(self, fitting: Future[Any]) -> None:
        if fitting.cancelled():
            return
        error = fitting.exception()
        if error is not None:
            _log.error("estimator_not_fitted", cause=type(error).__name__)
            return
        self._trees = fitting.result()


def _fitted(rows: Sequence[tuple[Sequence[float], int]]) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    trees = HistGradientBoostingRegressor(
        loss="absolute_error", max_iter=60, max_leaf_nodes=8, min_samples_leaf=10, early_stopping=False
    )
    return trees.fit([features for features, _ in rows], [tokens for _, tokens in rows])


def _row(features: TokenFeatures) -> Sequence[float]:
    return (
        features.prompt_tokens,
        features.history_turns,
        features.result_depth,
        features.longest_string,
        float(features.has_retrieval),
        features.temperature,
        features.tools,
        features.attempt,
    )
