"""Where samplers, offsets and decisions are kept: a file for each partition on one machine, PostgreSQL for several."""
