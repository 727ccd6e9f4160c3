"""Moroshko, Crammer: Selective sampling with drift. Figure 1, and the algorithms it is compared with in section 5."""

import numpy as np

from . import Notes, sgn


def figure_1(X, y, u, b, c, chance, queried_policy=False):
    """LASEC for selective sampling; ``chance`` is 1 for the supervised LASEC."""
    d = X.shape[1]
    I = np.eye(d)  # noqa: E741, the paper's letter
    inv = np.linalg.inv
    D, e = (b * c) / (c - b) * I, np.zeros(d)
    notes = Notes()
    for x_t, y_t, u_t in zip(X, y, u, strict=True):
        S_t = inv(inv(D) + I / c) + np.outer(x_t, x_t)
        p_hat = x_t @ inv(S_t) @ inv(I + D / c) @ e
        y_hat = sgn(p_hat)
        Z_t = u_t < chance(p_hat)
        updated = Z_t and (y_hat != y_t or queried_policy)
        if updated:
            e = inv(I + D / c) @ e + y_t * x_t
            D = S_t
        notes.add(p_hat, chance(p_hat), Z_t, updated)
    return notes.played()


def shifting_perceptron(X, y, lam):
    """Cavallanti et al.: before the k-th update adds y x, w shrinks by 1 - lam/(lam + k), k counting earlier ones."""
    w, k = np.zeros(X.shape[1]), 0
    notes = Notes()
    for x_t, y_t in zip(X, y, strict=True):
        p_hat = w @ x_t
        mistake = sgn(p_hat) != y_t
        if mistake:
            lam_k = lam / (lam + k) if lam + k > 0 else 0.0
            w = (1 - lam_k) * w + y_t * x_t
            k += 1
        notes.add(p_hat, 1.0, True, mistake)
    return notes.played()


def modified_perceptron(X, y):
    """Blum et al.: w = y x/|x| first, then w - 2 (w.x) x/|x|^2."""
    w = None
    notes = Notes()
    for x_t, y_t in zip(X, y, strict=True):
        p_hat = 0.0 if w is None else w @ x_t
        norm = np.linalg.norm(x_t)
        update = sgn(p_hat) != y_t and norm > 0
        if update and w is None:
            w = y_t * x_t / norm
        elif update:
            w = w - 2 * (w @ x_t) * x_t / norm**2
        notes.add(p_hat, 1.0, True, update)
    return notes.played()


def randomized_budget_perceptron(X, y, B, draws):
    """Cavallanti et al.: when B support vectors are held, one drawn uniformly is dropped before adding."""
    support = []
    draws = iter(draws)
    notes = Notes()
    for x_t, y_t in zip(X, y, strict=True):
        p_hat = sum(((y_s * x_s) @ x_t for x_s, y_s in support), 0.0)
        mistake = sgn(p_hat) != y_t
        if mistake and len(support) < B:
            support.append((x_t, y_t))
        elif mistake:
            support[int(next(draws) * B)] = (x_t, y_t)
        notes.add(p_hat, 1.0, True, mistake)
    return notes.played()


def bbq(X, y, kappa, only_mistakes=False):
    """BBQ as section 5 describes it: query iff x' A^-1 x > t^-kappa with x in A; BBQ-I updates on mistakes only."""
    d = X.shape[1]
    A, b = np.eye(d), np.zeros(d)
    notes = Notes()
    for t, (x_t, y_t) in enumerate(zip(X, y, strict=True), start=1):
        A_inv = np.linalg.inv(A + np.outer(x_t, x_t))
        p_hat = b @ A_inv @ x_t
        query = x_t @ A_inv @ x_t > t**-kappa
        updated = query and (sgn(p_hat) != y_t or not only_mistakes)
        if updated:
            A = A + np.outer(x_t, x_t)
            b = b + y_t * x_t
        notes.add(p_hat, float(query), query, updated)
    return notes.played()
