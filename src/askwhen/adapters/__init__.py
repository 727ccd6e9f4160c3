"""askwhen in other libraries' words."""
