"""The verbs of ``discern``: cores that take plain values and return a `DiscernResult`."""
