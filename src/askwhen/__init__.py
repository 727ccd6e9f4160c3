"""askwhen learns from streams where labels are costly: it decides for every instance whether to ask for its label.

The public names are listed in ``__init__.pyi``. Each is imported on first use, so that the command line can answer
before numba is loaded.
"""

import lazy_loader

__version__ = "0.2.0"

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
