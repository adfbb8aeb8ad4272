"""The project file: ``discern.toml``."""
