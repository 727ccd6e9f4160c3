"""What the operating system gives: memory, files that are whole or not there, threads that take turns."""
