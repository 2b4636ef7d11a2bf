"""Plans carried out on a cluster."""

from applier.execute.concurrency import Concurrency
from applier.execute.executor import execute
from applier.execute.patience import Patience, Stop

__all__ = ["Concurrency", "Patience", "Stop", "execute"]
