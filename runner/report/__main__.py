"""``python -m runner.report``: the HTML report, see `runner.site.report_command`."""

import sys

from runner.site.report_command import main

if __name__ == "__main__":
    sys.exit(main())
