"""The service over HTTP: schema in, one use case, schema out."""
