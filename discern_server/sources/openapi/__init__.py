"""Tool definitions out of API descriptions: Swagger 2.0 and OpenAPI 3.0, 3.1, 3.2."""
