"""Steps of a kernel that are tried before chains run with it."""
