"""Serves admission of sets in two ways, to be measured side by side: `python -m tests.benchmarks.admission_servers WHICH CORE`.

`ours` are the webhooks that default and validate sets, with what they foretell of edits, and a cluster without objects; `bare` is the least
that the same HTTP library can do: it reads the JSON and lets everything pass. Each prints its port once it is ready, and has one core.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
import sys
from datetime import UTC, datetime

from aiohttp import web

from grove_cli import rulebook
from grove_cli.garbage import collect_in_small_portions, freeze_existing
from grove_compiler.compile import VOCABULARY
from grove_compiler.model.inputs.settings import Settings
from grove_compiler.model.inputs.snapshot import ObjectList
from grove_compiler.step import StepContext
from grove_operator.install.webhook_configurations import DEFAULT_SETS, VALIDATE_SETS
from grove_operator.webhooks import authority
from grove_operator.webhooks.answers import Answers
from grove_operator.webhooks.certificate import ServedCertificate
from grove_operator.webhooks.effects import EffectsPreview
from grove_operator.webhooks.review import Reviewer
from grove_operator.webhooks.server import ReviewServer
from grove_operator.webhooks.share import Share, Traffic

SERVERS = ("bare", "ours")


def the_judge(traffic: Traffic | None = None) -> Reviewer:
    """The judge of all reviews, with the rules that ship."""
    preview = EffectsPreview(Share(traffic=traffic))
    return Reviewer(StepContext(rulebook.read().program(VOCABULARY), Settings()), ObjectList([]), preview)


async def ours(tls: ssl.SSLContext) -> int:
    """Serves as the operator does."""
    collect_in_small_portions()  # as the command does
    traffic = Traffic()
    judge = the_judge(traffic)
    freeze_existing()
    return await ReviewServer(Answers(lambda: judge, traffic=traffic).by_path(), tls, print).start("127.0.0.1", 0)


async def bare(tls: ssl.SSLContext) -> int:
    """Serves a handler that allows everything."""

    async def allow(request: web.Request) -> web.Response:
        review = json.loads(await request.read())
        response = {"uid": review["request"]["uid"], "allowed": True}
        return web.json_response({"apiVersion": review["apiVersion"], "kind": review["kind"], "response": response})

    application = web.Application(client_max_size=16 << 20)
    application.add_routes([web.post(hook.path, allow) for hook in (DEFAULT_SETS, VALIDATE_SETS)])
    runner = web.AppRunner(application, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    port: int = runner.addresses[0][1]
    return port


async def serve(which: str) -> None:
    """Serves until killed."""
    now = datetime.now(UTC)
    pair = authority.sign(authority.make_authority(now), ["localhost"], now)
    shown = ServedCertificate()
    shown.show(pair.certificate, pair.key)
    print(await (ours if which == "ours" else bare)(shown.tls), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    os.sched_setaffinity(0, [int(sys.argv[2])])
    asyncio.run(serve(sys.argv[1]))
