"""What the service does, as functions: they know neither HTTP nor SQL. Each returns only what is committed."""
