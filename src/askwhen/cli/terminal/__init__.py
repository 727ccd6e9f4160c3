"""Output and input of a terminal: tables, plots, messages, keys."""
