"""JSON Schema alone: dialects, normalising to 2020-12, references, bounds, validating."""
