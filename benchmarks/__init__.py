"""Measures discern-server beside its peers: ratios from one run, taken pair by pair, with every answer checked.

``python -m benchmarks`` (or ``nox -s bench``) prints a table and writes ``docs/benchmarks.md``. Servers alternate
batch by batch, because a machine's speed drifts by more than what is measured; a ratio is taken within each round,
and the median over the rounds is what a bar is held against. Warm-up calls are not counted unless a row says so.
"""
