"""
How is drift followed?
======================

Experts (learners with more and less memory) learn the same labels; the default mixes them by their recent performance.
On a stream whose target stands still, then drifts, then stands still again, their weights show what it has learnt about
the drift.
"""

import re

import matplotlib.pyplot as plt
import numpy as np

import askwhen as aw

EACH = 6_000
still, labels = aw.data.noisy_linear(EACH, 8, 0.02, seed=1)
moving, moving_labels = aw.data.drifting(EACH, 8, 0.005, seed=2)
after, after_labels = aw.data.noisy_linear(EACH, 8, 0.02, seed=3)
X = np.vstack([still, moving, after])
y = np.concatenate([labels, moving_labels, after_labels])

sampler = aw.Sampler(rule=aw.BudgetRule(0.1), seed=7)
trace = sampler.run(X, y)

# %%
# Each expert has a drift level c: every label that it learns adds I/c to its uncertainty matrix. With a small c it
# forgets fast. The weights are summed over the views of an instance:

levels = [float(re.findall(r"c = (\S+)", name)[0]) for name in trace.experts]
figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 5.5), layout="constrained", sharex=True)
window = np.ones(500) / 500
top.plot(np.arange(500, len(y) + 1), 1 - np.convolve(trace.mistaken, window, mode="valid"), color="black")
top.set(ylabel="accuracy of\nthe last 500 rounds", ylim=(0.5, 1.0))
rounds = np.arange(0, len(y), 50)
shares = [trace.drift_weights[rounds][:, np.array(levels) == level].sum(axis=1) for level in sorted(set(levels))]
names = [f"c = {level:,.0f}" for level in sorted(set(levels))]
bottom.stackplot(rounds, shares, labels=names, colors=plt.get_cmap("viridis")(np.linspace(0.95, 0.1, len(names))))
bottom.set(xlabel="round", ylabel="weight", ylim=(0, 1), xlim=(0, len(y)))
bottom.legend(loc="upper left", ncols=4)
for place, name in ((0, "stands still"), (EACH, "drifts"), (2 * EACH, "another target, stands still")):
    top.axvline(place, color="grey", linewidth=0.8, linestyle=":")
    top.text(place + 150, 0.53, name)
plt.show()

# %%
# A learner that never forgets is less accurate here:

steady = aw.Sampler(aw.SecondOrderPerceptron(), aw.BudgetRule(0.1), prepare=aw.Prepare(), seed=7).run(X, y)
for name, found in (("the default", trace), ("never forgets", steady)):
    parts = [f"{1 - part.mean():.1%}" for part in np.split(found.mistaken, 3)]
    print(f"{name:14} right in {parts[0]}, {parts[1]}, {parts[2]} of the three parts")
