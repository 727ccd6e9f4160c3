"""askwhen knows when to ask: it learns from streams where labels are costly.

The public names are those of ``__init__.pyi``. Each is imported when it is first asked for, so that the command line
can answer before the compiler is loaded.
"""

import lazy_loader

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
