"""Runners of cases and corpora that lie outside of this repository."""
