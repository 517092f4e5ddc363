"""Instances of the SWE-bench family: their tests tell the fix from the base commit, or not."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from sandbox.model import yaml_tree
from sandbox.model.imported import Imported
from sandbox.model.run_folder import write_whole
from sandbox.run.imports import listed_tests
from sandbox.run.imports.listed_tests import Listed
from sandbox.run.imports.workshop import Tried, Workshop, own_faults
from sandbox.tasks import library
from sandbox.tasks.imports import swebench
from sandbox.tasks.imports.instances import Instance
from sandbox.tasks.imports.swebench import Options

TESTS = "tests.yaml"


@dataclass(frozen=True, slots=True)
class InstanceImporter:
    """Makes tasks of instances."""

    workshop: Workshop
    options: Options

    def take(self, instance: Instance) -> Imported:
        """Make a task of one; raises as `Workshop.make` does."""
        about = Imported(
            instance=instance.instance_id,
            task=f"{instance.name}/{swebench.NAME}",
            outcome="refused",
        )
        with own_faults(about) as told:
            digest = hashlib.sha256(instance.model_dump_json().encode()).hexdigest()
            source = f"swebench {instance.instance_id} {digest}"
            return self.workshop.make(about, source, lambda folder: self._tried(instance, folder))
        return about.model_copy(update=told)

    def _tried(self, instance: Instance, folder: Path) -> Tried:
        """Write a task, try it, give it the ids of its tests, and have it judged."""
        shop = self.workshop
        written = swebench.write(instance, self.options, folder, shop.sources, shop.tell)
        loaded = library.load_at(written.folder)
        image = shop.images.ensure(loaded, shop.tell)
        listed = Listed(instance.fail_to_pass, instance.pass_to_pass)
        found = listed_tests.tried(loaded, image, listed, (shop.engine, shop.store), shop.tell)
        notes = (*written.notes, *found.notes)
        if found.problems:
            return Tried(found.problems, notes)
        text = yaml_tree.text(found.tests.model_dump(mode="json"))
        write_whole(written.folder / TESTS, text.encode())
        return Tried(shop.judged(library.load_at(written.folder), image).problems, notes)
