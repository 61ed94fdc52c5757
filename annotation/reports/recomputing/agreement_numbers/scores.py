"""Correlations, errors and intraclass correlations of scores."""

from __future__ import annotations

from math import atanh, sqrt, tanh

import numpy as np
from numpy.typing import NDArray

from .data import Floats, Ints
from .formulas import ratio
from .patterns import Blocks, blocks_of
from .quantiles import Z, f_quantile

FORMS = ("icc_1", "icc_c1", "icc_a1", "icc_1k", "icc_ck", "icc_ak")
_ROUNDING = 1e-12


def middle_of(table: Floats, numbers: Floats) -> float:
    """Return the mean of all scores in a table (q, q), from which sums of squares are taken."""
    given = table.sum(axis=0) + table.sum(axis=1)
    return float(given @ numbers) / max(1.0, float(given.sum()))


def of_tables(tables: Floats, numbers: Floats, *, middle: float) -> dict[str, Floats]:
    """Return the statistics of two raters' scores from their tables (B, q, q)."""
    rows, columns, n = tables.sum(axis=2), tables.sum(axis=1), tables.sum(axis=(1, 2))
    varies = ((rows > 0).sum(axis=1) > 1) & ((columns > 0).sum(axis=1) > 1)
    apart = numbers[:, None] - numbers[None, :]
    differs = (tables * (apart != 0)).sum(axis=(1, 2)) > 0
    size = np.where(n > 0, n, np.nan)
    first, second = (rows @ numbers) / size, (columns @ numbers) / size
    from_first = numbers[None, :] - first[:, None]
    from_second = numbers[None, :] - second[:, None]
    variances = (rows * from_first**2).sum(axis=1) / size, (columns * from_second**2).sum(axis=1) / size
    together = np.einsum("bkl,bk,bl->b", tables, from_first, from_second) / size
    order = np.argsort(numbers)
    sums_of_differences = (tables * apart).sum(axis=(1, 2)), (tables * apart**2).sum(axis=(1, 2))
    limits = _limits(n, *sums_of_differences)
    found = {
        "pearson": _where(varies, together / _root(variances[0] * variances[1])),
        "mae": (tables * np.abs(apart)).sum(axis=(1, 2)) / size,
        "rmse": np.sqrt(sums_of_differences[1] / size),
        "bias": sums_of_differences[0] / size,
        "limit_low": limits[0],
        "limit_high": limits[1],
        "ccc": _where(
            varies | differs | ((rows > 0).sum(axis=1) > 1),
            2
            * together
            / np.where((below := variances[0] + variances[1] + (first - second) ** 2) > 0, below, np.nan),
        ),
        "spearman": _where(varies, _spearman(tables[:, order][:, :, order])),
        "kendall_tau_b": _where(varies, _kendall(tables[:, order][:, :, order])),
    }
    centred = numbers - middle
    one, other = centred[:, None], centred[None, :]
    sums = np.stack(
        [
            n,
            rows @ centred,
            columns @ centred,
            (tables * (one + other) ** 2).sum(axis=(1, 2)),
            (tables * (one**2 + other**2)).sum(axis=(1, 2)),
        ],
        axis=1,
    )
    return found | intraclass(sums, raters=2)


def of_moments(sums: Floats) -> dict[str, Floats]:
    """Return what sums give (B, 14): n, x, y, x^2, y^2, xy, |d|, d, d^2, and those of `score_blocks`."""
    n = np.where(sums[:, 0] > 0, sums[:, 0], np.nan)
    means = sums[:, :9] / n[:, None]
    _, x, y, xx, yy, xy, absolute, difference, squared = means.T
    of_x = np.where(xx - x * x > _ROUNDING * xx, xx - x * x, 0.0)
    of_y = np.where(yy - y * y > _ROUNDING * yy, yy - y * y, 0.0)
    together = xy - x * y
    limits = _limits(sums[:, 0], sums[:, 7], sums[:, 8])
    return {
        "pearson": np.clip(together / _root(of_x * of_y), -1, 1),
        "mae": absolute,
        "rmse": np.sqrt(squared),
        "bias": difference,
        "limit_low": limits[0],
        "limit_high": limits[1],
        "ccc": ratio(2 * together, of_x + of_y + (x - y) ** 2),
    } | intraclass(sums[:, 9:], raters=2)


def moment_blocks(scores: Floats, cluster_of: Ints | None) -> Blocks:
    """Return the sums of two raters' scores (n, 2) by cluster, or by unit."""
    middle = scores.mean() if scores.size else 0.0
    x, y = (scores - middle).T
    d = x - y
    columns = [np.ones(len(x)), x, y, x * x, y * y, x * y, np.abs(d), d, d * d]
    columns += [np.ones(len(x)), x, y, (x + y) ** 2, x * x + y * y]
    sums = np.stack(columns, axis=1)
    if cluster_of is not None:
        sums = _by_cluster(sums, cluster_of)
    return blocks_of(sums[sums[:, 0] > 0])


