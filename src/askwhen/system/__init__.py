"""What the machine and the installation give: memory, whole files, threads that take turns, optional dependencies."""
