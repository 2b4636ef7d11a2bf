"""Plans carried out on a cluster."""

from applier.execute.concurrency import Concurrency
from applier.execute.executor import STOPPED, execute
from applier.execute.interrupt import ended_by_interrupt
from applier.execute.patience import Patience, Stop

__all__ = ["STOPPED", "Concurrency", "Patience", "Stop", "ended_by_interrupt", "execute"]
