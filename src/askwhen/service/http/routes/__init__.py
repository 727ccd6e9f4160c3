"""The addresses of the service, one file for each subject; the web page is in ``web``."""
