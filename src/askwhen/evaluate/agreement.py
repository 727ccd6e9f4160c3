"""Agreement of annotators who labelled the same items: Cohen's kappa for two, Krippendorff's alpha for any number.

Both compare the observed agreement with the agreement expected by chance: 1 is perfect, 0 is chance level, and a
negative value is worse than chance.
J. Cohen, A coefficient of agreement for nominal scales (1960). K. Krippendorff, Content Analysis (1980), nominal data:
alpha = 1 - (n - 1) sum over c != k of o_ck / sum over c != k of n_c n_k, where items with fewer than two labels do not
count, and each ordered pair of labels of an item with m labels adds 1/(m - 1) to the coincidences o.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

Pair = tuple[Hashable, Hashable]


def cohen(table: Mapping[Any, float]) -> float | None:
    """Cohen's kappa of two annotators, from the number of items that the first labelled a and the second b.

    None where it is undefined: no item was labelled by both, or both always gave the same single label.

    Parameters
    ----------
    table : mapping
        Number of items that the first annotator labelled a and the second b, by (a, b).

    Examples
    --------
    >>> from askwhen.evaluate.agreement import cohen
    >>> cohen({("yes", "yes"): 20, ("yes", "no"): 5, ("no", "yes"): 10, ("no", "no"): 15})
    0.4
    """
    n = sum(table.values())
    first: Counter[Any] = Counter()
    second: Counter[Any] = Counter()
    for (a, b), count in table.items():
        first[a] += count  # type: ignore[assignment]
        second[b] += count  # type: ignore[assignment]
    by_chance = sum(first[label] * second[label] for label in first)
    seen = n * sum(count for (a, b), count in table.items() if a == b)
    return None if n == 0 or by_chance == n * n else (seen - by_chance) / (n * n - by_chance)


def krippendorff(things: Iterable[Iterable[Hashable]]) -> float | None:
    """Krippendorff's alpha from the labels of each item, given by any number of annotators.

    None where it is undefined: no item has two labels, or all labels are equal.

    Parameters
    ----------
    things : iterable
        The labels of each item.

    Examples
    --------
    >>> from askwhen.evaluate.agreement import krippendorff
    >>> krippendorff([["a", "a"], ["a", "a"], ["b", "b"], ["a", "b"]])
    0.5333333333333333
    """
    found: Counter[Any] = Counter()
    for labels in things:
        found.update(coincidences(list(labels)))
    return from_coincidences(found)


def coincidences(labels: list[Any]) -> Counter[Any]:
    """Contribution of the labels of one item to the coincidences, by (a, b).

    Parameters
    ----------
    labels : list
        The labels of one item.
    """
    found: Counter[Any] = Counter()
    for i, a in enumerate(labels):
        for j, b in enumerate(labels):
            if i != j:
                found[a, b] += 1 / (len(labels) - 1)  # type: ignore[assignment]
    return found


def from_coincidences(found: Mapping[Any, float]) -> float | None:
    """Krippendorff's alpha from the coincidences of all items.

    Parameters
    ----------
    found : mapping
        Number of times that a and b were given to the same item, by (a, b).
    """
    totals: Counter[Any] = Counter()
    for (a, _), count in found.items():
        totals[a] += count  # type: ignore[assignment]
    n = sum(totals.values())
    by_chance = n * n - sum(count * count for count in totals.values())
    disagreeing = sum(count for (a, b), count in found.items() if a != b)
    return None if by_chance <= 1e-9 * n * n else 1.0 - (n - 1.0) * disagreeing / by_chance
