"""Foreign instances made into tasks, and kept where they hold: written, built, tried, judged."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sandbox.container.engines.base import Engine
from sandbox.model import yaml_tree
from sandbox.model.errors import (
    DocumentError,
    EvidenceError,
    ImageError,
    RepositoryError,
    SourceError,
    UsageError,
)
from sandbox.model.imported import Imported, Outcome
from sandbox.model.run_folder import write_whole
from sandbox.model.store import Store
from sandbox.run import imported_tests
from sandbox.run.imported_tests import Listed
from sandbox.tasks import library
from sandbox.tasks.images import Images
from sandbox.tasks.imports import swebench
from sandbox.tasks.imports.instances import Instance
from sandbox.tasks.imports.swebench import Options, Written
from sandbox.tasks.sources import Sources

TESTS = "tests.yaml"
OF_ITSELF = (DocumentError, EvidenceError, ImageError, RepositoryError, SourceError, UsageError)
"""What goes wrong with one instance and tells nothing of the next."""


@dataclass(frozen=True, slots=True)
class Importer:
    """What all instances of an import share."""

    options: Options
    tasks: Path
    """Where tasks go."""
    sources: Sources
    images: Images
    engine: Engine
    store: Store
    tell: Callable[[str], None]

    def take(self, instance: Instance) -> Imported:
        """Make a task of an instance; of one that does not hold here nothing is left.

        What is wrong with it is in what comes back; EngineError and StoreError are raised, since
        they are not its own.
        """
        about = partial(
            Imported, instance=instance.instance_id, task=f"{instance.name}/{swebench.NAME}"
        )
        if (self.tasks / instance.name).exists():
            return about(outcome="there already")
        written: Written | None = None
        kept = False
        try:
            written = swebench.write(instance, self.options, self.tasks, self.sources, self.tell)
            problems, notes = self._tried(instance, written)
            kept = not problems
            notes = (*written.notes, *notes)
            outcome: Outcome = "refused" if problems else "imported"
            return about(outcome=outcome, problems=problems, notes=notes)
        except OF_ITSELF as error:
            said = " ".join(filter(None, (error.message, error.next_step)))
            return about(outcome="refused", problems=(said,))
        finally:
            if written is not None and not kept:
                shutil.rmtree(written.folder.parent, ignore_errors=True)

    def _tried(
        self, instance: Instance, written: Written
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Try a task, give it the ids of its tests, and have it judged; problems and notes."""
        loaded = library.load(written.task)
        image = self.images.ensure(loaded, self.tell)
        listed = Listed(instance.fail_to_pass, instance.pass_to_pass)
        found = imported_tests.tried(loaded, image, listed, (self.engine, self.store), self.tell)
        if found.problems:
            return found.problems, found.notes
        text = yaml_tree.text(found.tests.model_dump(mode="json"))
        write_whole(written.folder / TESTS, text.encode())
        self.tell("running its oracle and an agent that does nothing")
        loaded = library.load(written.task)
        ends = imported_tests.judged(loaded, image, self.engine, self.store)
        return tuple(f"{agent}: {said}" for agent, said in ends), found.notes
