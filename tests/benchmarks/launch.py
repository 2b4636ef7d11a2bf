"""Runs one command and writes what it cost. A program of its own, and a small one: on Linux a child's peak memory is never less
than its parent's was when it was started."""

import json
import os
import sys
import time


def main() -> None:
    report, output, *command = sys.argv[1:]
    actions = [(os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)]
    start = time.perf_counter()
    child = os.posix_spawn(command[0], command, os.environ, file_actions=actions)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    peak = usage.ru_maxrss / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    cost = {"code": os.waitstatus_to_exitcode(status), "wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "peak": peak}
    with open(report, "w") as stream:
        json.dump(cost, stream)


main()
