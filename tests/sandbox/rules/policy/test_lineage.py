"""What a process descends from: through processes that run nothing of their own, and no further."""

from sandbox.model.decision import Answer, Question
from sandbox.rules.policy.grants import Grant
from sandbox.rules.policy.lineage import Lineage, Lineages

GRANT = Grant(Question(scope="s", command="c"), Answer(approved=True), 1)


def lineages(parents: dict[int, int] | None = None) -> Lineages:
    return Lineages((parents or {}).get)


def test_a_child_descends_from_all_before_it() -> None:
    kept = lineages()
    kept.add(1, "a", 10, "bash", Lineage())
    kept.add(2, "a", 11, "make", kept.of("a", 11, 10))
    kept.add(3, "a", 12, "sh", kept.of("a", 12, 11))
    assert kept.of("a", 13, 12).ancestors == ("sh", "make", "bash")


def test_what_a_process_ran_before_counts() -> None:
    kept = lineages()
    kept.add(1, "a", 10, "sh", Lineage())
    assert kept.of("a", 10, 1).ancestors == ("sh",)


def test_a_fork_without_a_program_of_its_own_is_passed_through() -> None:
    kept = lineages({20: 19, 19: 10})
    kept.add(1, "a", 10, "bash", Lineage())
    assert kept.of("a", 21, 20).ancestors == ("bash",)
    assert kept.of("a", 31, 30).ancestors == ()


def test_an_ended_process_is_nobodys_ancestor_and_its_children_keep_theirs() -> None:
    kept = lineages()
    kept.add(1, "a", 10, "bash", Lineage())
    kept.add(2, "a", 11, "make", kept.of("a", 11, 10))
    kept.end(1, 10)
    assert kept.of("a", 12, 10).ancestors == ()
    assert kept.of("a", 12, 11).ancestors == ("make", "bash")
    kept.end(1, 11)
    assert kept.of("a", 12, 11).ancestors == ("make", "bash")


def test_a_number_that_is_used_again_by_another_action_is_another_process() -> None:
    kept = lineages()
    kept.add(1, "a", 10, "make", Lineage(grants=(GRANT,)))
    assert kept.of("b", 11, 10) == Lineage()
    assert kept.of("a", 11, 10).grants == (GRANT,)


def test_a_loop_of_parents_ends() -> None:
    assert lineages({1: 2, 2: 1}).of("a", 3, 1) == Lineage()


def test_a_program_that_runs_itself_for_ever_is_named_once() -> None:
    kept = lineages()
    kept.add(0, "a", 10, "make", Lineage())
    for number in range(1, 2000):
        kept.add(number, "a", 10, ("sh", "env")[number % 2], kept.of("a", 10, 1))
    assert set(kept.of("a", 10, 1).ancestors) == {"make", "sh", "env"}


def test_what_a_git_that_rebases_starts_by_itself_is_known_until_it_runs_something_else() -> None:
    kept = lineages({13: 12})
    kept.add(1, "a", 10, "git", Lineage(), sequences=True)
    direct = kept.of("a", 11, 10)
    assert direct.sequenced
    kept.add(2, "a", 11, "git", direct)
    assert not kept.of("a", 11, 10).sequenced
    assert not kept.of("a", 12, 11).sequenced
    assert not kept.of("b", 14, 10).sequenced
