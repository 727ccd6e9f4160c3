"""The papers' theorems as functions: bounds on the number of mistakes of an algorithm, certain or in expectation.

From Cesa-Bianchi, Gentile, Zaniboni 2006; Moroshko, Crammer 2014; "Batch learning via online prediction".

==========  ==========================================================
u           a comparator: one vector, or a row for every round
gamma       the margin that it should reach
loss        hinge losses max(0, gamma - y u.x), summed over all rounds (L), or over the rounds of updates (L-bar)
V           total drift: squared distances between the comparators of successive updates, summed
M, Z        whether the prediction of a round is wrong, and whether its label is asked for; M Z = 1 is an update
==========  ==========================================================

Where a theorem has an expectation over the random draws, its function takes the mean over ``traces`` of runs with
different seeds. Without traces every round counts as an update, which only makes the bound larger.

X and y are the instances as the learner saw them and their labels -1 and +1; traces are those of runs over exactly
these rows, with all their rounds (``trace=True``).
"""

from .drifting_target import (
    corollary_8,
    corollary_9,
    corollary_9_a,
    corollary_c,
    corollary_holds,
    lasec,
    lasec_ss,
    lasec_ss_a,
    lemma_7,
)
from .selective_sampling import sel_2nd, sel_2nd_b, sel_ada, sel_p, sel_p_b, sel_winnow, sel_winnow_tuning
from .theorem_case import expected_questions, hinge_loss, hinge_losses, total_drift
from .validation_bounds import hold_out, progressive_validation

__all__ = [
    "corollary_8",
    "corollary_9",
    "corollary_9_a",
    "corollary_c",
    "corollary_holds",
    "expected_questions",
    "hinge_loss",
    "hinge_losses",
    "hold_out",
    "lasec",
    "lasec_ss",
    "lasec_ss_a",
    "lemma_7",
    "progressive_validation",
    "sel_2nd",
    "sel_2nd_b",
    "sel_ada",
    "sel_p",
    "sel_p_b",
    "sel_winnow",
    "sel_winnow_tuning",
    "total_drift",
]
