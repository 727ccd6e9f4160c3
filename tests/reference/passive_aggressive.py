"""Ezukwoke, Zareian: Online learning and active learning. Algorithms 1 and 2."""

import numpy as np

from . import Notes


def algorithm_2(X, y, u, tau, chance):
    """The active version; ``tau`` maps (loss, |x|^2) to the step, and a chance of 1 is Algorithm 1."""
    w = np.zeros(X.shape[1])
    notes = Notes()
    for x_t, y_t, u_t in zip(X, y, u, strict=True):
        p_hat = w @ x_t
        Z_t = u_t < chance(p_hat)
        loss = max(0.0, 1 - y_t * (w @ x_t))
        update = Z_t and loss > 0 and x_t @ x_t > 0
        if update:
            w = w + tau(loss, x_t @ x_t) * y_t * x_t
        notes.add(p_hat, chance(p_hat), Z_t, update)
    return notes.played()


def tau_pa(loss, squared_norm):
    return loss / squared_norm


def tau_pa_1(C):
    return lambda loss, squared_norm: min(C, loss / squared_norm)


def tau_pa_2(C):
    return lambda loss, squared_norm: loss / (squared_norm + 1 / (2 * C))
