"""``python -m runner.verdicts [output_root=DIR]``: a verdict on every published number, from records alone.

Reads DIR/record, writes DIR/record/verdicts, and fills in the numbers of each reading from its table.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from runner.config.output_root import only_output_root
from runner.execution.command_line import OneSentenceParser, called, reporting
from runner.execution.errors import warn

STATUSES = {
    0: "done",
    1: "a record was left out because its files have changed since it was recorded, or a reading has a "
    "number without a source",
}


@reporting
def main(arguments: Sequence[str] | None = None) -> int:
    """The command line."""
    parser = OneSentenceParser(prog=called("runner.verdicts"), description=__doc__)
    parser.statuses = STATUSES
    parser.add_argument("words", nargs="*", metavar="output_root=DIR", help="default: outputs")
    root = only_output_root(parser.parse_args(arguments).words, "Verdicts are made with")

    from runner.verdicts.files import summary, write_ledger
    from runner.verdicts.ledger import ledger
    from runner.verdicts.readings.texts import fill_readings

    made = ledger(root / "record")
    written = write_ledger(made, root / "record" / "verdicts")
    unfounded = fill_readings(root / "record")
    for sentence in [*made.refused, *made.missing, *unfounded]:
        warn(sentence)
    print(summary(made).to_string(index=False))
    print(f"Written to {written[0].parent}")
    return 1 if made.refused or unfounded else 0


if __name__ == "__main__":
    sys.exit(main())