def score_blocks(scores: Floats, cluster_of: Ints | None) -> Blocks:
    """Return the sums of the units that all raters scored (units, raters): n, columns, squared rows, squares."""
    whole = ~np.isnan(scores).any(axis=1)
    matrix = scores[whole]
    matrix = matrix - (matrix.mean() if matrix.size else 0.0)
    if cluster_of is None:
        rows, copies = np.unique(matrix, axis=0, return_counts=True)
        return blocks_of(_squares(rows), copies)
    sums = _by_cluster(_squares(matrix), cluster_of[whole])
    return blocks_of(sums[sums[:, 0] > 0])


def intraclass(sums: Floats, *, raters: int) -> dict[str, Floats]:
    """Return the six forms of sums (B, raters + 3) (McGraw and Wong 1996)."""
    rows, columns, error, within, n = _mean_squares(sums, raters)
    k = raters
    parts = {
        "icc_1": (rows - within, rows + (k - 1) * within),
        "icc_c1": (rows - error, rows + (k - 1) * error),
        "icc_a1": (rows - error, rows + (k - 1) * error + k * (columns - error) / n),
        "icc_1k": (rows - within, rows),
        "icc_ck": (rows - error, rows),
        "icc_ak": (rows - error, rows + (columns - error) / n),
    }
    found = {name: above / np.where(below == 0, np.nan, below) for name, (above, below) in parts.items()}
    # Its parts may cancel, and what rounding leaves of them is 0.
    is_rounding = np.abs(parts["icc_ak"][1]) <= _ROUNDING * (rows + columns / n + error / n)
    return found | {"icc_ak": np.where(is_rounding, np.nan, found["icc_ak"])}


def intraclass_ends(sums: Floats, *, raters: int) -> dict[str, tuple[float, float]]:
    """Return the F intervals of one sample's forms (raters + 3,), without those that have none."""
    rows, columns, error, within, n = (float(each[0]) for each in _mean_squares(sums[None, :], raters))
    k, found = raters, {}
    for base, noise, freedom in (("1", within, n * (k - 1)), ("c", error, (n - 1) * (k - 1))):
        if not (noise > 0 and rows > 0):
            continue
        low = rows / noise / f_quantile(0.975, n - 1, freedom)
        high = rows / noise * f_quantile(0.975, freedom, n - 1)
        single = "icc_1" if base == "1" else "icc_c1"
        found[single] = (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)
        found[f"icc_{base}k"] = 1 - 1 / low, 1 - 1 / high
    value = float(intraclass(sums[None, :], raters=k)["icc_a1"][0])
    if not (error > 0 and rows > 0 and value < 1):
        return found
    a = k * value / (n * (1 - value))
    b = 1 + k * value * (n - 1) / (n * (1 - value))
    below = (a * columns) ** 2 / (k - 1) + (b * error) ** 2 / ((n - 1) * (k - 1))
    freedom = (a * columns + b * error) ** 2 / below if below > 0 else 0.0
    if freedom > 0:
        wide, narrow = f_quantile(0.975, n - 1, freedom), f_quantile(0.975, freedom, n - 1)
        noise = k * columns + (k * n - k - n) * error
        ends = (
            n * (rows - wide * error) / (wide * noise + n * rows),
            n * (narrow * rows - error) / (noise + n * narrow * rows),
        )
        found["icc_a1"] = ends
        # Spearman and Brown's formula has no value for k raters beyond its pole.
        if 1 + (k - 1) * ends[0] > 0 and 1 + (k - 1) * ends[1] > 0:
            found["icc_ak"] = k * ends[0] / (1 + (k - 1) * ends[0]), k * ends[1] / (1 + (k - 1) * ends[1])
    return found


def fisher_ends(name: str, value: float, n: int) -> tuple[float, float] | None:
    """Return the interval of Fisher's z of a correlation, None where it has none."""
    fewest = {"pearson": 3, "spearman": 3, "kendall_tau_b": 4}.get(name)
    if fewest is None or n <= fewest or abs(value) > 1 - _ROUNDING:
        return None
    above = {"pearson": 1.0, "spearman": 1 + value**2 / 2, "kendall_tau_b": 0.437}[name]
    reach = Z * sqrt(above / (n - fewest))
    return tanh(atanh(value) - reach), tanh(atanh(value) + reach)


