"""Who listens to a run besides people."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.suite.journals import read_journal

from .in_memory import MINIMAL, Bench, config_map


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with pytest.MonkeyPatch.context() as patch:
        for name in ("OTEL_SERVICE_NAME", "OTEL_TRACES_EXPORTER"):
            patch.delenv(name, raising=False)
        yield Bench(tmp_path)


def said(path: Path) -> list[str]:
    return [line["event"] for line in read_journal(path) if line["event"] in ("planned", "finished", "ended")]


def test_a_journal_has_the_run_from_plan_to_end(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    ended = bench.run("apply", "--journal", str(path), bench.file(config_map("a")))
    assert (ended, said(path)) == ((0, "configmap/a created\n", ""), ["planned", "finished", "ended"])


def test_a_journal_is_only_ever_appended_to(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    for _ in range(2):
        bench.run("apply", "--journal", str(path), bench.file(config_map("a")))
    assert said(path).count("planned") == 2


def test_a_journal_has_a_plan_that_was_kept_as_well(bench: Bench, tmp_path: Path) -> None:
    plan, path = str(tmp_path / "change.plan"), tmp_path / "runs.jsonl"
    bench.run("plan", bench.file(config_map("a")), "-o", plan)
    bench.run("apply", "--plan", plan, "--journal", str(path))
    assert said(path) == ["planned", "finished", "ended"]


@pytest.mark.parametrize(
    ("command", "finished"),
    [
        (("delete",), ["ConfigMap/shop/a pruned"]),
        (("adopt", "--from", "helm"), ["ConfigMap/shop/a configured"]),
        (("delete", "--applyset", "web", "-n", "shop"), ["ConfigMap/shop/b pruned", "Secret/shop/web pruned"]),
    ],
)
def test_a_journal_has_deletes_and_adoptions_as_well(bench: Bench, tmp_path: Path, command: tuple[str, ...], finished: list[str]) -> None:
    path, of_a_set = tmp_path / "runs.jsonl", "--applyset" in command
    bench.cluster.seed(config_map("a", x="1"), manager="helm")
    bench.run("apply", "--applyset", "web", "-n", "shop", bench.file(config_map("b")))
    assert bench.run(*command, "--journal", str(path), *([] if of_a_set else [bench.file(config_map("a"))])).code == 0
    assert [f"{line['object']} {line['action']}" for line in read_journal(path) if line["event"] == "finished"] == finished
    assert (said(path)[0], said(path)[-1]) == ("planned", "ended")


def test_a_journal_of_a_delete_has_what_goes_with_its_owner(bench: Bench, tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    bench.define_ours()
    bench.run("apply", MINIMAL)
    bench.run("delete", MINIMAL, "--no-wait", "--journal", str(path))
    [planned] = [line["counts"] for line in read_journal(path) if line["event"] == "planned"]
    assert planned == {"pruned": said(path).count("finished")}


def test_no_value_of_a_secret_is_in_a_journal(bench: Bench, tmp_path: Path) -> None:
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "shop"}, "data": {"key": "aHVudGVyMg=="}}
    path = tmp_path / "runs.jsonl"
    bench.run("apply", "--journal", str(path), bench.file(secret))
    assert "aHVudGVyMg" not in path.read_text()


def test_a_journal_that_cannot_be_opened_is_one_line_and_nothing_is_written(bench: Bench, tmp_path: Path) -> None:
    ended = bench.run("apply", "--journal", str(tmp_path), bench.file(config_map("a")))
    assert (ended, bench.writes()) == ((2, "", f"grove: {tmp_path}: is a directory\n"), [])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device")
def test_a_full_disk_is_told_and_hinders_nothing(bench: Bench) -> None:
    ended = bench.run("apply", "--journal", "/dev/full", bench.file(config_map("a")))
    assert (ended.code, ended.out) == (0, "configmap/a created\n")
    assert "lines of the journal could not be written: no space left on device" in ended.err


def test_a_run_is_a_trace_where_telemetry_is_set_up(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    spans, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(spans))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    monkeypatch.setenv("OTEL_SERVICE_NAME", "grove")
    for command in ("apply", "delete"):
        assert bench.run(command, bench.file(config_map("a"))).code == 0
    names = {"apply", "wave 0", "created ConfigMap", "delete", "pruned ConfigMap"}
    assert {span.name for span in spans.get_finished_spans()} == names


def test_telemetry_that_is_set_up_and_not_installed_is_no_trouble(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "grove")
    monkeypatch.delitem(sys.modules, "applier.observability.traces", raising=False)
    monkeypatch.setitem(sys.modules, "opentelemetry", None)
    assert bench.run("apply", bench.file(config_map("a"))) == (0, "configmap/a created\n", "")


def test_telemetry_is_not_even_loaded_without_being_set_up(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "applier.observability.traces", raising=False)
    bench.run("apply", bench.file(config_map("a")))
    assert "applier.observability.traces" not in sys.modules
