"""What a terminal shows and reads: tables, plots, sentences, keys."""
