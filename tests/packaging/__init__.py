"""The wheel and the sdist, as somebody gets them who installs askwhen."""
