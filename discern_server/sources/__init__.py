"""Where definitions come from: Python callables, OpenAPI documents, folders of JSON Schemas."""
