"""The command line.

``dpassay init | list | show | verify | hunt | trace | check | assay | experiment | report | schema``

With ``--json`` a command prints one JSON object per line on standard output. Progress, warnings and summaries go to
standard error. Exit status: 0 if everything is as expected; 1 if a result is not as expected; 2 for wrong usage or bad
input (including a target that hangs), with one line on standard error; 3 for an error of dpassay itself, with its
traceback on standard error; 130 after an interruption from the keyboard; 141 if the reader of the output, such as
`head`, closed the pipe.
"""

import json
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import dpassay
from dpassay.arguments import UsageError
from dpassay.assay_command import assay
from dpassay.cache import cache_folder
from dpassay.check_command import check
from dpassay.command_line import EXPECTED, INTERNAL_ERROR, INTERRUPTED, PIPE_CLOSED, USAGE, use_any_encoding
from dpassay.configuration import read_defaults
from dpassay.experiment_command import experiment
from dpassay.hunt_command import hunt
from dpassay.init_command import init
from dpassay.list_command import list_command
from dpassay.registry import similar_words
from dpassay.report_command import report
from dpassay.show_command import show
from dpassay.trace_command import trace
from dpassay.verify_command import verify

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    use_any_encoding()
    os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", str(cache_folder() / "hypothesis"))  # not in this folder
    try:
        defaults = read_defaults(cli, Path.cwd())
        status = cli.main(args=arguments, prog_name="dpassay", standalone_mode=False, default_map=defaults)
    except click.ClickException as error:
        return _usage(error.format_message())
    except (UsageError, OSError) as error:
        return _usage(str(error))
    except MemoryError as error:
        return _usage(f"not enough memory: {error}")
    except (KeyboardInterrupt, click.Abort):
        click.echo("dpassay: interrupted", err=True)
        return INTERRUPTED
    except SystemExit as error:
        # click exits so after completing a word, and on a closed pipe, where its 1 would mean an unexpected result
        status = error.code if "_DPASSAY_COMPLETE" in os.environ else PIPE_CLOSED
    except BaseException as error:  # noqa: BLE001 - Python's own status would be 1, which is a verdict
        return _internal_error(error)
    return status if isinstance(status, int) else EXPECTED


def _internal_error(error: BaseException) -> int:
    click.echo("".join(traceback.format_exception(error)), err=True, nl=False)
    click.echo(
        f"dpassay: internal error (exit status {INTERNAL_ERROR}): this is a defect of dpassay {dpassay.__version__} "
        "and no verdict; please report it with the command and the lines above",
        err=True,
    )
    return INTERNAL_ERROR


def _usage(message: str) -> int:
    click.echo(f"dpassay: {' '.join(message.split())}", err=True)
    return USAGE


class _Commands(click.Group):
    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            names = self.list_commands(ctx)
            hint = similar_words(args[0], names)
            raise UsageError(f"there is no command {args[0]!r}; the commands are {', '.join(names)}{hint}")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except SystemExit as error:
            if isinstance(error.__context__, BrokenPipeError):  # rich exits so on a closed pipe
                raise
            raise UsageError(f"the called code exited with status {error.code!r}") from None


@click.group(
    cls=_Commands,
    no_args_is_help=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit status of every command: 0 if everything is as expected, 1 if a result is not, 2 for wrong usage or "
    "bad input, 3 for an internal error, 130 after Ctrl-C, 141 if the reader of the output closed the pipe.",
)
@click.version_option(dpassay.__version__, prog_name="dpassay")
def cli() -> None:
    """Test claims of differential privacy: verify theorems, hunt for counterexamples, assay libraries."""


for command in (assay, check, experiment, hunt, init, list_command, report, show, trace, verify):
    cli.add_command(command)


@cli.command()
def schema() -> None:
    """Print the JSON Schema of the records that the commands print with --json."""
    from dpassay.properties.contract import json_schemas

    click.echo(json.dumps(json_schemas(), indent=2))


if __name__ == "__main__":
    sys.exit(main())
