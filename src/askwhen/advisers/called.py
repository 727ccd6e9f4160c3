"""A function as an adviser, such as one that asks a language model: called only where its advice is worth its price."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import INSTANCES, InputError
from ..validation import check_count, check_number
from .call_log import CallLog


class Called:
    """Advice of a function that is called only in rounds in which it is likely to change what happens.

    Before a round, the sampler looks at what it would do without the advice and with each of the likeliest answers. A
    call is worth the share of a person's answer that it is expected to save: because it corrects the prediction, which
    a person's answer would do too, or because the person need not be asked any more. The function is called where that
    is more than its price, within a budget of its own, and at least once in a hundred rounds.

    Give it as advice, to ``ask`` or to ``run``, where its advice is part of the round as any other. Whether it is
    called never depends on the random draw of the round, so the account of the adviser stays valid; it is about the
    rounds in which it was called, and says so. What the function has said of an item is remembered: it is never called
    again about the same item.

    Parameters
    ----------
    function : callable
        Takes an item, and returns what ``ask`` takes as advice: a label, ``(label, confidence)``, the probability of
        each label as a dict, or None. An exception counts as no answer, and so does what cannot be advice.
    price : float, default 0.01
        What a call costs, where a person's answer costs 1.
    rate : float, optional
        The largest share of rounds in which it is called, after the first few: the calls are then made where they are
        worth most.
    most : int, optional
        The largest number of calls in total.
    timeout : float, optional
        Number of seconds after which a call counts as unanswered. By default it is waited for.
    log : str or path, optional
        A file to which every answer is appended at once, and from which earlier ones are read: the same stream played
        again, or continued after a crash, calls nothing twice. Each line is a JSON object with a fingerprint of the
        item, not the item.

    Attributes
    ----------
    calls : int
        Number of calls of the function; answers from the log are none.
    failures : int
        Number of these calls that raised an exception, came too late, or returned what cannot be advice.
    last_error : str
        What went wrong in the last of them.

    Examples
    --------
    The function is called with the instance, or with what ``about`` gives, such as its text:

    >>> import numpy as np, askwhen as aw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 4))
    >>> y = np.where(X[:, 0] + 0.5 * rng.standard_normal(2000) > 0, "spam", "ham")
    >>> texts = [f"text {i} is {label}" for i, label in enumerate(y)]
    >>> def model(text):                            # here a language model would be asked
    ...     return text.split()[-1], 0.9
    >>> llm = aw.advisers.Called(model, price=0.02, rate=0.3)
    >>> sampler = aw.Sampler(advisers=["llm"], labels=("ham", "spam"), seed=7)
    >>> trace = sampler.run(X, y, advice={"llm": llm.about(texts)})
    >>> llm.calls < 700, aw.evaluate.advisers(sampler)["llm"].calls == llm.calls
    (True, True)

    Live, ``ask`` decides whether to call it, and waits for it:

    >>> ask = sampler.ask(X[0], advice={"llm": llm.about("is this one spam")})
    >>> ask.advice["llm"] in (("spam", 0.9), None)
    True
    """

    # Six arguments, the public parameters.
    def __init__(
        self,
        function: Callable[[Any], Any],
        price: float = 0.01,
        rate: float | None = None,
        most: int | None = None,
        timeout: float | None = None,
        log: str | os.PathLike[str] | None = None,
    ) -> None:
        if not callable(function):
            raise InputError(f"function must be callable, got {type(function).__name__}.", owner="Called")
        check_number("Called", "price", price, "a number from 0 to below 1", 0.0, 1.0, open_low=False, open_high=True)
        if rate is not None:
            check_number("Called", "rate", rate, "a number above 0 and at most 1", 0.0, 1.0)
        if most is not None:
            check_count("Called", "most", most)
        if timeout is not None:
            check_number("Called", "timeout", timeout, "a positive number of seconds", 0.0, threading.TIMEOUT_MAX)
        self.function, self.price, self.timeout = function, float(price), timeout
        self.rate = None if rate is None else float(rate)
        self.most = None if most is None else int(most)
        self.calls = self.failures = 0
        self.last_error = ""
        self._log = CallLog(log)

    def __repr__(self) -> str:
        name = getattr(self.function, "__name__", type(self.function).__name__)
        return (
            f"<Called({name}, price={self.price:g}) after {self.calls} calls, {self.failures} of them without answer>"
        )

    def about(self, items: Any) -> AboutItems:
        """The same adviser, called about these items instead of the instances.

        Parameters
        ----------
        items : any
            In ``ask`` what the function is called with, such as the text of the instance; in ``run`` a list, an array
            or a column of a table with an item for each row.
        """
        return AboutItems(self, items)

    def at_rows(self, order: np.ndarray) -> Called:
        """The adviser for the same rows in another order: this one, since it is asked about the rows themselves."""
        return self

    def check_rows(self, n: int, X: Any) -> None:
        """Refuse to be asked about rows that are not there."""
        if X is None:
            raise InputError(
                "there is nothing to call an adviser about, since X is None; give it about(items).", owner="Called"
            )

    def say(self, x: Any, row: int | None = None) -> Any:
        """What the function says of an instance, or of a row of many; None if it fails or comes too late.

        Parameters
        ----------
        x : any
            The instance, or all of them.
        row : int, optional
            Which of them.
        """
        item = _plain(x) if row is None else row_of(x, row)
        mark, known, found = self._log.find(item)
        if known:
            return found
        self.calls += 1
        try:
            said = self.function(item) if self.timeout is None else _in_time(self.function, item, self.timeout)
        except Exception as error:  # whatever it is, the stream goes on
            said = None
            self._fail(f"{type(error).__name__}: {error}")
        return self._log.add(mark, said)

    def refuse(self, sentence: str) -> None:
        """Be told why what it has just said cannot be advice.

        Parameters
        ----------
        sentence : str
            The reason.
        """
        self._fail(sentence)

    def _fail(self, why: str) -> None:
        self.failures += 1
        self.last_error = why


class AboutItems:
    """An adviser that is called about items which stand for the instances, see :meth:`Called.about`."""

    def __init__(self, called: Called, items: Any) -> None:
        self.price, self.rate, self.most = called.price, called.rate, called.most
        self._called, self._items = called, items

    def __repr__(self) -> str:
        return f"{self._called!r}.about(...)"

    def at_rows(self, order: np.ndarray) -> AboutItems:
        """The adviser for the same rows in another order."""
        return AboutItems(self._called, [row_of(self._items, i) for i in order.tolist()])

    def check_rows(self, n: int, X: Any) -> None:
        """Refuse items that are not one for each row."""
        count = None if isinstance(self._items, (str, Mapping)) else _length(self._items)
        if count != n:
            got = "one" if count is None else f"{count:,}"
            raise InputError(
                f"about must have an item for each of the {n:,} rows of {INSTANCES}, got {got}.", owner="Called"
            )

    def say(self, x: Any, row: int | None = None) -> Any:
        """What the function says of the item of an instance, or of a row of many."""
        return self._called.say(self._items, row)

    def refuse(self, sentence: str) -> None:
        """Be told why what it has just said cannot be advice."""
        self._called.refuse(sentence)


def _length(items: Any) -> int | None:
    if sp.issparse(items):
        return int(items.shape[0])
    return len(items) if hasattr(items, "__len__") else None


def row_of(X: Any, i: int) -> Any:
    """A row of instances or items as a function takes it: a dict of a table, else the row itself."""
    if hasattr(X, "column_names"):  # Arrow
        return X.slice(i, 1).to_pylist()[0]
    if hasattr(X, "columns") and hasattr(X, "iloc"):  # pandas
        return X.iloc[i].to_dict()
    if hasattr(X, "row") and hasattr(X, "columns"):  # polars
        return X.row(i, named=True)
    return _plain(X.iloc[i] if hasattr(X, "iloc") else X[i])


def _plain(item: Any) -> Any:
    """A number or a text of numpy, Arrow or pandas as one of Python."""
    if isinstance(item, np.generic):
        return item.item()
    if hasattr(item, "iloc") and getattr(item, "ndim", 0) == 1:
        return item.to_dict()
    return item.as_py() if hasattr(item, "as_py") else item


def _in_time(function: Callable[[Any], Any], item: Any, seconds: float) -> Any:
    """The result of a function, within a number of seconds; a function that takes longer is left behind."""
    found: list[tuple[Any, Exception | None]] = []

    def work() -> None:
        try:
            found.append((function(item), None))
        except Exception as error:
            found.append((None, error))

    thread = threading.Thread(target=work, daemon=True)  # it must not keep the process alive
    thread.start()
    thread.join(seconds)
    if not found:
        raise TimeoutError(f"no answer within {seconds:g} seconds")
    said, error = found[0]
    if error is not None:
        raise error
    return said
