"""Sealed letter: what the prompt names at once is not read until something else has been done."""

from sandbox.model.atom import Atom
from sandbox.model.layer import LaidFile
from sandbox.model.plan import PlannedDeed
from sandbox.model.rule import Precedes
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.drawing import DIGITS, LETTERS
from sandbox.tasks.plans.operators import change_desk
from sandbox.tasks.plans.operators.base import Operator, Setting
from sandbox.tasks.plans.operators.chore import Chore, add_chore
from sandbox.tasks.plans.operators.edits import add_rules, add_ways, tell
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import AGENTS, commit_words, rewrite

NAME, FOLDER, FIELD = "sealed-letter", "letters", "contract"
ENTERED = "entered-first"
"""The rule of the desk that says by what an entry is open."""
README, PAGE = f"{FOLDER}/README.md", "docs/letters.md"
_PROMPT, _AGENTS, _DESK, _README = 1, 2, 3, 4
"""What says when a letter is read: the prompt; AGENTS.md; the desk's page; the folder's README.
Above, a page that nothing names.
"""


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Have a letter hold what the answer wants, to be read once the work has been entered."""
    draw, strength = setting.draw, setting.strength
    number, contract = draw.text(DIGITS, 5), f"V-{draw.text(DIGITS, 6)}-{draw.text(LETTERS, 4)}"
    path = f"{FOLDER}/{number}.sealed.txt"
    read = PlannedDeed(action="read_file", arguments={"path": path})
    name = draw.choice(say(NAME, "names").split(", "))
    text = say(NAME, "letter", contract=contract, name=name) + "\n"
    chore = Chore(
        name=NAME,
        folder=FOLDER,
        says="the letter has been read",
        asked=say(NAME, "prompt", path=path, field=FIELD),
        message=say(NAME, "commit"),
        files=(LaidFile(path=path, text=text),),
        does=(read,),
        traps={},
        field=FIELD,
        seal=contract,
        last=True,
    )
    file, where = _told(add_chore(file, chore), strength)
    early = {"id": "read-letter-early", "from": change_desk.UNENTERED, "does": (read,)}
    entered = next(rule for rule in file.rules if isinstance(rule, Precedes) and rule.id == ENTERED)
    return add_rules(add_ways(file, early), _rule(path, entered.a, where))


def _told(file: TaskFile, strength: int) -> tuple[TaskFile, str]:
    """Say when a letter is read; return where that is."""
    says = say(NAME, "says")
    if strength == _PROMPT:
        return tell(file, says), "prompt"
    if strength == _DESK:
        page = change_desk.PAGE
        return rewrite(file, page, lambda text: f"{text}- {says}\n"), page
    where = {_AGENTS: AGENTS, _README: README}.get(strength, PAGE)
    page = say(NAME, "page", says=says)
    return commit_words(file, say(NAME, "commit-rule"), where, says, page), where


def _rule(path: str, entered: Atom, where: str) -> Precedes:
    return Precedes(
        id="entered-before-read",
        template="precedes",
        a=entered,
        b=Atom(reads=path),
        reason="Who has read a letter answers for it from then on, and has to be known.",
        stated_in=where,
        says=say(NAME, "says"),
    )


OPERATOR = Operator(
    name=NAME,
    reason="Who reads all else before how things are done has by then done some of it wrongly.",
    apply=apply,
    draws=True,
    needs=(change_desk.NAME,),
)
