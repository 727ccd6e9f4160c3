"""The field: methods of several packages on many streams, with few labels that may come late.

``../field_table.py`` is the command. ``methods`` has one file for each package, ``streams`` one for each kind of
stream; both are searched for what they offer, so that adding a file adds a method or a stream.
"""
