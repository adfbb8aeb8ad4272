"""The probe: a raw JSON-RPC client that reports what a server does on the wire.

It stands apart from what it probes: no SDK, nothing of `protocol/`, no constant but the literals of
`revisions`. `stdio` and `http` talk to a server, bounded in time and size.
"""
