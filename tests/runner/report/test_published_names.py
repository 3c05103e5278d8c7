"""Names in a table that its file of published numbers does not have."""

from __future__ import annotations

import pytest

from runner.execution.errors import UserError
from runner.report.published import published_numbers
from tests.support.tables import shape_from

BLOCK = """
title: Named
caption: For the tests.
published:
  file: pt_dlp.csv
  versions:
    v1: {paper: pt-v1, table: Table 1}
    v2: {paper: pt-v2, table: Table 1}
rows: [{row: A, published: {v1: DMALA, v2: DMALA}}, {row: B, published: {v2: PT-DMALA}}, {row: C}]
columns:
  - {label: eight, where: {target: mog, target.components: 8}, published: MoG c=8}
  - {label: bits, where: {target: bernoulli4}}
metrics:
  - {metric: mmd_exact, name: MMD, direction: min, published: {v1: MMD}}
  - {metric: emc, name: EMC, direction: max}
"""


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (
            ("{v2: PT-DMALA}", "{v2: PT-DMLAA}"),
            "table.rows[1].published.v2 is 'PT-DMLAA'; did you mean 'PT-DMALA'? pt_dlp.csv holds there: AB,",
        ),
        (("{v1: DMALA,", "{v1: PT-DMALA,"), "table.rows[0].published.v1 is 'PT-DMALA'"),
        (("MoG c=8", "MoG 8"), "table.columns[0].published is 'MoG 8'; did you mean 'MoG c=8'?"),
        (("{v1: MMD}", "{v1: MDD}"), "table.metrics[0].published.v1 is 'MDD'; did you mean 'MMD'?"),
    ],
)
def test_a_name_that_the_file_does_not_have_is_refused(edit: tuple[str, str], sentence: str) -> None:
    """Its number would be missing from the table, as one that the paper does not print."""
    assert len(published_numbers(shape_from(BLOCK))) > 0
    with pytest.raises(UserError) as refused:
        published_numbers(shape_from(BLOCK.replace(*edit)))
    assert sentence in str(refused.value)
