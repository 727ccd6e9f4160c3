"""The machine and the installation: memory, files written atomically, locks and forks, optional dependencies."""
