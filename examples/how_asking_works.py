"""
Where does a sampler ask?
=========================

A rule turns the margin of an instance into a probability of asking, and a random draw decides. Near the boundary labels
are worth the most: far from it, the prediction is usually right anyway.
"""

# %%
# ``FixedRate`` ignores the margin. ``MarginRule`` is the papers' rule. ``FocusedRule`` is sharper; ``BudgetRule`` is
# based on it.

import matplotlib.pyplot as plt
import numpy as np

import askwhen as aw

margin = np.linspace(-2, 2, 401)
figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
axes.plot(margin, 0.2 / (0.2 + abs(margin)), label="MarginRule(0.2)")
axes.plot(margin, np.exp(-((margin / 0.4) ** 2)), label="FocusedRule(0.4)")
axes.plot(margin, np.full_like(margin, 0.2), label="FixedRate(0.2)")
axes.set(xlabel="margin: how far from the boundary, and on which side", ylabel="probability of asking", ylim=(0, 1.05))
axes.legend()
plt.show()

# %%
# A stream in the plane, whose boundary the sampler does not know. It finds the boundary within some dozens of labels,
# and from then on most questions lie along it. A few lie elsewhere: they keep the estimate of the accuracy unbiased.

rng = np.random.default_rng(3)
X = rng.standard_normal((6000, 2))
y = np.where(X[:, 0] + 0.6 * X[:, 1] > 0.2, 1, -1)
trace = aw.Sampler(rule=aw.BudgetRule(0.1), seed=7).run(X, y)

figure, panels = plt.subplots(1, 2, figsize=(8, 4), layout="constrained", sharex=True, sharey=True)
for panel, rounds in zip(panels, (slice(0, 300), slice(4000, 6000)), strict=True):
    points, asked = X[rounds], trace.queried[rounds]
    panel.scatter(*points[~asked].T, s=6, color="lightgrey", label="not asked")
    panel.scatter(*points[asked].T, s=14, c=np.where(y[rounds][asked] > 0, "tab:blue", "tab:orange"), label="asked")
    panel.axline((0.2, 0.0), slope=-1 / 0.6, color="black", linewidth=0.8)
    panel.set(
        title=f"rounds {rounds.start:,} to {rounds.stop - 1:,}: {asked.sum()} asked",
        xlim=(-3, 3),
        ylim=(-3, 3),
        aspect="equal",
    )
plt.show()

# %%
# The rule keeps to its rate.

print(f"{trace.questions} of {trace.rounds} labels asked for, {trace.mistakes} mistakes")
print(f"mistaken: {trace.mistaken[trace.queried].mean():.1%} of the asked rounds, {trace.mistaken.mean():.1%} of all")
