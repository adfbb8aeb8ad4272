"""The catalog: an immutable, checked table of tool definitions in a deterministic order."""
