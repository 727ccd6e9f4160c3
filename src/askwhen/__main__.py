"""``python -m askwhen`` is the command ``askwhen``."""

from .cli.main import start

start()
