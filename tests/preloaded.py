"""Imported in a process that others are forked from: what a service does at every start is done once.

A child of it makes its own application, but needs no second one for the description of the calls, and imports nothing.
"""

import gc

from askwhen.service.http.app import create_app
from askwhen.service.http.options import Options

create_app(None, Options())
gc.collect()
gc.freeze()  # else the first collection in a child would copy every page of what it shares
