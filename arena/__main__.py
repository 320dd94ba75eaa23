"""`python -m arena` does what the console script does."""

from arena.cli.app import main

if __name__ == "__main__":
    main()
