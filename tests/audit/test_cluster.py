"""An audit on a Dask cluster: a scheduler and workers as processes of this machine, one of them killed."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from service.audit import RefusedAudit
from service.audit.runner import audit
from service.keys import new_keys, read_keys
from service.registry import load_rulesets
from service.rounds import settle_request
from tests.api.servers import PATIENCE, ROOT, wait_until
from tests.audit.archive import archive, line, requests, results, run, write
from tests.support import rulesets

distributed = pytest.importorskip("distributed")

SIZE: Final = 20_000
AUDIT: Final = """\
import json, sys
from pathlib import Path
from service.audit import runner
from service.keys import configured_keys
from service.registry import configured_rulesets
names, output, scheduler, size = json.loads(sys.argv[1])
keys = configured_keys().verifying
runner.audit(names, configured_rulesets(), keys, output=Path(output), scheduler=scheduler, size=size)
"""


@contextmanager
def process(
    folder: Path, *command: str, cwd: Path = ROOT, environment: Mapping[str, str] = MappingProxyType({})
) -> Iterator[subprocess.Popen[bytes]]:
    """A Python program for as long as it is needed; what it writes goes to ``folder/log``."""
    folder.mkdir()
    env = {**os.environ, **environment}
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen([sys.executable, *command], cwd=cwd, env=env, stdout=log, stderr=log) as running,
    ):
        try:
            yield running
        finally:
            running.kill()


class Cluster:
    """A scheduler, and workers as they are asked for."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        file = folder / "scheduler.json"
        command = ("-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")
        options = ("--no-dashboard", "--no-jupyter", "--scheduler-file", str(file))
        self.scheduler = stack.enter_context(process(folder / "scheduler", *command, *options))
        wait_until(lambda: file.exists() and bool(file.read_bytes()))
        self.address: str = json.loads(file.read_bytes())["address"]

    def worker(self, name: str, cwd: Path = ROOT) -> subprocess.Popen[bytes]:
        """A worker of one thread, without anybody to start it again."""
        folder = self._folder / name
        command = ("-m", "distributed.cli.dask_worker", self.address, "--name", name, "--nthreads", "1")
        options = ("--no-nanny", "--no-dashboard", "--host", "127.0.0.1", "--local-directory", str(folder))
        return self._stack.enter_context(process(folder, *command, *options, cwd=cwd))


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(tmp_path, stack)


def test_a_worker_killed_midway_changes_nothing(cluster: Cluster, tmp_path: Path) -> None:
    # The rulesets and the keys are the client's, and no worker has them.
    folder, keys = tmp_path / "rulesets", new_keys()
    folder.mkdir()
    rulesets.write(folder, rulesets.changed(rulesets.document("casino-1"), {"id": "house-1"}))
    registry = load_rulesets(folder)
    at_home = [request._replace(ruleset="house-1") for request in requests() if request.ruleset == "casino-1"]
    lines = archive() + [line(settle_request(request, registry)) for request in at_home]
    names = [write(tmp_path / "a.ndjson", lines[:120]), write(tmp_path / "b.ndjson", lines[120:])]
    audit(names, registry, read_keys(keys).verifying, output=tmp_path / "local")
    arguments = json.dumps([names, str(tmp_path / "out"), cluster.address, SIZE])
    environment = {"RULESETS_DIR": str(folder), "KEYS": json.dumps(keys)}

    stopped = cluster.worker("stopped")
    with distributed.Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(1, timeout=PATIENCE)
        (address,) = client.scheduler_info()["workers"]
        os.kill(stopped.pid, signal.SIGSTOP)
        cluster.worker("other")
        client.wait_for_workers(2, timeout=PATIENCE)
        with process(tmp_path / "audit", "-c", AUDIT, arguments, environment=environment) as running:
            # The stopped worker has chunks that it will never answer, so the audit can't be over.
            wait_until(lambda: bool(client.processing()[address]))
            assert running.poll() is None
            stopped.kill()
            assert running.wait(PATIENCE) == 0, (tmp_path / "audit" / "log").read_text()
        assert address not in client.scheduler_info()["workers"]

    assert results(tmp_path / "out") == results(tmp_path / "local")
    summary = json.loads(results(tmp_path / "out")["summary.json"])
    records = [one for one in lines if one.strip()]
    assert summary["total"]["rounds"] + summary["total"]["damaged"] == len(records)
    assert summary["rulesets"]["house-1"]["equal"] == len(at_home) > 20
    assert summary["total"]["unknown-key"] > 10


def test_a_scheduler_that_is_lost_is_told_and_the_audit_goes_on_without(
    cluster: Cluster, tmp_path: Path
) -> None:
    name = write(tmp_path / "a.ndjson", archive())
    run(name, output=tmp_path / "whole")
    arguments = json.dumps([[name], str(tmp_path / "out"), cluster.address, SIZE])
    worker = cluster.worker("stopped")
    with ExitStack() as stack:
        with distributed.Client(cluster.address, set_as_default=False) as client:
            client.wait_for_workers(1, timeout=PATIENCE)
            (address,) = client.scheduler_info()["workers"]
            os.kill(worker.pid, signal.SIGSTOP)
            running = stack.enter_context(process(tmp_path / "audit", "-c", AUDIT, arguments))
            wait_until(lambda: bool(client.processing()[address]))
        cluster.scheduler.kill()
        assert running.wait(PATIENCE) == 1
    assert f"RefusedAudit: the cluster at {cluster.address}" in (tmp_path / "audit" / "log").read_text()
    run(name, output=tmp_path / "out", resume=True)
    assert results(tmp_path / "out") == results(tmp_path / "whole")


def test_a_worker_with_another_engine_is_refused(cluster: Cluster, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(ROOT / "service", other / "service")
    with (other / "service" / "MANIFEST.sha256").open("a") as manifest:
        manifest.write("\n")
    cluster.worker("other-engine", cwd=other)
    name = write(tmp_path / "a.ndjson", archive()[:20])
    with pytest.raises(RefusedAudit, match="but here is"):
        run(name, output=tmp_path / "out", scheduler=cluster.address)


def test_a_worker_without_this_package_is_not_waited_for(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    (other / "service").mkdir(parents=True)
    (other / "service" / "__init__.py").touch()
    cluster.worker("other-package", cwd=other)
    with distributed.Client(cluster.address, set_as_default=False) as client:
        client.wait_for_workers(1, timeout=PATIENCE)
    monkeypatch.setattr("service.audit.cluster.PATIENCE", 2)
    name = write(tmp_path / "a.ndjson", archive()[:20])
    with pytest.raises(RefusedAudit, match="does not do its work"):
        run(name, output=tmp_path / "out", scheduler=cluster.address)


def test_a_cluster_that_is_not_there_is_told(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.audit.cluster.PATIENCE", 1)
    name = write(tmp_path / "a.ndjson", archive()[:20])
    for place, address in enumerate((cluster.address, f"tcp://127.0.0.1:{_free_port()}")):
        with pytest.raises(RefusedAudit, match=address):
            run(name, output=tmp_path / str(place), scheduler=address)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def test_without_the_library_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.audit.find_spec", lambda _: None)
    with pytest.raises(RefusedAudit, match=r"distributed.*pip install '\.\[dask\]'"):
        run(write(tmp_path / "a", []), output=tmp_path / "out", scheduler="tcp://127.0.0.1:1")
