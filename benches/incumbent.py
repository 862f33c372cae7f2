"""Materializes Parquet manifests with NeMo Curator's own reader and writer stages.

    incumbent.py -o OUTPUT [--jobs N] MANIFEST...

One task for one manifest, as its file partitioning does with a file a task: the reader stage
reads the manifest, the writer stage materializes the batch and writes it (snappy, one shard a
task). Its scheduler is left out, and with it the packages it needs: they are replaced by empty
modules, so that nothing but the work is timed. `--jobs N` spreads the tasks over N processes,
which are forked after the imports: the time to import is paid once. Without arguments only the
imports are done.
"""

import argparse
import importlib.abc
import importlib.machinery
import multiprocessing
import sys
import types
from pathlib import Path

# Cluster start-up and scheduling: imported by the package's modules, used by none of those below.
STUBBED = ("cosmos_xenna", "ray")


class Empty(types.ModuleType):
    """A package in which every name is a class that takes anything and does nothing."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda self, *args, **options: None})


class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Asked after all other finders: a package that is installed is not replaced."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in STUBBED:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        return Empty(spec.name)

    def exec_module(self, module):
        pass


sys.meta_path.append(Stubs())

from loguru import logger  # noqa: E402
from nemo_curator.stages.interleaved.io.readers.parquet import InterleavedParquetReaderStage  # noqa: E402
from nemo_curator.stages.interleaved.io.writers.tabular import InterleavedParquetWriterStage  # noqa: E402
from nemo_curator.tasks import FileGroupTask  # noqa: E402


def materialize(task):
    """Reads one manifest and writes one shard into the folder `output`."""
    manifest, output = task
    group = FileGroupTask(dataset_name="bench", data=[manifest], _metadata={"source_files": [manifest]})
    batches = InterleavedParquetReaderStage().process(group)
    writer = InterleavedParquetWriterStage(path=output)
    for batch in batches if isinstance(batches, list) else [batches]:
        writer.process(batch)


def main():
    if len(sys.argv) == 1:
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("manifests", nargs="*")
    options = parser.parse_args()
    logger.remove()
    logger.add(sys.stderr, level="WARNING")
    Path(options.output).mkdir(parents=True, exist_ok=True)
    tasks = [(manifest, options.output) for manifest in options.manifests]
    if options.jobs == 1:
        for task in tasks:
            materialize(task)
    else:
        with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
            for _ in pool.imap_unordered(materialize, tasks):
                pass


if __name__ == "__main__":
    main()
