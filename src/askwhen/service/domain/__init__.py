"""What a stream, its model and its questions are, and what may be done to them."""
