"""What becomes of a worktree, from touches."""

import pytest

from sandbox.model.session import Touch, TouchKind
from sandbox.model.task import Scope
from sandbox.run.facts.baseline import Held, Watched
from sandbox.run.facts.shadows import Shadows
from sandbox.run.facts.worktree import Worktree

ROOT = "/home/agent/x"
FILE, LINK = 0o100644, 0o120777
SCOPE = Scope(
    must=("src/a.py",),
    user=("notes.md",),
    never=("tests/**", "vendor/**"),
    generated=("build/**", "node_modules/**"),
)
WATCHED = Watched(ROOT, (f"{ROOT}/node_modules",), ())


def held(digest: str) -> Held:
    return Held(digest, "file", executable=False, mode=FILE)


BASE = {
    f"{ROOT}/{path}": held("old")
    for path in ("src/a.py", "src/b/c.py", "src/b/d.py", "notes.md", "tests/test_a.py")
} | {f"{ROOT}/node_modules/tape/index.js": held("old")}


def wrote(path: str, digest: str = "new", mode: int = FILE) -> Touch:
    return Touch(TouchKind.FILE, f"{ROOT}/{path}".encode(), mode, digest)


def gone(path: str) -> Touch:
    return Touch(TouchKind.GONE, f"{ROOT}/{path}".encode())


def tree(*named: str) -> Worktree:
    return Worktree(BASE, WATCHED, SCOPE, frozenset(named))


def told(worktree: Worktree, *touches: Touch) -> list[tuple[str, str | None, bool]]:
    return [
        (change.path, change.digest, change.as_at_start)
        for touch in touches
        for change in worktree.take(touch)
    ]


def test_only_another_content_is_a_change() -> None:
    assert told(tree(), wrote("src/a.py", "old")) == []
    assert told(tree(), wrote("src/a.py"), wrote("src/a.py"), wrote("src/a.py", "old")) == [
        ("src/a.py", "new", False),
        ("src/a.py", "old", True),
    ]
    assert told(tree(), wrote("src/a.py", "old", 0o100755)) == [("src/a.py", "old", False)]
    assert told(tree(), wrote("src/a.py", "old", 0o100600)) == []
    assert told(tree(), wrote("src/a.py", "old", LINK)) == [("src/a.py", "old", False)]


def test_what_a_file_has_held_before_is_known_again() -> None:
    worktree = tree()
    touches = [wrote("src/a.py", each) for each in ("made", "old", "made", "other", "old")]
    touches += [wrote("src/new.py", "one"), gone("src/new.py"), wrote("src/new.py", "one")]
    touches += [wrote("big", ""), gone("big"), wrote("big", "")]
    told = [change.again for touch in touches for change in worktree.take(touch)]
    first, second, third = told[:5], told[5:8], told[8:]
    assert first == [False, True, True, False, True]
    assert second == [False, True, True]
    assert third == [False, True, False]


def test_what_cannot_be_read_is_always_a_change() -> None:
    assert told(tree(), wrote("big", ""), wrote("big", "")) == [("big", "", False)] * 2


def test_what_is_gone_takes_all_below_it_along() -> None:
    assert told(tree(), wrote("src/b/new.py"), gone("src/b")) == [
        ("src/b/new.py", "new", False),
        ("src/b/c.py", None, False),
        ("src/b/d.py", None, False),
        ("src/b/new.py", None, True),
    ]
    assert told(tree(), gone("src/nothing")) == []


def test_generated_files_and_caches_are_silent_unless_they_are_named() -> None:
    touches = (wrote("build/x"), wrote("pytest-cache-files-ab/README.md"))
    assert told(tree(), *touches) == []
    assert told(tree("build/x"), *touches) == [("build/x", "new", False)]


def unsound(*touches: Touch) -> tuple[str, ...]:
    worktree = tree()
    before = worktree.moment
    told(worktree, *touches)
    return worktree.unsound_since(before)


def test_what_decides_a_run_of_tests_makes_it_unsound() -> None:
    assert unsound(wrote("src/a.py"), wrote("notes.md"), wrote("vendor/y.py")) == ()
    assert unsound(wrote("tests/test_a.py")) == ("tests/test_a.py",)
    assert unsound(wrote("test/aaa.js"), gone("test/aaa.js")) == ("test/aaa.js",)
    assert unsound(wrote("conftest.py")) == ("conftest.py",)
    assert unsound(wrote("node_modules/tape/index.js")) == ("node_modules/tape/index.js",)
    assert unsound(wrote("node_modules/other/index.js")) == ()
    assert unsound(wrote("node_modules/x.pth")) == ("node_modules/x.pth",)


