"""``python -m reportgen`` and the ``reportgen`` command."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from reportgen.cli import cli  # noqa: PLC0415 - a worker process imports this module, not the command line

    cli(prog_name="reportgen")


if __name__ == "__main__":
    main()
