"""Other tools' languages: what they say of instances is received, kept in the log, and told."""
