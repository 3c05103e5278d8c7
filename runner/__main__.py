"""``python -m runner``: one run, a sweep, or an experiment."""

import sys

from runner.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
