"""What seeds are, without torch: which of them have the streams of earlier versions."""

SEEDED_BY_A_WORD = 4096
"""Seeds below this keep the CPU streams of 32 bits that recorded tables were made with.

A test lists the streams of these seeds: no two are the same. The first pair would have seeds 5,129 and 6,639.
"""
