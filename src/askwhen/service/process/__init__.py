"""The process that serves: command-line settings, the HTTP server, logging, the demo."""
