"""Estrangement: a repository under names of which nobody remembers anything.

Names are tried in containers, many at once; of those under which upstream's tests do not all pass
the ones that are to blame are found by halves and left as they are.
"""

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from sandbox.container.candidate import Candidate, CandidateFile, lay
from sandbox.container.engines.base import Engine, Session
from sandbox.model.errors import EvidenceError
from sandbox.model.renaming import Renaming
from sandbox.model.session import Command
from sandbox.run.fresh_session import FreshSession
from sandbox.run.run_containers import begin
from sandbox.tasks.drafts import seed_folder
from sandbox.tasks.images import BuiltImage
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.repos.archive import ArchivedFile
from sandbox.tasks.seeds import strange_names
from sandbox.tasks.seeds.mined_repository import MinedRepository
from sandbox.tasks.seeds.strange_names import MOST, StrangeNames

OnLine = Callable[[str], None]
Words = dict[str, str]

_FIND = (
    'f=$(mktemp); cat > "$f"; '
    'grep -rhoIwFf "$f" --include=\'*.*\' -- "$@" 2>/dev/null | sort -u; exit 0'
)
"""Which of the words on standard input stand in some folders."""


def _telling(drawn: Words, known: Collection[str]) -> Words:
    """Leave out what stays as it is, and what would be called as something else is."""
    found: Words = {}
    taken = set(known)
    for name, new in drawn.items():
        if new != name and new not in taken:
            found[name] = new
            taken.add(new)
    return found


@dataclass(frozen=True, slots=True)
class Estranger:
    """Chooses names for a repository and tries them in containers of its bare image."""

    mined: MinedRepository
    files: Sequence[ArchivedFile]
    """The release as upstream wrote it."""
    image: BuiltImage
    engine: Engine
    run: str
    """By which `sandbox gc` knows the containers."""
    on_line: OnLine

    def named(self, passing: frozenset[str]) -> tuple[str, Words]:
        """Give a new name for the repository, and words under which all of `passing` pass.

        EvidenceError where no name can be replaced; raises as `run_tests` does.
        """
        texts = {file.path: file.data for file in self.files}
        choice, known = strange_names.choice(), strange_names.words_of(texts)
        taken = {word.lower() for word in known}
        names = StrangeNames(self.mined.repository.name, taken, frozenset(choice.stay))
        own = [word for word in sorted(known) if names.is_its_own(word)]
        defined = strange_names.candidates(self.mined, texts)
        outside = self._outside(defined, choice.outside.get(self.mined.mining.image, ()))
        others = [name for name in defined if name not in outside and not names.is_its_own(name)]
        drawn = _telling({name: names.of(name) for name in (*own, *others)}, known)
        rest = [name for name in others if name in drawn][:MOST]
        words: Words = {}
        for group in ([name for name in own if name in drawn], rest):
            for some in self._holding(words, {name: drawn[name] for name in group}, passing):
                words.update(some)
        if not words:
            raise EvidenceError(
                f"No name of {self.mined.repository.name} can be another one: its tests fail then,"
                " or code that is not its own has it too.",
                "Take another repository; nothing was written.",
            )
        return names.of_repository(), words

    def _outside(self, names: Sequence[str], folders: Sequence[str]) -> frozenset[str]:
        """Say which names stand in code that is not the project's, as words."""
        if not folders:  # of a toolchain of which nothing is known
            return frozenset()
        task = self.mined.task()
        with begin(self.engine, task, self.image, self.run, bare=True) as session:
            line = " ".join(folders)
            find = Command(
                ("/bin/bash", "-c", f"set -- {line}; {_FIND}"),
                environment={"PATH": "/usr/bin:/bin", "LC_ALL": "C"},
                stdin="\n".join(names).encode(),
            )
            return frozenset(session.run(find).stdout.decode().split())

    def _holding(
        self, words: Mapping[str, str], group: Words, passing: frozenset[str]
    ) -> Iterator[Words]:
        """Yield the parts of a group under which the tests pass, with all that was kept before."""
        kept = dict(words)
        waiting = [group]
        while waiting:
            some = waiting.pop()
            self.on_line(f"{len(kept)} names kept, {sum(map(len, (some, *waiting)))} to try")
            if some and self._pass({**kept, **some}, passing):
                kept.update(some)
                yield some
            elif len(some) > 1:
                each = list(some.items())
                half = len(each) // 2
                waiting += [dict(each[half:]), dict(each[:half])]

    def _pass(self, words: Words, passing: frozenset[str]) -> bool:
        renaming, original = Renaming(words), self.mined.folder
        renamed = seed_folder.under_other_names(original, original.repository.name, words)
        tests = tuple(
            dataclasses.replace(test, path=renaming.text(test.path)) for test in self.mined.tests
        )
        task = dataclasses.replace(self.mined, folder=renamed, tests=tests).task()
        with (
            ThreadPoolExecutor(1) as pool,
            FreshSession(task, lambda: self._renamed(task, renaming), pool, early=False) as fresh,
        ):
            report = fresh.tested(Candidate({}, (), {}))
        return all(report.outcomes.get(renaming.text(test)) == "passed" for test in passing)

    def _renamed(self, task: LoadedTask, renaming: Renaming) -> Session:
        """Begin a container with the project under other names, its tests among them."""
        session = begin(self.engine, task, self.image, self.run, bare=True)
        files = {
            renaming.text(file.path): CandidateFile(
                renaming.data(file.path, file.data), file.executable
            )
            for file in self.files
        }
        gone = sorted({file.path for file in self.files} - files.keys(), reverse=True)
        try:
            lay(Candidate(files, tuple(gone), {}), session, task.worktree)
        except BaseException:
            session.close()
            raise
        return session
