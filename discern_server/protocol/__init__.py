"""The only importer of the SDK: factory, stdio, HTTP, replies."""
