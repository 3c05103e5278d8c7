"""``python -m runner.exactness``: are the samplers exact; see `runner.tools.exactness.exactness_command`."""

import sys

from runner.tools.exactness.exactness_command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
