"""The rules that a tool definition must keep."""
