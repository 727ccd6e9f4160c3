"""``python -m askwhen`` is the command ``askwhen``."""

from .cli.main import main

main(prog_name="askwhen")