def test_code_that_is_nobodys_to_change_decides_a_run_of_tests() -> None:
    assert unsound(wrote("src/b/c.py")) == ("src/b/c.py",)
    assert unsound(gone("src/b")) == ("src/b/c.py", "src/b/d.py")
    assert (
        unsound(wrote("README.md"), wrote("repro.py"), wrote("src/scratch.py"), wrote("trace.js"))
        == ()
    )


@pytest.mark.parametrize(
    "path",
    [
        "src/json.py",
        "json/__init__.py",
        "a.cpython-311-x86_64-linux-gnu.so",
        "random/__init__.py",
        "test_a.pyc",
    ],
)
def test_a_file_that_hides_another_decides_a_run_of_tests(path: str) -> None:
    assert unsound(wrote(path)) == (path,)
    assert unsound(wrote(path), gone(path)) == (path,)


def test_python_looks_first_where_it_is_started() -> None:
    worktree = tree()
    moment = worktree.moment
    told(worktree, wrote("docs/pytest.py"), wrote("docs/own.py"), wrote("docs/json.py"))
    told(worktree, gone("docs/json.py"))
    first = worktree.loaded_first(f"{ROOT}/docs", moment)
    assert first == ("docs/json.py",)
    told(worktree, wrote("src/a.py"))  # was there, and hides nothing but itself
    assert worktree.loaded_first(f"{ROOT}/src", moment) == ()
    assert worktree.loaded_first(f"{ROOT}/docs", worktree.moment) == ()
    assert worktree.loaded_first(ROOT, moment) == ()
    for folder, told_of in (("/tmp/f", True), ("/home/agent/y", True), ("/opt/venv", False)):
        assert worktree.loaded_first(folder, moment) == ((folder,) if told_of else ())


@pytest.mark.parametrize(
    ("framework", "hides", "does_not"),
    [
        ("tape", "test/node_modules/any/index.js", ["trace.js", "json.py", "src/a.js", "x.h"]),
        ("node:test", "lib/node_modules/a/b.js", ["lib/index.js", "code.js", "a.py"]),
        ("vitest", "lib/index.mjs", ["lib/index.test.ts", "lib/index.ts.orig", "docs/index.js"]),
        ("vitest", "src/b.ts", ["src/c.ts", "b.ts", "src/b/d.ts", "src/b.md", "lib/indexes.ts"]),
        ("vitest", "src/node_modules/a/b.js", ["node_modules", "src/d.js"]),
        ("make", "src/known.h", ["code.c", "scratch.h", "json.py", "known.c"]),
        ("pytest", "tests/a.py", ["b/json.py", "c.py", "src/b/e.py", "trace.js", "json.txt"]),
    ],
)
def test_only_what_a_runner_would_load_hides_something(
    framework: str, hides: str, does_not: list[str]
) -> None:
    there = ["src/a.py", "src/b/c.py", "known.h", "lib/index.js", "tests/test_a.py"]
    shadows = Shadows(framework, there, ())
    assert [path for path in does_not if shadows.hides(path)] == []
    assert shadows.hides(hides)


def test_a_package_within_one_of_the_runners_decides() -> None:
    base = {**BASE, f"{ROOT}/node_modules/tape/package.json": held("old")}
    worktree = Worktree(base, WATCHED, SCOPE)
    moment = worktree.moment
    told(worktree, wrote("node_modules/new/node_modules/x/index.js"))
    assert worktree.unsound_since(moment) == ()
    told(worktree, wrote("node_modules/tape/node_modules/through/index.js"))
    assert worktree.unsound_since(moment) == ("node_modules/tape/node_modules/through/index.js",)


def test_a_link_may_lead_to_a_folder_of_modules() -> None:
    def link(path: str) -> Touch:
        return wrote(path, "new", LINK)

    assert unsound(link("json")) == ("json",)
    assert unsound(link("json"), gone("json")) == ("json",)
    assert unsound(wrote("json")) == unsound(link("own")) == ()
    worktree = tree()
    moment = worktree.moment
    told(worktree, link("docs/json"), gone("docs/json"))
    assert worktree.loaded_first(f"{ROOT}/docs", moment) == ("docs/json",)
    modules = Shadows("tape", ["test/a.js"], ())
    assert modules.hides("test/node_modules", link=True)
    assert not modules.hides("test/node_modules")


