"""``python -m runner.audit``: defects of papers and released code, see `runner.tools.audit.audit_command`."""

import sys

from runner.tools.audit.audit_command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
