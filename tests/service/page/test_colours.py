"""The colours of labels are far apart for people who see colours otherwise."""

import itertools
import pathlib
import re

import numpy as np
import pytest

import askwhen.service.http.routes as routes
from askwhen.service.events.settings import COLOURS

STYLES = pathlib.Path(routes.__file__).parent / "web" / "page.css"

# Machado, Oliveira and Fernandes (2009), severity 1: what is seen instead of linear red, green and blue.
SEEN = {
    "all colours": np.eye(3),
    "no long waves": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no middle waves": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no short waves": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = np.array([0.9505, 1.0, 1.089])
FAR = 15.0
"""A distance in CIELAB; 2.3 can just be seen when both lie side by side."""


def linear(colour):
    parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255.0
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    x, y, z = np.cbrt(XYZ @ np.clip(rgb, 0.0, 1.0) / WHITE)
    return np.array([116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)])


@pytest.mark.parametrize("kind", SEEN)
def test_every_two_colours_can_be_told_apart(kind):
    found = dict(re.findall(r"\.c-(\w+)\{--c:(#\w+)\}", STYLES.read_text()))
    assert set(found) == set(COLOURS)
    seen = {name: lab(np.array(SEEN[kind]) @ linear(colour)) for name, colour in found.items()}
    near = {pair for pair in itertools.combinations(seen, 2) if np.linalg.norm(seen[pair[0]] - seen[pair[1]]) < FAR}
    assert near == set()
