"""What the findings share: messages, a server of the SDK's documented kind, an in-memory connection."""
