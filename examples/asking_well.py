"""
Is asking well worth it?
========================

A stream whose target is replaced every 5,000 rounds, one label in ten. The same learner asks at random, or asks well,
that is, near its boundary; for comparison, it also gets every label. All three see the same instances and use the same
random draws.
"""

# %%
# The recommended learner, three ways to spend labels.

import matplotlib.pyplot as plt
import numpy as np

import askwhen as aw

EVERY, ROUNDS = 5_000, 20_000
X, y = aw.data.switching(ROUNDS, 20, EVERY, seed=1)

samplers = {
    "every label": aw.Sampler(rule=aw.Always(), seed=7),
    "one in ten, asked well": aw.Sampler(rule=aw.BudgetRule(0.1), seed=7),
    "one in ten, at random": aw.Sampler(rule=aw.FixedRate(0.1), seed=7),
}
traces = {name: sampler.run(X, y) for name, sampler in samplers.items()}
for name, trace in traces.items():
    print(f"{name:24} {trace.questions / ROUNDS:6.1%} asked, {1 - trace.mistakes / ROUNDS:.1%} right")

# %%
# Accuracy of the last 500 rounds. After each switch every learner must start again; well-chosen labels bring it back
# sooner.

figure, axes = plt.subplots(figsize=(8, 3.5), layout="constrained")
window = np.ones(500) / 500
for name, trace in traces.items():
    axes.plot(np.arange(500, ROUNDS + 1), 1 - np.convolve(trace.mistaken, window, mode="valid"), label=name)
for switch in range(EVERY, ROUNDS, EVERY):
    axes.axvline(switch, color="grey", linewidth=0.8, linestyle=":")
axes.set(xlabel="round", ylabel="accuracy of the last 500 rounds", ylim=(0.4, 1.0))
axes.legend(loc="lower right")
plt.show()
