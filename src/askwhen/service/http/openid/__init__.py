"""Sign-in by an OpenID provider: authorization code with PKCE."""
