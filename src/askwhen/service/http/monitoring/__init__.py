"""What operators look at: metrics, and the checks behind them."""
