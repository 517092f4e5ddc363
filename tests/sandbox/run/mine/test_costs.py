"""Seeds of repositories whose tests count what calls cost."""

import pytest

from sandbox.model.glob import Globs
from sandbox.tasks.drafts import seed_folder

COUNTED = [name for name in seed_folder.names() if seed_folder.load(name).mining.costs]


@pytest.mark.parametrize("name", COUNTED)
def test_the_seeds_that_cost_more_are_noticed_by_the_count_alone(name: str) -> None:
    folder = seed_folder.load(name)
    counting = Globs(folder.mining.costs)
    seeds = folder.seeds.seeds
    assert seeds
    for seed in seeds:
        assert all(counting.match(test.partition("::")[0]) for test in seed.fail_to_pass), seed.id


def test_there_are_such_repositories() -> None:
    assert COUNTED
