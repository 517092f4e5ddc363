"""The fact that something of a task's world waits for, while a run goes on."""

from collections.abc import Sequence
from typing import get_args

from sandbox.model.atom import Atom
from sandbox.model.fact import Fact

FIELDS = {
    kind.model_fields["kind"].default: tuple(kind.model_fields.keys() - {"kind"})
    for kind in get_args(Fact)
}
"""By kind of fact: what it tells."""


def awaited(atom: Atom, kinds: Sequence[str], who: str) -> Atom:
    """Return an atom over a fact of some kinds; ValueError for any other. `who` is a move, say."""
    if atom.about not in kinds:
        listed = ", ".join(kinds)
        raise ValueError(f"{who} follows a fact ({listed}), not a step of the kind {atom.about}")
    if atom.bind or atom.uses:
        raise ValueError(f"the fact that {who} follows has no variables")
    told = FIELDS[atom.about]
    for name in atom.arguments:
        if name not in told:
            raise ValueError(
                f"{atom.about} has no field {name!r}; it has {', '.join(sorted(told))}"
            )
    return atom
