"""Two processes: one compiles ahead into an empty cache, one plays what the first has compiled."""

_MISSES = """
from askwhen.engine.round.ahead import play_ahead
from askwhen.engine.round.rounds import ask_round, score_rows, tell_round
print([sum(each.stats.cache_misses.values()) for each in (ask_round, tell_round, play_ahead, score_rows)])
"""
WARM = "import numpy as np, askwhen as aw; aw.warm(aw.paper('PA'), np.zeros((1, 5)))" + _MISSES
PLAY = (
    """
import numpy as np, askwhen as aw
sampler = aw.paper("PA", seed=1)
sampler.tell(sampler.ask(np.ones(3)), 1)
sampler.run(np.eye(3), [1, 1, 1])
sampler.predict(np.eye(3))
"""
    + _MISSES
)
