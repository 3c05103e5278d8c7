"""``python -m tests.golden.compare [--only PATTERN] [--permanent]``: prints what is not as recorded.

The exit status is 1 if there is any.
"""

import sys

from tests.golden.record import main

if __name__ == "__main__":
    sys.exit(main(comparing=True))
