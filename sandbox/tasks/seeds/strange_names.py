"""Names that a project could go by, of which nobody remembers anything.

The same part of two names becomes the same invented word, so that what belongs together is called
alike; short parts stay, and those that `strange_names.yaml` lists, such as `get` and `test`.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sandbox.model import documents
from sandbox.model.base import Record
from sandbox.model.glob import Globs
from sandbox.model.renaming import LEGAL, WORD
from sandbox.tasks.seeds.languages import parsed
from sandbox.tasks.seeds.mined_repository import MinedRepository

FILE = Path(__file__).with_name("strange_names.yaml")
MOST = 250
"""Names that are replaced, beside those that have the project's own name in them."""
SHORTEST = 4
"""Letters of a name, or of a part of one, that is replaced."""
SHORTEST_OWN = 3
"""Letters of a part of the project's own name."""
CONSONANTS, VOWELS, ENDS = "bdfgklmnprstvz", "aeiou", "lmnrsx"
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|_+")


class Choice(Record):
    """What decides about names: `strange_names.yaml`."""

    stay: tuple[str, ...]
    outside: dict[str, tuple[str, ...]]


def choice() -> Choice:
    """Read it. DocumentError."""
    return documents.load(FILE, Choice)


@dataclass(frozen=True, slots=True)
class StrangeNames:
    """Invents words for one repository: the same ones each time."""

    repository: str
    taken: Collection[str]
    """Words that mean something there already, in small letters."""
    stay: Collection[str]

    def of_repository(self) -> str:
        """Invent what the repository is called."""
        return self._word(self.repository)

    def is_its_own(self, name: str) -> bool:
        """Whether a part of the project's own name is in it, wherever else it stands."""
        return any(part in name.lower() for part in self._own)

    def of(self, name: str) -> str:
        """Give the new form of a name; itself where all its parts stay."""
        if self.is_its_own(name):
            parts = "|".join(map(re.escape, self._own))
            return re.sub(parts, lambda found: self._cased(found[0]), name, flags=re.IGNORECASE)
        return "".join(map(self._part, _PARTS.findall(name)))

    @property
    def _own(self) -> list[str]:
        """Split the project's name: `go-semver` is called `semver` in its code."""
        parts = re.split(r"[^a-z0-9]+", self.repository)
        return [part for part in parts if len(part) >= SHORTEST_OWN and part not in self.stay]

    def _part(self, part: str) -> str:
        plain = part.lower()
        if len(plain) < SHORTEST or not plain.isalpha() or plain in self.stay:
            return part
        return self._cased(part)

    def _cased(self, like: str) -> str:
        """Write the word for some letters as they were written."""
        word = self._word(like.lower())
        if like.isupper():
            return word.upper()
        return word if like.islower() else word.capitalize()

    def _word(self, plain: str) -> str:
        """Draw syllables until they make a word that nothing has."""
        number = 0
        while True:
            drawn = int(
                hashlib.sha256(f"{self.repository}/{plain}/{number}".encode()).hexdigest(), 16
            )
            word = ""
            for letters in (CONSONANTS, VOWELS) * (2 + drawn % 2):
                drawn, place = divmod(drawn, len(letters))
                word += letters[place]
            word += ENDS[drawn % len(ENDS)]
            if word not in self.taken:
                return word
            number += 1


def words_of(files: Mapping[str, bytes]) -> Counter[str]:
    """Count in how many files of a release each word stands, paths included."""
    found: Counter[str] = Counter()
    for path, data in files.items():
        text = b"" if b"\0" in data or LEGAL.search(path) else data
        found.update({word.decode() for word in WORD.findall(path.encode() + b"\n" + text)})
    return found


def candidates(mined: MinedRepository, files: Mapping[str, bytes]) -> list[str]:
    """Give names that the project defines, what its seeds and their tests define first.

    Names of modules are among them.
    """
    words = words_of(files)
    seen = [*mined.sources, *mined.tests]
    near = {name for source in seen for name, _ in source.definitions}
    far = {*_defined(mined, files), *_modules(source.path for source in seen)} - near
    order = [*_by_use(near, words), *_by_use(far, words)]
    return [name for name in order if len(name) >= SHORTEST and not name.startswith("__")]


def _by_use(names: Iterable[str], words: Counter[str]) -> list[str]:
    """Put first what stands in most files."""
    return sorted(names, key=lambda name: (-words[name], name))


def _defined(mined: MinedRepository, files: Mapping[str, bytes]) -> Iterator[str]:
    """Yield what other files of code define."""
    tests = Globs(("**/test*/**", "**/test_*", "**/*_test.*", *mined.mining.without))
    for path, data in files.items():
        if not tests.match(path) and (source := parsed(path, data)) is not None:
            yield from (name for name, _ in source.definitions)


def _modules(paths: Iterable[str]) -> Iterator[str]:
    """Yield what files and folders of code are called."""
    for path in map(PurePosixPath, paths):
        yield from (path.stem, *path.parts[:-1])
