"""Online News Popularity: the number of shares of an article (Fernandes et al. 2015)."""

from __future__ import annotations

from typing import Unpack

import numpy as np

from targets.datasets.dataset import DataError
from targets.tabular.preparation import Columns, TableForm, from_zero_to_one, prepared, split_rows
from targets.tabular.reading import located_files, numbers, read_table
from targets.tabular.tabular_data import TabularData

OUTCOME = "shares"
UNREAD = ("url", "timedelta")
"""Columns that identify the article and the time of observation, and are not features."""
NUMERIC = [
    *("n_tokens_title", "n_tokens_content", "n_unique_tokens", "n_non_stop_words"),
    *("n_non_stop_unique_tokens", "num_hrefs", "num_self_hrefs", "num_imgs", "num_videos"),
    *("average_token_length", "num_keywords"),
    *(f"data_channel_is_{channel}" for channel in ("lifestyle", "entertainment", "bus", "socmed", "tech")),
    "data_channel_is_world",
    *(f"kw_{one}_{other}" for other in ("min", "max", "avg") for one in ("min", "max", "avg")),
    *("self_reference_min_shares", "self_reference_max_shares", "self_reference_avg_sharess"),
    *(f"weekday_is_{day}day" for day in ("mon", "tues", "wednes", "thurs", "fri", "satur", "sun")),
    "is_weekend",
    *(f"LDA_0{topic}" for topic in range(5)),
    *("global_subjectivity", "global_sentiment_polarity"),
    *("global_rate_positive_words", "global_rate_negative_words"),
    *("rate_positive_words", "rate_negative_words"),
    *(f"{one}_{sign}_polarity" for sign in ("positive", "negative") for one in ("avg", "min", "max")),
    *("title_subjectivity", "title_sentiment_polarity"),
    *("abs_title_subjectivity", "abs_title_sentiment_polarity"),
]


def load_news(root: str | None, *, file: str, **form: Unpack[TableForm]) -> TabularData:
    """Articles with 58 features each; the outcome is the logarithm of the shares, scaled to [0, 1].

    Args:
        root: folder of all data sets.
        file: path below `root`.
        form: see `targets.tabular.preparation.TableForm`.

    Raises:
        DataError: if the file is missing or damaged, or none of `variants`.
    """
    path = located_files("news", root, {"all": file}, form["published"])["all"]
    frame = read_table(path, [*NUMERIC, OUTCOME], header=True)
    shares = numbers(path, frame, [OUTCOME])[OUTCOME].to_numpy(dtype=np.float64)
    if (shares <= 0).any():
        row = int(np.argmax(shares <= 0)) + 1
        raise DataError(f"'{path}' must hold positive numbers in the column {OUTCOME}, not so in row {row}")
    columns = Columns(numbers(path, frame, NUMERIC), None, from_zero_to_one(np.log(shares)))
    train, test = split_rows(columns, form["split_seed"])
    return prepared("news", str(path), train, test, form["variants"])
