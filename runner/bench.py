"""``python -m runner.bench``: speed and memory of the project, see `runner.tools.bench.bench_command`."""

import sys

from runner.tools.bench.bench_command import main

if __name__ == "__main__":
    sys.exit(main())
