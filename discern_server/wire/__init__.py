"""The probe: a raw JSON-RPC client that reports what a server does on the wire."""
