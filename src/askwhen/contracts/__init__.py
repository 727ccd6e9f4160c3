"""What a learner, a rule, a drift guard and a sampler provide; open to other packages."""