def test_a_plugin_of_the_runners_decides_and_another_package_does_not() -> None:
    watched = Watched(ROOT, ("/opt/venv",), ())
    packages = "/opt/venv/lib/python3.11/site-packages"
    plugin, link = f"{packages}/a-1.dist-info/entry_points.txt", f"{packages}/b-1.DIST-INFO"
    worktree = Worktree(BASE, watched, SCOPE, plugs_in=plugin.__eq__)
    moment = worktree.moment
    for name in ("own.py", "own-1.dist-info/entry_points.txt", "own-1.dist-info/METADATA"):
        told(worktree, Touch(TouchKind.FILE, f"{packages}/{name}".encode(), FILE, "new"))
    assert worktree.unsound_since(moment) == ()
    assert worktree.loaded_first(ROOT, moment) == ()
    told(worktree, Touch(TouchKind.FILE, plugin.encode(), FILE, "new"))
    told(worktree, Touch(TouchKind.FILE, link.encode(), LINK, "new"))
    assert worktree.unsound_since(moment) == (plugin, link)
    told(worktree, Touch(TouchKind.GONE, plugin.encode()), Touch(TouchKind.GONE, link.encode()))
    assert worktree.unsound_since(moment) == (plugin, link)
    assert worktree.unsound_since(worktree.moment) == ()


def test_what_the_environment_holds_can_be_hidden() -> None:
    environment = f"{ROOT}/venv"
    packages = f"{environment}/lib/python3.11/site-packages"
    base = {**BASE, f"{packages}/_pytest/main.py": held("old"), f"{packages}/six.py": held("old")}
    worktree = Worktree(base, Watched(ROOT, (environment,), ()), SCOPE)
    moment = worktree.moment
    told(worktree, wrote("_pytest/config.py"), wrote("six.py"), wrote("main.py"))
    assert worktree.unsound_since(moment) == ("_pytest/config.py", "six.py")


def test_a_program_that_somebody_here_has_put_there_is_foreign() -> None:
    worktree = tree()
    known = f"{ROOT}/tests/test_a.py"
    assert not worktree.is_foreign("/usr/bin/make")
    assert not worktree.is_foreign("/opt/tools/bin/runner")
    assert not worktree.is_foreign(known)
    for path in ("/tmp/first/pytest", "/home/agent/bin/npm", "/dev/shm/x"):
        assert worktree.is_foreign(path)
    assert worktree.is_foreign(f"{ROOT}/tests/other")
    told(worktree, wrote("tests/test_a.py"))
    assert worktree.is_foreign(known)


def test_what_was_put_back_meanwhile_makes_it_unsound_too_and_no_later_run() -> None:
    back = (wrote("tests/test_a.py"), wrote("tests/test_a.py", "old"))
    assert unsound(*back) == ("tests/test_a.py",)
    worktree = tree()
    told(worktree, *back)
    assert worktree.unsound_since(worktree.moment) == ()


def test_what_is_new_beside_tests_and_no_code_decides_nothing() -> None:
    names = ("test.log", "test-results.xml", "tests/out.tap", "tests/test_a.py.bak", "Makefile")
    assert unsound(*map(wrote, (*names, "tests/.test_a.py.swp", "tests/test_a.py~"))) == ()
    assert unsound(wrote("tests/test_b.py")) == ("tests/test_b.py",)
    assert unsound(wrote("tests/more", mode=LINK)) == ("tests/more",)
    made = Worktree(BASE, Watched(ROOT, (), (), "make"), SCOPE)
    began = made.moment
    told(made, wrote("Makefile"))
    assert made.unsound_since(began) == ("Makefile",)


def test_what_a_run_is_told_to_load_beside_the_tests_is_the_images_or_the_agents_work() -> None:
    worktree = tree()
    told(worktree, wrote("check.py"), wrote("scratch/check.py"))
    assert worktree.adds(("tests", "tests/test_a.py", "src/*", ".", "!tests/x", "src/a.py")) == ()
    assert worktree.adds(("*",)) == ()
    assert worktree.adds(("tests", "check.py")) == ("check.py",)
    assert worktree.adds(("scratch/*",)) == ("scratch",)
    assert worktree.adds(("tests", "scratch")) == ("scratch",)
    assert worktree.adds(("tests", "/tmp/x/check.py")) == ("/tmp/x/check.py",)
    assert worktree.adds(("/tmp/copy/tests", "/tmp/copy/check.py")) == ()


def test_a_new_file_of_a_package_of_go_is_compiled_along() -> None:
    watched = Watched(ROOT, (), (), "go test")
    base = {f"{ROOT}/{name}": held("old") for name in ("a.go", "a_test.go", "notes.md")}
    worktree = Worktree(base, watched, SCOPE)
    began = worktree.moment
    told(worktree, wrote("zz.go"), wrote("cmd/try/main.go"), wrote("zz.txt"))
    assert worktree.unsound_since(began) == ("zz.go",)


