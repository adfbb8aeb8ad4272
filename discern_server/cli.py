"""The verbs on the command line: parse, call a core, render, set the exit code."""
