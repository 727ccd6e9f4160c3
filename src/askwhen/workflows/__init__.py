"""What the commands do, as functions with plain arguments: run a file, predict the rest of it, compile ahead."""
