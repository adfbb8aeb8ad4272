"""A package in a project's folder."""
