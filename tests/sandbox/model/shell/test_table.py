"""The table of programs is sound, and words match as a plain definition says."""

from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase

from hypothesis import given
from hypothesis import strategies as st

from sandbox.model import documents
from sandbox.model.decision import ANY, Words
from sandbox.model.shell.table import SHIPPED, Programs, shipped
from sandbox.rules.policy.words import matches, may_match

TABLE = documents.load(SHIPPED, Programs)
WORD = st.sampled_from(["a", "b", "ab", ""])
GLOBS = st.lists(
    st.one_of(
        st.just((ANY,)), st.lists(st.sampled_from(["a", "*", "a*", "?"]), min_size=1).map(tuple)
    ),
    max_size=5,
)


def nowhere(_: str) -> bool:
    return False


def plainly(globs: Sequence[Words], words: Sequence[str]) -> bool:
    if not globs:
        return not words
    if globs[0] == (ANY,):
        return any(plainly(globs[1:], words[skip:]) for skip in range(len(words) + 1))
    return (
        bool(words)
        and any(fnmatchcase(words[0], glob) for glob in globs[0])
        and plainly(globs[1:], words[1:])
    )


def test_no_name_stands_for_two_things() -> None:
    names = Counter(name for program in TABLE.programs for name in (program.name, *program.names))
    assert [name for name, count in names.items() if count > 1] == []
    for program in TABLE.programs:
        commands = Counter(
            name for command in program.commands for name in (command.name, *command.aliases)
        )
        assert [name for name, count in commands.items() if count > 1] == []


def test_each_program_is_found_by_its_own_name() -> None:
    for program in TABLE.programs:
        assert shipped().find(program.name) == program
    assert shipped().find("no-such-program").name == "no-such-program"
    assert shipped().find("git-push").name == "git"
    assert shipped().find("git-").name == "git-"


@given(GLOBS, st.lists(WORD, max_size=6))
def test_words_match_as_the_definition_says(globs: list[Words], words: list[str]) -> None:
    assert matches(globs, words, nowhere) == plainly(globs, words)


@given(GLOBS, st.lists(WORD, max_size=6), st.integers(0, 6))
def test_what_matches_may_match_when_it_is_cut(
    globs: list[Words], words: list[str], kept: int
) -> None:
    if matches(globs, words, nowhere):
        assert may_match(globs, words[:kept], nowhere)
