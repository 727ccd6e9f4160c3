"""Cesa-Bianchi, Gentile, Zaniboni: Worst-case analysis of selective sampling. Figures 1, 2, 3 and section 3."""

import numpy as np

from . import Notes, sgn


def margin_chance(b):
    return lambda p: 1.0 if p == 0 else b / (b + abs(p))


def figure_1(X, y, u, chance):
    """Selective sampling Perceptron; ``chance`` maps the margin to the Bernoulli parameter."""
    w = np.zeros(X.shape[1])
    notes = Notes()
    for x_t, y_t, u_t in zip(X, y, u, strict=True):
        p_hat = w @ x_t
        y_hat = sgn(p_hat)
        Z_t = u_t < chance(p_hat)
        M_t = y_hat != y_t
        if Z_t:
            w = w + M_t * y_t * x_t
        notes.add(p_hat, chance(p_hat), Z_t, Z_t and M_t)
    return notes.played()


def figure_2(X, y, u, beta):
    """The same with an adaptive parameter."""
    w, X_max, K = np.zeros(X.shape[1]), 0.0, 0
    notes = Notes()
    for x_t, y_t, u_t in zip(X, y, u, strict=True):
        p_hat = w @ x_t
        y_hat = sgn(p_hat)
        X_prime = max(X_max, np.linalg.norm(x_t))
        b = beta * X_prime**2 * np.sqrt(1 + K)
        chance = 1.0 if p_hat == 0 else b / (b + abs(p_hat))
        Z_t = u_t < chance
        updated = False
        if Z_t and y_hat != y_t:
            w = w + y_t * x_t
            K = K + 1
            X_max = X_prime
            updated = True
        notes.add(p_hat, chance, Z_t, updated)
    return notes.played()


def figure_3(X, y, u, chance, size=1.0):
    """Selective sampling second-order Perceptron; A_0 = size I (the figure has size 1)."""
    d = X.shape[1]
    A, v = size * np.eye(d), np.zeros(d)
    notes = Notes()
    for x_t, y_t, u_t in zip(X, y, u, strict=True):
        p_hat = v @ np.linalg.inv(A + np.outer(x_t, x_t)) @ x_t
        y_hat = sgn(p_hat)
        Z_t = u_t < chance(p_hat)
        M_t = y_hat != y_t
        if Z_t:
            v = v + M_t * y_t * x_t
            A = A + M_t * np.outer(x_t, x_t)
        notes.add(p_hat, chance(p_hat), Z_t, Z_t and M_t)
    return notes.played()


def section_3_winnow(X, y, u, eta, chance):
    """Figure 1 with the Winnow update."""
    d = X.shape[1]
    w = np.full(d, 1.0 / d)
    notes = Notes()
    for x_t, y_t, u_t in zip(X, y, u, strict=True):
        p_hat = w @ x_t
        Z_t = u_t < chance(p_hat)
        M_t = sgn(p_hat) != y_t
        if Z_t and M_t:
            w_prime = w * np.exp(eta * y_t * x_t)
            w = w_prime / w_prime.sum()
        notes.add(p_hat, chance(p_hat), Z_t, Z_t and M_t)
    return notes.played()


def section_3_p_norm(X, y, u, p, chance):
    """Figure 1 with the p-norm Perceptron: w is the gradient of half the squared p-norm at theta."""
    theta = np.zeros(X.shape[1])
    notes = Notes()
    for x_t, y_t, u_t in zip(X, y, u, strict=True):
        norm = np.sum(np.abs(theta) ** p) ** (1 / p)
        w = np.sign(theta) * np.abs(theta) ** (p - 1) / norm ** (p - 2) if norm > 0 else theta
        p_hat = w @ x_t
        Z_t = u_t < chance(p_hat)
        M_t = sgn(p_hat) != y_t
        if Z_t and M_t:
            theta = theta + y_t * x_t
        notes.add(p_hat, chance(p_hat), Z_t, Z_t and M_t)
    return notes.played()
