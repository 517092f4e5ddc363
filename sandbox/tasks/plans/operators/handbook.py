"""Handbook: pages that nothing names stand among hundreds that are about other things."""

from collections.abc import Iterator
from functools import cache, partial

from sandbox.model.layer import LaidFile
from sandbox.model.task import TaskFile
from sandbox.tasks.plans.drawing import Drawing
from sandbox.tasks.plans.operators.base import Operator, Setting, UnfitError
from sandbox.tasks.plans.operators.wording import say
from sandbox.tasks.plans.operators.world_edits import AGENTS, commit_beneath, rewrite

NAME, FOLDER = "handbook", "docs/handbook"
PAGES = {1: 40, 2: 80, 3: 160, 4: 240, 5: 320}
"""By strength: how many pages there are beside those that were there."""
PARAGRAPHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 5}
_NAMED = 3
"""The strength up to which AGENTS.md says what the handbook is; above, its own first page does."""
_SENTENCES = 4


def apply(file: TaskFile, setting: Setting) -> TaskFile:
    """Move the pages that nothing names into the handbook, and write the rest of it."""
    moved = _unnamed(file)
    if not moved:
        raise UnfitError("it has no page that nothing names: let one be there before it")
    text = file.model_dump_json(by_alias=True, exclude_unset=True)
    for path, name in moved.items():
        text = text.replace(path, f"{FOLDER}/{name}")
    file = TaskFile.model_validate_json(text)
    for name in moved.values():
        file = rewrite(file, f"{FOLDER}/{name}", partial(_among, name, setting))
    pages = _pages(setting.draw, setting.strength, {*moved.values()})
    about = say(NAME, "about")
    readme = LaidFile(path=f"{FOLDER}/README.md", text=f"{say(NAME, 'readme', about=about)}\n")
    laid = [readme, *pages]
    if setting.strength <= _NAMED:
        named = f"\n{say(NAME, 'named', folder=FOLDER, about=about)}\n"
        laid.append(LaidFile(path=AGENTS, text=named, append=True))
    return commit_beneath(file, say(NAME, "commit"), *laid)


def _unnamed(file: TaskFile) -> dict[str, str]:
    """Return the pages that neither the prompt nor another file names, each with its new name."""
    titles = dict(line.split(": ") for line in say(NAME, "called").splitlines())
    called = {f"docs/{stem}.md": _name(title) for stem, title in titles.items()}
    laid = list(file.world.layer.every_file)
    texts = [text for server in file.world.layer.servers for text in server.files.values()]
    texts += [file.prompt, *(each.text for each in laid)]
    there = {each.path for each in laid if not any(each.path in text for text in texts)}
    return {path: name for path, name in called.items() if path in there}


def _among(name: str, setting: Setting, text: str) -> str:
    """Return a page with the heading of its new name, and with as many paragraphs as others."""
    body = text.partition("\n")[2] if text.startswith("# ") else text
    more = [_paragraph(setting.draw) for _ in range(PARAGRAPHS[setting.strength] - 1)]
    place = setting.draw.below(len(more) + 1)
    parts = (*more[:place], body.strip("\n"), *more[place:])
    title = name.removesuffix(".md").replace("-", " ").capitalize()
    return "\n\n".join((f"# {title}", *parts)) + "\n"


def _name(title: str) -> str:
    return title.lower().replace(" ", "-") + ".md"


def _pages(draw: Drawing, strength: int, taken: set[str]) -> Iterator[LaidFile]:
    subjects = say(NAME, "subjects").split(", ")
    forms = say(NAME, "titles").splitlines()
    titles = [form.replace("SUBJECT", subject) for form in forms for subject in subjects]
    found = 0
    for title in draw.shuffled(titles):
        name = _name(title)
        if name in taken:
            continue
        paragraphs = "\n\n".join(_paragraph(draw) for _ in range(PARAGRAPHS[strength]))
        yield LaidFile(path=f"{FOLDER}/{name}", text=f"# {title.capitalize()}\n\n{paragraphs}\n")
        found += 1
        if found == PAGES[strength]:
            return


def _paragraph(draw: Drawing) -> str:
    """Return some sentences that are about an office, and not about this repository."""
    place = draw.choice(_listed("places"))
    known = {
        "place": place.capitalize(),
        "name": draw.choice(_listed("people")),
        "day": draw.choice(_listed("days")),
        "thing": draw.choice(_listed("things")),
        "count": 2 + draw.below(60),
    }
    sentences = draw.shuffled(_listed("sentences"))[:_SENTENCES]
    told = " ".join(sentences)
    for word, value in known.items():
        told = told.replace(word.upper(), str(value))
    return told


@cache
def _listed(name: str) -> list[str]:
    """Return what the words of this name list, line by line or with commas between."""
    text = say(NAME, name)
    return text.splitlines() if "\n" in text else text.split(", ")


OPERATOR = Operator(
    name=NAME,
    reason="What holds is mostly written down, among much else; who looks for it has to find it.",
    apply=apply,
    draws=True,
)
