"""The verbs: for each, a function that does it and returns a `discern_server.DiscernResult`.

A core takes plain values (the project's folder, flags), prints nothing and exits nothing, so that the
command line, ``--json`` and an MCP tool render one and the same answer.
"""
