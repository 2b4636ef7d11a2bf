"""What an answer to an API server costs: `python -m tests.benchmarks.admission [SECONDS]`. Ends with 1 where a goal is missed.

CPU time of a review without HTTPS; then 200 reviews a second over HTTPS, whether they are answered or not, each answer timed from when its
question was due, beside a handler of the same HTTP library that lets everything pass. The server has one core to itself and the asker
another. At last the largest set that an API server takes. On a busy machine only the CPU times tell anything.

No set is asked about twice, and no two cliques are the same, so nothing of a new set is known from others; in an edit 19 of 20 cliques are
as they were.
"""

from __future__ import annotations

import http.client
import json
import ssl
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, overload

from grove_operator.install.webhook_configurations import DEFAULT_SETS, VALIDATE_SETS
from tests.benchmarks.admission_servers import the_judge
from tests.benchmarks.measure import machine
from tests.benchmarks.open_loop import request
from tests.benchmarks.server_load import Loading, conclude, milliseconds, review_table, serving, verdicts
from tests.webhooks.conftest import asked

CLIQUES, VARIABLES = 20, 10
ROUNDS = 400
GOAL = 10.0
"""Milliseconds that 99 of 100 answers take at most."""
RATE, SECONDS = 200, 100
SERVERS, ALLOWED = "tests.benchmarks.admission_servers", b'"allowed": true'
WARM_UP = 1000
"""Questions before the measured ones: as many as it takes until memory is what it stays."""
LARGE = 3_000_000
"""Bytes of the largest object that an API server takes."""
NUMBER = "00000"
"""Stands in a set for its number, as often as something of it is its own."""

Manifest = dict[str, Any]


def workload(variables: int = VARIABLES) -> Manifest:
    """A set of 20 cliques, each with so many variables. No two cliques are the same, nor are those of two sets."""
    cliques = []
    for index in range(CLIQUES):
        env = [{"name": f"OPTION_{number}", "value": f"{NUMBER}-{index}-{number}"} for number in range(variables)]
        pod_spec = {"containers": [{"name": "engine", "image": f"engine-{index}:1.{NUMBER}", "env": env}]}
        cliques.append({"name": f"c{index}", "spec": {"roleName": f"c{index}", "replicas": 2, "podSpec": pod_spec}})
    metadata = {"name": f"chat-{NUMBER}", "namespace": "team"}
    spec = {"replicas": 1, "template": {"cliques": cliques}}
    return {"apiVersion": "grove.io/v1alpha1", "kind": "PodCliqueSet", "metadata": metadata, "spec": spec}


def edited(set: Manifest) -> Manifest:
    """The same set with a new image in one of its cliques."""
    changed: Manifest = json.loads(json.dumps(set))
    changed["spec"]["template"]["cliques"][3]["spec"]["podSpec"]["containers"][0]["image"] = f"engine-3:2.{NUMBER}"
    return changed


CREATE = json.dumps(asked("CREATE", workload())).encode()
EDIT = json.dumps(asked("UPDATE", edited(workload()), workload())).encode()
LOADS = {
    "new sets: validated": [request(VALIDATE_SETS.path, CREATE)],
    "new sets: defaulted, and validated": [request(DEFAULT_SETS.path, CREATE), request(VALIDATE_SETS.path, CREATE)],
    "edits of sets: defaulted, and validated": [request(DEFAULT_SETS.path, EDIT), request(VALIDATE_SETS.path, EDIT)],
}
"""What is asked about each set."""


class Questions(Sequence[bytes]):
    """These requests about one set after the other, so many in all, made when they are sent."""

    def __init__(self, kinds: Sequence[bytes], total: int) -> None:
        self._kinds, self._total = kinds, total

    def __len__(self) -> int:
        return self._total

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        if isinstance(index, slice):
            return [self[each] for each in range(self._total)[index]]
        number, kind = divmod(index, len(self._kinds))
        return self._kinds[kind].replace(NUMBER.encode(), b"%05d" % number)


def large() -> tuple[str, bool]:
    """What becomes of the largest set that an API server takes, in words; and whether it is a clean answer."""
    variables = LARGE // (CLIQUES * len('{"name": "OPTION_1000", "value": "00000-10-1000"}, '))
    body = json.dumps(asked("CREATE", workload(variables))).encode()
    tls = ssl.create_default_context()
    tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
    with serving(SERVERS, "ours") as (port, _):
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=tls)
        began = time.perf_counter()
        connection.request("POST", VALIDATE_SETS.path, body)
        answer = connection.getresponse()
        text = answer.read()
        seconds = time.perf_counter() - began
    response = json.loads(text)["response"] if answer.status == 200 else {}
    verdict = "allowed" if response.get("allowed") else "refused"
    return f"a set of {len(body):,} bytes is {verdict} by an answer {answer.status} after {seconds:.1f} s", "allowed" in response


def main(seconds: float) -> int:
    print(f"{machine()}\n")
    judge = the_judge()
    costs = {
        "validation of a new set": milliseconds(judge.validate, CREATE, ROUNDS),
        "defaults of a new set": milliseconds(judge.default, CREATE, ROUNDS),
        "validation of an edit, and now and then what it does": milliseconds(judge.validate, EDIT, ROUNDS),
    }
    print(review_table(f"20 cliques, {len(CREATE):,} bytes", costs), end="\n\n")
    loading = Loading(SERVERS, RATE, seconds, WARM_UP)
    loads = {what: loading.put("ours", partial(Questions, kinds), ALLOWED) for what, kinds in LOADS.items()}
    beside = {f"bare: {what}": loading.put("bare", partial(Questions, kinds), ALLOWED, seconds / 4) for what, kinds in LOADS.items()}
    print(loading.table(loads | beside), end="\n\n")
    return conclude([*(verdict for what, one in loads.items() for verdict in verdicts(what, one, GOAL)), large()])


if __name__ == "__main__":
    raise SystemExit(main(float(sys.argv[1]) if sys.argv[1:] else SECONDS))
