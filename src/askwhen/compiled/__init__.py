"""Compiled steps: how they are made, chosen by type, kept on the disk, and handed the states of a sampler."""
