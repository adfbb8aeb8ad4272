"""One HTTP call to the API behind a tool: binding, credentials, retries, limits."""
