"""The page for people: plain HTML, CSS and ES modules, sign-in by cookie, and what the dashboard and reviews need."""
