"""The work of the commands, as functions: run, label, compare, tune, predict, compile ahead."""
