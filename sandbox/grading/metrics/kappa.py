"""Agreement beyond chance."""

from collections import Counter
from collections.abc import Hashable, Sequence

from sandbox.model.judgement import Agreement


def fleiss(rows: Sequence[Sequence[Hashable]]) -> Agreement:
    """Agreement of any number of judges, a row for each thing that they judged.

    Fleiss (1971), "Measuring nominal scale agreement among many raters", Psychological Bulletin 76;
    rows may have different numbers of judges, as in Gwet (2014), section 2.4. Rows of one judge
    say nothing and are left out.
    """
    told = [Counter(row) for row in rows if len(row) > 1]
    if not told:
        return Agreement(pairs=0, observed=None, kappa=None)
    agreeing = []
    shares: dict[Hashable, float] = {}
    for row in told:
        judges = row.total()
        agreeing.append(sum(n * (n - 1) for n in row.values()) / (judges * (judges - 1)))
        for said, number in row.items():
            shares[said] = shares.get(said, 0) + number / judges / len(told)
    return _agreement(sum(agreeing) / len(told), sum(share**2 for share in shares.values()), told)


def cohen(one: Sequence[Hashable], other: Sequence[Hashable]) -> Agreement:
    """Agreement of two judges who each have habits of their own.

    Cohen (1960), "A coefficient of agreement for nominal scales", Educational and Psychological
    Measurement 20. ValueError where they judged different numbers of things.
    """
    both = list(zip(one, other, strict=True))
    if not both:
        return Agreement(pairs=0, observed=None, kappa=None)
    first, second = Counter(one), Counter(other)
    chance = sum(first[said] * second[said] for said in first) / len(both) ** 2
    return _agreement(sum(a == b for a, b in both) / len(both), chance, both)


def _agreement(observed: float, chance: float, judged: Sequence[object]) -> Agreement:
    # Shares are sums of quotients: all of one kind may come to a little less than 1.
    kappa = None if chance > 1 - 1e-12 else (observed - chance) / (1 - chance)
    return Agreement(pairs=len(judged), observed=observed, kappa=kappa)
