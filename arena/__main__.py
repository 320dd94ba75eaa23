"""The `arena` command, also as `python -m arena`."""

import signal


def main() -> None:
    """Run the command; until it is imported, Ctrl-C ends the process without a word, for nothing has begun."""
    handler = signal.getsignal(signal.SIGINT)
    if handler is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from arena.cli.app import main

    main(handler)


if __name__ == "__main__":
    main()
