"""Imported last in a process that others are forked from: what all of them would do first is done once."""

import gc

from askwhen.service.http.app import create_app
from askwhen.service.http.options import Options

create_app(None, Options())  # imports and caches of the framework
gc.collect()
gc.freeze()  # else the first collection in a fork would copy every page of what is shared
