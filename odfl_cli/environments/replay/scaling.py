"""Features on the scale of the rounds before."""

import numpy as np

NOISE = 1e-14  # a variance below this share of the mean square is a rounding error


class PastScale:
    """Mean and variance of every feature over all items of the rounds so far.

    No round is scaled by itself or by later ones.
    """

    def __init__(self, features: int) -> None:
        self.count = 0
        self.origin = np.zeros(features)  # sums of differences from it lose fewer digits
        self.sums = np.zeros((2, features))  # of the differences, and of their squares

    def standardise(self, X: np.ndarray) -> np.ndarray:
        """(X_t − mean) / deviation of rounds before t; 0 while a feature has not varied yet.

        An item that is not offered, NaN in all features, does not count and stays NaN.
        """
        rounds, items, _ = X.shape
        absent = np.isnan(X)
        if not self.count:
            self.origin = X[0, (~absent[0, :, 0]).argmax()].copy()
        apart = np.where(absent, 0.0, X - self.origin)
        sums = np.zeros((2, rounds + 1, X.shape[-1]))
        sums[:, 0] = self.sums
        for item in range(items):
            sums[0, 1:] += apart[:, item]
            sums[1, 1:] += apart[:, item] ** 2
        np.cumsum(sums, axis=1, out=sums)
        self.sums = sums[:, -1].copy()
        counts = self.count + np.append(0, np.cumsum((~absent[..., 0]).sum(axis=1)))
        count = np.maximum(counts[:-1], 1)[:, None]
        self.count = int(counts[-1])
        mean, square = sums[:, :-1] / count
        variance = square - mean**2
        varied = variance > NOISE * square
        deviation = np.sqrt(np.where(varied, variance, 1.0))
        scaled = np.where(varied[:, None], (apart - mean[:, None]) / deviation[:, None], 0.0)
        return np.where(absent, np.nan, scaled)
