"""Which tasks a person means."""

from pathlib import Path

import pytest

from sandbox.model.errors import UsageError
from sandbox.tasks import library
from sandbox.tasks.choice import chosen, names_one
from sandbox.tasks.suites import suite
from tests import ROOT

SUITE = ROOT / "suites/standard.yaml"


def ids(*words: str, facets: tuple[str, ...] = (), levels: tuple[str, ...] = ()) -> list[str]:
    return [task.task.id for task in chosen(words, facets, levels)]


def test_names_patterns_and_all_of_them() -> None:
    assert ids("qs/guard-once", "qs/*") == ["qs/guard-once"]
    assert ids("all") == library.names()
    assert ids("*/*-approval") == ["minimist/install-with-approval"]
    assert ids("all", facets=("hooks_policy", "tool_discovery")) == [
        "inflection/house-terms",
        "qs/guard-once",
    ]


def test_tags_and_patterns_over_tags() -> None:
    tagged = [name for name in library.names() if "hooks" in library.load(name).task.tags]
    assert tagged
    assert ids("tag:hooks") == tagged
    assert set(tagged) <= set(ids("tag:hook*"))


def test_one_task_is_named_by_its_name_alone() -> None:
    for word in ("qs/guard-once", "qs/guard-once+decoy-tools.2@7"):
        assert names_one([word])
    for words in (["qs/*"], ["all"], ["tag:hooks"], [str(SUITE)], ["one.txt"], ["a/b", "a/c"]):
        assert not names_one(words), words
    assert not names_one(["qs/guard-once"], ["L3"])


@pytest.mark.slow
def test_a_text_file_of_words(tmp_path: Path) -> None:
    listed = tmp_path / "tasks.txt"
    listed.write_text("# mine\nqs/*  # all of them\n\nhumanize/file-sizes\nqs/guard-once\n")
    assert ids(str(listed)) == ["qs/guard-once", "humanize/file-sizes"]
    listed.write_text(f"{SUITE}\n")
    assert ids(str(listed), levels=("L3",)) == ids(str(SUITE), levels=("L3",))
    for text, told in (("# none\n", "names no task"), ("a\nb.txt\n", "tasks.txt:2: a list does")):
        listed.write_text(text)
        with pytest.raises(UsageError) as caught:
            ids(str(listed))
        assert told in caught.value.message


@pytest.mark.slow
def test_a_suites_file_by_facet_and_level() -> None:
    pins = suite.read(SUITE).variants
    found = ids(str(SUITE), facets=("permission",), levels=("L3", "L6"))
    wanted = [
        pin.variant for pin in pins if pin.facet == "permission" and pin.level in ("L3", "L6")
    ]
    assert found
    assert found == wanted


@pytest.mark.slow
def test_a_level_of_a_task_means_its_variants_in_the_standard_suite() -> None:
    assert ids("all", levels=("L4",)) == ids(str(SUITE), levels=("L4",))
    found = ids("qs/*", levels=("L4", "L5"))
    assert found
    assert all(each.startswith("qs/guard-once+") for each in found)
    assert found == [each for each in ids(str(SUITE), levels=("L4", "L5")) if each in found]


@pytest.mark.parametrize(
    ("words", "facets", "levels", "told"),
    [
        (("nothing/*",), (), (), "like nothing"),
        (("qs/gard-once",), (), (), "guard-once"),
        (("qs/*",), ("permission",), (), "of the facet permission"),
        (("qs/guard-once+scarcity",), (), ("L3",), "has no level"),
        (("qs/*",), ("permission",), ("L3",), "of the facet permission and level L3"),
        ((str(SUITE),), (), ("L9",), "of the level L9"),
        (("tag:nothing",), (), (), "offline-install"),
    ],
)
def test_what_names_nothing_is_told(
    words: tuple[str, ...], facets: tuple[str, ...], levels: tuple[str, ...], told: str
) -> None:
    with pytest.raises(UsageError) as caught:
        ids(*words, facets=facets, levels=levels)
    assert told in f"{caught.value.message} {caught.value.next_step}"


def test_a_variant_that_is_not_as_it_was_pinned_is_not_run(tmp_path: Path) -> None:
    pin = suite.read(SUITE).variants[0]
    other = suite.Suite(variants=(pin.model_copy(update={"digest": "0" * 64}),))
    path = tmp_path / "mine.yaml"
    path.write_text(suite.text(other))
    with pytest.raises(UsageError, match="not what was pinned"):
        ids(str(path))