def test_only_what_pytest_itself_writes_there_is_its_cache() -> None:
    cache = "pytest-cache-files-x"
    assert told(tree(), wrote(f"{cache}/README.md"), wrote(f"{cache}/.gitignore")) == []
    assert told(tree(), wrote(f"{cache}/a.py")) == [(f"{cache}/a.py", "new", False)]
    assert unsound(wrote(f"{cache}/conftest.py")) == (f"{cache}/conftest.py",)


def test_the_nearest_folder_with_a_file_is_found() -> None:
    worktree = tree()
    told(worktree, wrote("Cargo.toml"), wrote("part/Cargo.toml"))
    assert worktree.nearest(f"{ROOT}/src/b", "Cargo.toml") == ROOT
    assert worktree.nearest(f"{ROOT}/part/src", "Cargo.toml") == f"{ROOT}/part"
    assert worktree.nearest("/tmp/src", "Cargo.toml") == "/tmp/src"
    assert tree().nearest(f"{ROOT}/src", "Cargo.toml") == f"{ROOT}/src"


def test_the_files_of_a_worktree_are_those_that_stand_there_now() -> None:
    worktree = tree()
    told(worktree, wrote("new.py"), gone("src/b"))
    assert "new.py" in {*worktree.files()} >= {"src/a.py", "notes.md"}
    assert not {"src/b/c.py", "src/b/d.py"} & {*worktree.files()}


def test_what_was_put_back_while_tests_ran_was_not_there_as_they_began() -> None:
    worktree = tree()
    told(worktree, wrote("tests/test_a.py"), wrote("conftest.py"))
    moment = worktree.moment
    told(worktree, wrote("tests/test_a.py", "old"), gone("conftest.py"))
    assert worktree.unsound_since(moment) == ("conftest.py", "tests/test_a.py")
    assert worktree.unsound_since(worktree.moment) == ()


def test_what_was_touched_may_have_held_something_else_meanwhile() -> None:
    assert unsound(wrote("tests/test_a.py", "old")) == ("tests/test_a.py",)
    assert unsound(wrote("src/a.py", "old"), wrote("notes.md", "old")) == ()


def test_what_came_and_went_unseen_counts_by_its_name() -> None:
    names = ("conftest.py", "json", "src/random.py", "tests/test_new.py", "node_modules/x.pth")
    for name in names:
        assert unsound(gone(name)) == (name,)
    for name in ("src/scratch.py", "tests/out.txt", "build/x", "tmp", ".git/index.lock"):
        assert unsound(gone(name)) == ()


ENV = "/home/agent/.config/go/env"


def test_settings_outside_decide_unless_they_set_nothing() -> None:
    watched = Watched(ROOT, (), (), "go test", (ENV,))
    harmless = {ENV}
    worktree = Worktree(BASE, watched, SCOPE, sets_nothing=harmless.__contains__)

    def take(path: str, kind: TouchKind = TouchKind.FILE, digest: str = "new") -> tuple[str, ...]:
        before = worktree.moment
        assert list(worktree.take(Touch(kind, path.encode(), FILE, digest))) == []
        return worktree.unsound_since(before)

    assert take(ENV) == ()
    harmless.clear()
    assert take(ENV, digest="other") == (ENV,)
    assert take("/home/agent/.config/other") == (ENV,)
    assert take(ENV, TouchKind.GONE) == (ENV,)
    assert take("/home/agent/.config/other", TouchKind.GONE) == ()
    assert take("/home/agent/.config") == ("/home/agent/.config",)  # a link that leads elsewhere


def test_the_trees_digest_is_that_of_what_differs() -> None:
    one, other = tree(), tree()
    start = one.tree
    told(one, wrote("src/a.py"), wrote("z"), wrote("build/x"))
    told(other, wrote("z"), wrote("src/a.py", "other"), wrote("src/a.py"))
    told(other, wrote(".git/index"))  # holds times, and is other each time
    assert one.tree == other.tree != start
    told(one, wrote("src/a.py", "old"), gone("z"))
    assert one.tree == start


def test_what_changed_since_a_moment_is_told() -> None:
    worktree = tree()
    told(worktree, wrote("src/a.py"))
    moment = worktree.moment
    told(worktree, wrote("src/b/c.py"), wrote("src/b/c.py", "old"))
    assert worktree.changed_since(moment) == ("src/b/c.py",)
