"""The server process: options, HTTP server, logging, the demo."""
