"""Single keys from a terminal, also those that were typed ahead."""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
from collections import deque
from collections.abc import Iterator

import click

_KEY = re.compile(r"\x1b(?:\[[0-9;]*[A-Za-z~]|O.)?|.", re.DOTALL)
"""One key: a character, or the escape sequence of an arrow or another special key."""


class Keys:
    """The keyboard, without echo and without waiting for a line."""

    def __init__(self) -> None:
        self._handle: int | None = None
        self._woken = -1
        self._ahead: deque[str] = deque()

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Take keys as they come, and leave the terminal as it was."""
        try:
            import termios
            import tty
        except ImportError:  # not every system has them; keys then come one by one
            yield
            return
        self._handle = os.open("/dev/tty", os.O_RDONLY)
        before = termios.tcgetattr(self._handle)
        # An interrupt just before waiting would go unnoticed until the next key: it writes to a pipe that is watched.
        self._woken, wakes = os.pipe()
        os.set_blocking(wakes, False)
        former = signal.set_wakeup_fd(wakes)
        # The parent process may have had interrupts ignored; at a keyboard Ctrl-C must work.
        handler = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            tty.setcbreak(self._handle, termios.TCSADRAIN)  # without discarding what was typed ahead
            yield
        finally:
            termios.tcsetattr(self._handle, termios.TCSADRAIN, before)
            signal.set_wakeup_fd(former)
            signal.signal(signal.SIGINT, handler)
            for handle in (self._handle, self._woken, wakes):
                os.close(handle)

    def next(self, exact: bool = False) -> str:
        """The next key in lower case, or exactly as it was typed; "" at the end of the input."""
        if self._handle is None:
            found = click.getchar()
            return found if exact else found.lower()
        while not self._ahead:
            if self._listen() == "":
                return ""
        return self._ahead.popleft() if exact else self._ahead.popleft().lower()

    def next_or(self, other: int) -> str | None:
        """The next key, or None as soon as another file descriptor has something to read."""
        if self._handle is None:
            return self.next()
        while not self._ahead:
            found = self._listen(other)
            if found is None:
                return None
            if found == "":
                return ""
        return self._ahead.popleft().lower()

    def _listen(self, other: int = -1) -> str | None:
        """Wait for keys: what was typed, "" at the end of the input, None if the other descriptor can be read."""
        assert self._handle is not None
        while True:
            ready, _, _ = select.select([self._handle, self._woken, *([] if other < 0 else [other])], [], [])
            if self._woken in ready:
                os.read(self._woken, 1024)  # Python runs the signal handler after this
            elif self._handle in ready:
                found = os.read(self._handle, 1024).decode("utf-8", "replace")
                self._ahead.extend(_KEY.findall(found))
                return found
            elif other in ready:
                return None

    def forget(self) -> None:
        """Discard all keys that were typed before now."""
        self._ahead.clear()
        if self._handle is not None:
            import termios

            termios.tcflush(self._handle, termios.TCIFLUSH)


def has_terminal() -> bool:
    """Whether there is a keyboard to listen to."""
    try:
        with open("/dev/tty"):  # noqa: PTH123, a device
            return True
    except OSError:
        return False
