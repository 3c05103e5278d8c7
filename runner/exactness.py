"""``python -m runner.exactness``: which claims of exactness hold, see `runner.tools.exactness.command`."""

import sys

from runner.execution.command_line import reported
from runner.tools.exactness.command import main

if __name__ == "__main__":
    sys.exit(reported(lambda: main(sys.argv[1:])))
