"""The round, and everything that a sampler remembers between two of them."""
