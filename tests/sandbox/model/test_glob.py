"""Globs: what matches, what is refused, and that no glob takes long."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.model.glob import Globs, check
from sandbox.model.path_text import text


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        ("a.py", ["a.py"], ["aXpy", "x/a.py", "a.py/x", "a.pyc"]),
        ("*.py", ["a.py", ".py", "x y.py", "a\n.py"], ["x/a.py", "a.py/b"]),
        ("*", ["a", ".hidden"], ["", "a/b"]),
        ("**", ["a", "a/b", "a/b/c"], [""]),
        ("docs/**", ["docs/a", "docs/a/b"], ["docs", "docs2/a", "x/docs/a"]),
        ("**/a.py", ["a.py", "x/a.py", "x/y/a.py"], ["xa.py", "a.py/x"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/bb", "a/x/bb"]),
        ("**/a/**", ["a/x", "y/a/x", "y/a/x/a/z"], ["a", "y/a", "ya/x"]),
        ("**/a/**/b/*.c", ["a/b/x.c", "q/a/a/b/b/x.c"], ["a/x.c", "b/a/x.c"]),
        ("a/**/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab"]),
        ("/etc/*.conf", ["/etc/a.conf"], ["etc/a.conf", "/etc/a/b.conf"]),
        ("/**", ["/a", "/a/b"], ["a"]),
        ("a?c", ["abc", "aéc"], ["ac", "a/c", "abbc"]),
        ("[ab]*[!0-9]", ["ax", "b1x"], ["cx", "a1", "a/"]),
        ("[*]", ["*"], ["a"]),
        ("[]]x", ["]x"], ["x"]),
        ("a[b", ["a[b"], ["ab"]),
        ("a\\b", ["a\\\\b"], ["ab"]),
        ("x*y*z", ["xyz", "xaybz", "xyyzz"], ["xzy", "xyzq", "x/yz"]),
        ("*a*", ["a", "bab"], ["b", "b/a"]),
    ],
)
def test_matches(pattern: str, matching: list[str], others: list[str]) -> None:
    globs = Globs([pattern])
    assert [path for path in matching if not globs.match(path)] == []
    assert [path for path in others if globs.match(path)] == []


def test_a_byte_that_is_no_text_is_one_character() -> None:
    name = text(b"a\xffb")
    assert Globs(["a?b"]).match(name)
    assert Globs(["a\\xffb"]).match(name)
    assert not Globs(["*x*"]).match(name)


def test_no_globs_match_nothing() -> None:
    assert not Globs([]).match("a")
    assert not Globs([]).match("")


@pytest.mark.parametrize(
    "pattern", ["", "a//b", "a/", "./a", "../a", "/", "a**", "x/**.py", "[z-a]"]
)
def test_what_is_no_glob_is_refused_by_name(pattern: str) -> None:
    with pytest.raises(ValueError, match="glob"):
        check(pattern)


@pytest.mark.parametrize("pattern", ["*a" * 200 + "*b", "**/" * 200 + "b", "**/*a/" * 100 + "b"])
def test_hostile_globs_end(pattern: str) -> None:
    assert not Globs([pattern]).match("a" * 4000)
    assert not Globs([pattern]).match("a/" * 2000 + "a")


NAMES = st.text("ab*?[!]-", min_size=1, max_size=5).filter(lambda name: "**" not in name)
SIMPLE = st.lists(st.sampled_from(["**", "*", "a", "b", "a*", "*b", "?", "a*b*"]), min_size=1)


def reference(names: list[str]) -> str:
    """The plain, backtracking translation."""
    expression = ""
    for index, name in enumerate(names):
        last = index == len(names) - 1
        if name == "**":
            expression += r"[^/]+(?:/[^/]+)*" if last else r"(?:[^/]+/)*"
            continue
        plain = name.replace("*", "[^/]*").replace("?", "[^/]")
        expression += f"(?=[^/]){plain}" + ("" if last else "/")
    return expression


@settings(deadline=None)
@given(
    SIMPLE.filter(lambda names: len(names) < 7),
    st.lists(st.text("ab", min_size=1, max_size=3), min_size=1, max_size=6),
)
def test_agrees_with_the_plain_translation(names: list[str], path: list[str]) -> None:
    expected = re.fullmatch(reference(names), "/".join(path)) is not None
    assert Globs(["/".join(names)]).match("/".join(path)) == expected


@settings(deadline=None)
@given(st.binary(min_size=1).filter(lambda name: b"\0" not in name and name[0] != ord("/")))
def test_a_quoted_path_matches_itself(name: bytes) -> None:
    path = text(name)
    quoted = re.sub(r"([*?\[])", r"[\1]", path)
    if {"", ".", ".."} & set(path.split("/")):
        return
    assert Globs([quoted]).match(path)