def rank_correlations(scores: Floats, drawn: Floats, cluster_of: Ints) -> dict[str, Floats]:
    """Return Spearman's rho and Kendall's tau-b of many levels: scores (n, 2), how often clusters occur (B, C)."""
    weights = drawn[:, cluster_of]
    n = weights.sum(axis=1)
    ranks, untied = [], []
    for column in scores.T:
        _, level_of = np.unique(column, return_inverse=True)
        counts = weights @ (level_of[:, None] == np.arange(level_of.max(initial=-1) + 1)).astype(np.float64)
        middle = (n[:, None] + 1) / 2
        ranks.append((np.cumsum(counts, axis=1) - (counts - 1) / 2 - middle)[:, level_of])
        untied.append(n * (n - 1) - (counts * (counts - 1)).sum(axis=1))
    x, y = ranks
    found = {
        "spearman": (weights * x * y).sum(axis=1)
        / _root((weights * x * x).sum(axis=1) * (weights * y * y).sum(axis=1))
    }
    lean = np.zeros(len(weights))
    step = max(1, 4_000_000 // max(1, len(scores)))
    for start in range(0, len(scores), step):
        part = scores[start : start + step, None]
        signs = np.sign(part[..., 0] - scores[:, 0]) * np.sign(part[..., 1] - scores[:, 1])
        lean += ((weights @ signs.T) * weights[:, start : start + step]).sum(axis=1)
    found["kendall_tau_b"] = lean / _root(untied[0] * untied[1])
    return found


def _limits(n: Floats, total: Floats, squares: Floats) -> tuple[Floats, Floats]:
    """The limits of agreement: where 95% of differences lie if they are normal (Bland and Altman 1986)."""
    size = np.where(n > 1, n, np.nan)
    spread = squares - total**2 / size
    reach = Z * np.sqrt(np.where(spread > _ROUNDING * squares, spread, 0.0) / (size - 1))
    return total / size - reach, total / size + reach


def _spearman(tables: Floats) -> Floats:
    rows, columns = tables.sum(axis=2), tables.sum(axis=1)
    middle = (rows.sum(axis=1, keepdims=True) + 1) / 2
    x = np.cumsum(rows, axis=1) - (rows - 1) / 2 - middle
    y = np.cumsum(columns, axis=1) - (columns - 1) / 2 - middle
    together = np.einsum("bkl,bk,bl->b", tables, x, y)
    return np.asarray(together / _root((rows * x * x).sum(axis=1) * (columns * y * y).sum(axis=1)))


def _kendall(tables: Floats) -> Floats:
    """Pairs in the same order minus pairs in opposite order, of pairs not tied (Kendall 1945)."""
    rows, columns, n = tables.sum(axis=2), tables.sum(axis=1), tables.sum(axis=(1, 2))
    below = np.zeros_like(tables)
    below[:, 1:] = np.cumsum(tables, axis=1)[:, :-1]
    to_left = np.zeros_like(tables)
    to_left[:, :, 1:] = np.cumsum(below, axis=2)[:, :, :-1]
    to_right = below.sum(axis=2, keepdims=True) - to_left - below
    lean = (tables * (to_left - to_right)).sum(axis=(1, 2))
    pairs = n * (n - 1)
    free = (pairs - (rows * (rows - 1)).sum(axis=1)) * (pairs - (columns * (columns - 1)).sum(axis=1))
    return np.asarray(2 * lean / _root(free))


def _mean_squares(sums: Floats, k: int) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Between rows, between columns, error, within rows, and the number of rows; nan below two of each."""
    n = np.where((sums[:, 0] >= 2) & (k >= 2), sums[:, 0], np.nan)
    columns, of_rows, squares = sums[:, 1 : k + 1], sums[:, k + 1] / k, sums[:, k + 2]
    middle = columns.sum(axis=1) ** 2 / (n * k)
    between_rows = _or_zero(of_rows - middle, squares)
    between_columns = _or_zero((columns**2).sum(axis=1) / n - middle, squares)
    within = _or_zero(squares - of_rows, squares)
    error = _or_zero(squares - middle - between_rows - between_columns, squares)
    others = max(1, k - 1)
    return (
        between_rows / (n - 1),
        between_columns / others,
        error / ((n - 1) * others),
        within / (n * others),
        n,
    )


def _or_zero(sums: Floats, scale: Floats) -> Floats:
    return np.where(sums <= _ROUNDING * scale, 0.0, sums)


def _squares(matrix: Floats) -> Floats:
    return np.column_stack([np.ones(len(matrix)), matrix, matrix.sum(axis=1) ** 2, (matrix**2).sum(axis=1)])


def _by_cluster(sums: Floats, cluster_of: Ints) -> Floats:
    found = np.zeros((int(cluster_of.max(initial=-1)) + 1, sums.shape[1]))
    np.add.at(found, cluster_of, sums)
    return found


def _root(squared: Floats) -> Floats:
    return np.sqrt(np.where(squared > 0, squared, np.nan))


def _where(is_defined: NDArray[np.bool_], values: Floats) -> Floats:
    return np.where(is_defined, values, np.nan)
