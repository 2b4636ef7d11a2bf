"""The ways in which people write objects: each makes one, and changes it later."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, NamedTuple

from applier.ref import Kind, Manifest

from .world import LiveCluster

Write = Callable[[LiveCluster, Manifest, Path], Awaitable[None]]


class Way(NamedTuple):
    """How somebody makes an object, and how they change it: each gets all of what it is to say."""

    make: Write
    change: Write


def kubectl(*arguments: str) -> Write:
    """A command of kubectl that reads a manifest."""

    async def write(world: LiveCluster, manifest: Manifest, _: Path) -> None:
        await world.kubectl(*arguments, "-f", "-", input=manifest)

    return write


async def patch(world: LiveCluster, manifest: Manifest, _: Path) -> None:
    change = json.dumps({"spec": manifest["spec"]})
    await world.kubectl("patch", _resource(manifest), manifest["metadata"]["name"], "--type=merge", "-p", change)


async def edit(world: LiveCluster, manifest: Manifest, folder: Path) -> None:
    """What somebody does in an editor, which here is a program that puts the new spec into the file that it is given."""
    new, script = folder / "spec.json", folder / "editor.py"
    new.write_text(json.dumps(manifest["spec"]))
    script.write_text(f"import json, sys\none = json.load(open(sys.argv[1]))\none['spec'] = json.load(open({str(new)!r}))\n")
    script.write_text(script.read_text() + "json.dump(one, open(sys.argv[1], 'w'))\n")
    command = [world.plane.programs.path("kubectl"), "-n", world.namespace, "edit", _resource(manifest), manifest["metadata"]["name"]]
    environment = {**os.environ, "KUBECONFIG": str(world.plane.kubeconfig), "KUBE_EDITOR": f"python3 {script}"}
    await _run([*command, "-o", "json"], environment)


def helm(program: str) -> Way:
    """Helm's releases, one for each object."""

    async def release(world: LiveCluster, manifest: Manifest, folder: Path) -> None:
        name = manifest["metadata"]["name"]
        chart = folder / name
        (chart / "templates").mkdir(parents=True, exist_ok=True)
        (chart / "Chart.yaml").write_text(json.dumps({"apiVersion": "v2", "name": name, "version": "1.0.0"}))
        (chart / "templates" / "object.yaml").write_text(json.dumps(manifest))
        environment = {**os.environ, "KUBECONFIG": str(world.plane.kubeconfig), "HELM_CACHE_HOME": str(folder / "helm")}
        await _run([program, "upgrade", "--install", name, str(chart), "-n", world.namespace], environment)

    return Way(release, release)


async def post(world: LiveCluster, manifest: Manifest, _: Path) -> None:
    """What a client in Go creates: with a value in each field that has no `omitempty`."""
    as_marshalled = {**manifest, "metadata": {**manifest["metadata"], "creationTimestamp": None}, "status": {}}
    await asyncio.to_thread(world.plane.request, "POST", await _path(world, manifest), as_marshalled, agent="manager/v1")


async def update(world: LiveCluster, manifest: Manifest, _: Path) -> None:
    """What it updates: all that it has read, with a new spec, again and again until nobody was quicker."""
    path = f"{await _path(world, manifest)}/{manifest['metadata']['name']}"

    async def is_done() -> bool:
        live = await asyncio.to_thread(world.plane.request, "GET", path)
        await asyncio.to_thread(world.plane.request, "PUT", path, {**live, "spec": manifest["spec"]}, agent="manager/v1")
        return True

    await world.until(is_done, True)


WAYS = {
    "client-side": Way(kubectl("apply"), kubectl("apply")),
    "server-side": Way(kubectl("apply", "--server-side"), kubectl("apply", "--server-side")),
    "argo": Way(*[kubectl("apply", "--server-side", "--force-conflicts", "--field-manager=argocd-controller")] * 2),
    "replaced": Way(kubectl("create", "--save-config"), kubectl("replace", "--save-config")),
    "edited": Way(kubectl("create"), edit),
    "patched": Way(kubectl("create"), patch),
    "go-client": Way(post, update),
}
"""All but Helm, whose program may not be there."""


def _resource(manifest: Manifest) -> str:
    return f"{manifest['kind'].lower()}.{Kind.of(manifest).group}"


async def _path(world: LiveCluster, manifest: Manifest) -> str:
    return (await world.cluster.resource(Kind.of(manifest))).path(world.namespace)


async def _run(command: list[Any], environment: dict[str, str]) -> None:
    run = subprocess.run
    ended = await asyncio.to_thread(run, command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 0, ended.stderr
