"""``askwhen completion``: the script that lets a shell complete commands, options and names."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from ..command import Output, command


@command
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(out: Output, shell: str) -> None:
    """Print the completion script for a shell.

    \b
    bash: eval "$(askwhen completion bash)"     in ~/.bashrc
    zsh:  eval "$(askwhen completion zsh)"      in ~/.zshrc
    fish: askwhen completion fish | source      in ~/.config/fish/config.fish
    """
    root = click.get_current_context().find_root()
    made = get_completion_class(shell)
    assert made is not None
    script = made(root.command, {}, "askwhen", "_ASKWHEN_COMPLETE").source()
    if out.json:
        out.result({"shell": shell, "script": script})
    else:
        out.print(script)
