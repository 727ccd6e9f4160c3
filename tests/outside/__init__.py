"""A small package of somebody else's: a learner, a rule and a drift guard that askwhen has never heard of."""
