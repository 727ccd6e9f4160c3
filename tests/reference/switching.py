"""Kravchik: Learning drifting data using selective sampling. BBQ with a windowed demo classifier.

Where the slides are silent: a period is K L_t rounds with L_t taken at its first round, its last L_t rounds are the
window; the switch is tested first, then the round is asked and learnt, then the restart applies.
"""

import math

import numpy as np

from . import Notes


def window_length(L0, t):
    return L0 + math.floor(math.sqrt(t))


def margin_and_r(pairs, x, d):
    """RLS from scratch on these (x, y) pairs, with x in the matrix."""
    X = np.array([x_s for x_s, _ in pairs]).reshape(-1, d)
    y = np.array([y_s for _, y_s in pairs])
    A = np.eye(d) + X.T @ X + np.outer(x, x)
    b = X.T @ y
    A_inv = np.linalg.inv(A)
    return b @ A_inv @ x, x @ A_inv @ x


def threshold(r, r_L, t, delta, Z):
    delta_t = delta / (t * (t + 1))
    s = math.sqrt(2 * math.log(2 / delta_t))
    return (Z * s + 1) * math.sqrt(r) + r + (Z * s + 1) * math.sqrt(r_L) + r_L


def bbq_switch(X, y, kappa, L0, K, delta, extra, Z=1.0):
    d = X.shape[1]
    learnt, demo = [], None  # (x, y) pairs
    clock = 0
    labels = []  # no extra queries: every label asked
    window, period_end, window_from = [], 0, 0
    notes = Notes()
    for t, (x_t, y_t) in enumerate(zip(X, y, strict=True), start=1):
        if extra and t > period_end:
            if period_end > 0:
                demo = window
            L_t = window_length(L0, t)
            window, period_end = [], t + K * L_t - 1
            window_from = period_end - L_t + 1
        clock += 1
        p_hat, r = margin_and_r(learnt, x_t, d)
        switch = False
        if demo is not None:
            h_p, r_L = margin_and_r(demo, x_t, d)
            switch = abs(p_hat - h_p) > threshold(r, r_L, t, delta, Z)
        by_rule = r > clock**-kappa
        in_window = extra and t >= window_from
        if by_rule:
            learnt = [*learnt, (x_t, y_t)]
            labels.append((x_t, y_t))
            if not extra and len(labels) >= (window_length(L0, t) if demo is None else 0):
                demo = labels[-window_length(L0, t) :]
        if in_window:
            window.append((x_t, y_t))
        notes.add(p_hat, float(by_rule or in_window), by_rule or in_window, by_rule)
        if switch:
            notes.switches.append(t - 1)
            learnt, clock = [], 0
    return notes.played()
