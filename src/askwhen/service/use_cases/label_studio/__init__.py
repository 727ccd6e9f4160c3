"""Label Studio: its requests, its files, and labels from it, which are stored in the log and then applied."""
