"""Rules and a configuration that turn bad under an operator: what runs stays, it is told, and all goes on once they are mended."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from applier.ref import Manifest, Ref
from applier.testing.virtual_time import in_virtual_time
from grove_cli.errors import Reported
from grove_cli.operator.start_files import recorded_context
from grove_compiler.engine.runtime import cost_budget
from grove_compiler.step import StepContext
from grove_operator.controller.log import OperatorEvents
from grove_operator.controller.operator import settings_of
from tests.cli.running import run
from tests.cli.test_operator import KUBECONFIG
from tests.controller.operator_files import FAILS, MARK, Setting, marks
from tests.controller.whole import WholeOperator, operator_running
from tests.features.compiling import program_with

GOOD = MARK.replace("VALUE", "good")
MENDED = MARK.replace("VALUE", "mended")
LEASE: Manifest = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "leads", "namespace": "system"}}
SET = Ref("grove.io", "PodCliqueSet", "default", "chat")
LONG = "range(100000)"
FOR_EVER = f"rule: mine/slow\ndoc: D.\nvalidate: create\nforEach: {{a: {LONG}, b: {LONG}}}\nassert: a + b >= 0\npath: a\nmessage: b\n"

Spoil = Callable[[Path], object]


def text(content: str | bytes) -> Spoil:
    return lambda path: path.write_bytes(content.encode() if isinstance(content, str) else content)


def gone(path: Path) -> None:
    shutil.rmtree(path.parent)


def a_link_to_nothing(path: Path) -> None:
    path.unlink()
    path.symlink_to("..data/not-there.yaml")


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


BAD_RULES: dict[str, Spoil] = {
    "half a file": text(GOOD[: len(GOOD) * 2 // 3]),
    "half a file that is YAML": text(GOOD[: GOOD.index("do:")]),
    "a list": text("[1, 2]\n"),
    "no text": text(b"\xff\xfe\x00rule"),
    "zeros": text(b"\0" * 4096),
    "brackets in brackets": text("rule: " + "[" * 20_000),
    "a megabyte too much": text("# " + "x" * (1 << 20) + "\n" + GOOD),
    "names that double": text("a: &a [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1 or ''}, *a{n - 1 or ''}]\n" for n in range(1, 40))),
    "a rule twice": text(f"{GOOD}---\n{GOOD}"),
    "an expression too deep": text(GOOD.replace("good", "{{ " + "(" * 500 + "1" + ")" * 500 + " }}")),
    "a template that is not there": text("rule: mine/x\ndoc: D.\ngenerate: nowhere.yaml\n"),
    "a rule that fails for each set": text(FAILS),
    "a rule without an end": text(FOR_EVER),
    "a link to nothing": a_link_to_nothing,
    "a folder in the place of the file": a_folder,
    "no folder": gone,
}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rules that were compiled: the good ones and the mended ones are those of each test."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: Path) -> Setting:
    monkeypatch.setenv("GROVE_CACHE_DIR", str(cache))
    monkeypatch.setattr(cost_budget, "MAX_STEPS", 200_000)  # so that what has no end is quick
    return Setting(tmp_path)


def made(world: WholeOperator) -> dict[tuple[str, str], str]:
    """What the sets own, by kind and name, with its UIDs."""
    objects = world.cluster.store.objects.values()
    owned = [one for one in objects if one["metadata"].get("ownerReferences") and one["metadata"].get("namespace") == "default"]
    return {(one["kind"], one["metadata"]["name"]): one["metadata"]["uid"] for one in owned}


def events(world: WholeOperator) -> list[str]:
    return sorted(one["reason"] for one in world.cluster.store.of("", "Event", "system"))


def recorder(world: WholeOperator) -> OperatorEvents:
    world.cluster.seed({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "system"}}, LEASE)
    return OperatorEvents(world.cluster, "system", ("system", "leads"))


@pytest.mark.parametrize("spoil", BAD_RULES.values(), ids=BAD_RULES)
def test_rules_that_turn_bad_take_nothing_down_are_told_and_mended_ones_count(spoil: Spoil, setting: Setting) -> None:
    @in_virtual_time
    async def scenario() -> None:
        setting.write(GOOD)
        async with operator_running() as world:
            reload = setting.reload(world, recorder(world))
            reload._rules = ""  # the operator of this world began without them
            await reload.check()
            await world.operator.loop.settled()
            before = made(world)
            spoil(setting.rules / "mine.yaml")
            await reload.check()
            await reload.check()
            await world.declare(7, 2)
            after = made(world)
            assert before.items() <= after.items() and len(after) > len(before), "all stays, and a set that grows gets more"
            assert marks(world) == {"good"}
            assert not any(result.held for result in world.results)
            assert (setting.counted, events(world)) == (["taken", "refused"], ["RulesRefused"])
            assert setting.told().count("rules rejected") == 1
            shutil.rmtree(setting.rules, ignore_errors=True)
            setting.rules.mkdir()
            setting.write(MENDED)
            await reload.check()
            await world.operator.loop.settled()
            assert marks(world) == {"mended"}
            assert after == made(world)
            assert (setting.counted, events(world)) == (["taken", "refused", "taken"], ["RulesRefused", "RulesTaken"])

    scenario()


CONFIG = '{"apiVersion": "operator.config.grove.io/v1alpha1", "kind": "OperatorConfiguration", "logFormat": "text"}'
BAD_CONFIGURATIONS: dict[str, Spoil] = {
    "half a file": text(CONFIG[:50]),
    "nothing": text(""),
    "a list": text("[1]"),
    "no text": text(b"\xff\xfe\x00kind"),
    "zeros": text(b"\0" * 4096),
    "brackets in brackets": text("a: " + "[" * 20_000),
    "names that double": text("a: &a [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1 or ''}, *a{n - 1 or ''}]\n" for n in range(1, 40))),
    "another kind": text(CONFIG.replace("OperatorConfiguration", "PodCliqueSet")),
    "two": text(f"{CONFIG}\n---\n{CONFIG}\n"),
    "a field of another type": text(CONFIG.replace('"text"', "{}")),
    "a scheduler that nobody knows": text(CONFIG.replace('"logFormat": "text"', '"scheduler": {"profiles": [{"name": "x y"}]}')),
    "a link to nothing": a_link_to_nothing,
    "a folder in the place of the file": a_folder,
    "no folder": gone,
}


@pytest.mark.parametrize("spoil", BAD_CONFIGURATIONS.values(), ids=BAD_CONFIGURATIONS)
def test_a_configuration_that_turns_bad_takes_nothing_down_is_told_and_so_is_that_it_is_well(spoil: Spoil, setting: Setting) -> None:
    @in_virtual_time
    async def scenario() -> None:
        setting.config = setting.config.parent / "mounted" / "config.yaml"
        setting.config.parent.mkdir()
        setting.config.write_text(CONFIG)
        async with operator_running() as world:
            reload = setting.reload(world, recorder(world))
            before = made(world)
            spoil(setting.config)
            for _ in range(2):
                await reload.check()
            await world.declare(7, 2)
            assert before.items() <= made(world).items() and len(made(world)) > len(before)
            assert not any(result.held for result in world.results)
            assert (setting.told().count("configuration rejected"), events(world)) == (1, ["ConfigurationRefused"])
            shutil.rmtree(setting.config.parent, ignore_errors=True)
            setting.config.parent.mkdir()
            setting.config.write_text(CONFIG)
            for _ in range(2):
                await reload.check()
            assert (setting.told().count("configuration accepted"), events(world)) == (1, ["ConfigurationRefused", "ConfigurationTaken"])

    scenario()


KNOWN_FROM_SETS = ("a rule that fails for each set", "a rule without an end")
KNOWN_FROM_FIELDS = ("a list", "a field of another type", "a scheduler that nobody knows")
RESTARTS = {
    **{f"rules: {name}": ("--rules", spoil) for name, spoil in BAD_RULES.items() if name not in KNOWN_FROM_SETS},
    **{f"configuration: {name}": ("--config", spoil) for name, spoil in BAD_CONFIGURATIONS.items() if name not in KNOWN_FROM_FIELDS},
}


@pytest.mark.parametrize(("option", "spoil"), RESTARTS.values(), ids=RESTARTS)
def test_an_operator_that_starts_with_them_ends_before_it_asks_a_server_and_names_the_file(
    option: str, spoil: Spoil, setting: Setting, tmp_path: Path
) -> None:
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    setting.write(GOOD)
    setting.config = setting.config.parent / "mounted" / "config.yaml"
    setting.config.parent.mkdir()
    setting.config.write_text(CONFIG)
    file = setting.rules / "mine.yaml" if option == "--rules" else setting.config
    spoil(file)
    ended = run("operator", "run", "--kubeconfig", str(tmp_path / "kubeconfig"), option, str(file.parent if option == "--rules" else file))
    assert ended.code in (1, 2)
    assert file.parent.name in ended.err or file.name in ended.err
    assert not any(word in ended.err for word in ("cannot reach", "internal error", "Traceback"))


@pytest.mark.parametrize("name", KNOWN_FROM_FIELDS)
def test_a_start_with_fields_that_are_wrong_ends_with_their_places(name: str, setting: Setting, capsys: pytest.CaptureFixture[str]) -> None:
    BAD_CONFIGURATIONS[name](setting.config)
    with pytest.raises(Reported):
        recorded_context(str(setting.config), [])
    assert f"{setting.config}:1:" in capsys.readouterr().err


def test_an_operator_that_starts_with_a_rule_that_fails_holds_its_sets_and_takes_nothing_down(setting: Setting) -> None:
    """Which sets there are it learns after its start, so nothing can be tried before."""

    @in_virtual_time
    async def scenario() -> None:
        async with operator_running() as world:
            before = made(world)
            world.operator.reload(StepContext(program_with(FAILS), settings_of("1.35")))  # which is what a restart has
            await world.declare(8, 2)
            assert made(world) == before
            pcs = world.cluster.store.objects[SET]
            stalled = [one for one in pcs["status"]["conditions"] if one["type"] == "Stalled"]
            assert [(one["status"], "mine/mark" in one["message"]) for one in stalled] == [("True", True)]

    scenario()
