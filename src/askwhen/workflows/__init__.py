"""What the commands do, as functions with plain arguments: run, label, compare, tune, predict, compile ahead."""
