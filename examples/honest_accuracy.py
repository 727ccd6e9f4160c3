"""
How accurate is it, from asked labels only?
===========================================

A stream that switches twice, one label in ten: the true accuracy, which only a simulation knows, the accuracy among the
asked labels, and the unbiased estimate with its interval.
"""

import matplotlib.pyplot as plt
import numpy as np

import askwhen as aw

X, y = aw.data.switching(15_000, 10, 5_000, seed=4)
trace = aw.Sampler(rule=aw.BudgetRule(0.1), seed=7).run(X, y)
curve = aw.evaluate.accuracy_curve(trace)

played = np.arange(1, trace.rounds + 1)
truth = 1 - np.cumsum(trace.mistaken) / played
asked = np.cumsum(trace.queried)
among_asked = 1 - np.cumsum(trace.mistaken & trace.queried) / np.maximum(asked, 1)

# %%
# Most questions are near the boundary, so the share that was right among them is far too low. Weighted by one over the
# probability with which each was asked, the same labels give an unbiased estimate for all rounds. The band is valid at
# any time, however often you look.

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
axes.fill_between(curve.rounds, curve.low, curve.high, alpha=0.25, label="its 95 % interval, valid at any time")
axes.plot(curve.rounds, curve.value, label="the estimate from asked labels")
axes.plot(played, truth, color="black", linewidth=1.2, label="the truth, which only a simulation knows")
axes.plot(played[200:], among_asked[200:], linestyle="--", label="the share that was right among the asked")
axes.set(xlabel="round", ylabel="accuracy since the beginning", ylim=(0.3, 1.0))
axes.legend(loc="lower right")
plt.show()

# %%
# In numbers, at the end:

print(f"truth                    {truth[-1]:.1%}")
print(f"from asked labels        {curve.value[-1]:.1%} ({curve.low[-1]:.1%} to {curve.high[-1]:.1%})")
print(f"right among the asked    {among_asked[-1]:.1%}")
