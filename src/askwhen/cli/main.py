"""The command ``askwhen`` and its parts. Nothing heavy is imported before a command runs."""

from __future__ import annotations

import os
import sys

import click

import askwhen

from .commands.algorithms import algorithms
from .commands.backup import backup, migrate_db, restore
from .commands.compare import compare
from .commands.completion import completion
from .commands.data import data
from .commands.demo import demo
from .commands.erase import erase
from .commands.explain import explain
from .commands.feed import feed
from .commands.keyed import keyed
from .commands.label import label
from .commands.label_studio import label_studio
from .commands.plan import plan
from .commands.predict import predict
from .commands.replay import replay
from .commands.reproduce import reproduce
from .commands.run import run
from .commands.serve import serve
from .commands.token import token
from .commands.tune import tune
from .commands.warm import warm
from .commands.webhook import webhook


class _InOrder(click.Group):
    """Lists its commands in the order in which users need them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names as they were added."""
        return list(self.commands)


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(askwhen.__version__, "--version", "-V", prog_name="askwhen")
def main() -> None:
    """Learn from streams where labels are costly: predict everything, ask for the few labels worth paying for.

    Begin with `askwhen demo`, then `askwhen run FILE`. Results go to the standard output, everything else to the
    standard error; --json prints results for programs. Exit codes: 0 done, 1 failed, 2 usage.
    """


def start() -> None:
    """Run the command; if help cannot be printed, that is an error in one sentence like any other."""
    try:
        main(prog_name="askwhen")
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or it would be tried again at exit
        click.echo(f"askwhen: the results cannot be printed: {error.strerror}.", err=True)
        sys.exit(1)


for each in (
    demo,
    run,
    plan,
    compare,
    tune,
    label,
    predict,
    serve,
    token,
    replay,
    backup,
    restore,
    migrate_db,
    erase,
    webhook,
    label_studio,
    keyed,
    feed,
    explain,
    algorithms,
    data,
    reproduce,
    warm,
    completion,
):
    main.add_command(each)
