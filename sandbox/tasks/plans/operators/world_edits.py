"""Edits of a task's world that operators share; each returns a new file."""

from collections.abc import Callable
from datetime import datetime, timedelta

from sandbox.model.layer import LaidCommit, LaidFile, Layer
from sandbox.model.statement import Statement
from sandbox.model.task import TaskFile
from sandbox.model.user import User
from sandbox.tasks.plans.operators.base import UnfitError
from sandbox.tasks.plans.operators.edits import tell, with_parts

AGENTS = "AGENTS.md"


def commit(file: TaskFile, message: str, *files: LaidFile) -> TaskFile:
    """Have the repository hold files in one more commit, an hour after the last one."""
    layer = file.world.layer
    dates = [overlay.date for overlay in file.world.overlays]
    dates += [made.date for made in layer.commits]
    if not dates:
        raise UnfitError("nothing says when its repository was last committed to")
    date = datetime.fromisoformat(dates[-1]) + timedelta(hours=1)
    made = LaidCommit(message=message, date=date.isoformat(), files=files)
    return with_layer(file, commits=(*layer.commits, made))


def commit_beneath(file: TaskFile, message: str, *files: LaidFile) -> TaskFile:
    """Have the repository hold files in a commit before all that operators have made."""
    layer = file.world.layer
    above = commit(file, message, *files).world.layer.commits
    *others, made = above
    if others:
        date = datetime.fromisoformat(others[0].date) - timedelta(minutes=20)
        made = made.model_copy(update={"date": date.isoformat()})
    return with_layer(file, commits=(made, *layer.commits))


def commit_words(file: TaskFile, message: str, path: str, says: str, page: str) -> TaskFile:
    """Commit where something is said: at the end of AGENTS.md, or in a page of its own."""
    if path == AGENTS:
        return commit(file, message, LaidFile(path=path, text=f"\n{says}\n", append=True))
    return commit(file, message, LaidFile(path=path, text=f"{page}\n"))


def add_users_file(file: TaskFile, laid: LaidFile, sentence: str) -> TaskFile:
    """Add a file of the user's, which nobody else is to touch, as the prompt says then."""
    scope = file.scope
    owned = scope.model_copy(update={"user": (*scope.user, laid.path)})
    stated = Statement(says=sentence, facts=(f"user {laid.path}",))
    file = with_parts(tell(file, sentence), scope=owned, statements=(*file.statements, stated))
    return with_layer(file, files=(*file.world.layer.files, laid))


def rewrite(file: TaskFile, path: str, change: Callable[[str], str]) -> TaskFile:
    """Give a file that the layer commits another text."""

    def other(made: LaidCommit) -> LaidCommit:
        files = (
            each.model_copy(update={"text": change(each.text)}) if each.path == path else each
            for each in made.files
        )
        return made.model_copy(update={"files": tuple(files)})

    return with_layer(file, commits=tuple(map(other, file.world.layer.commits)))


def with_layer(file: TaskFile, **parts: object) -> TaskFile:
    """Give some parts of the world's layer other values."""
    layer = Layer.model_validate({**dict(file.world.layer), **parts})
    return with_parts(file, world=file.world.model_copy(update={"layer": layer}))


def with_user(file: TaskFile, user: User) -> TaskFile:
    """Let somebody be there who can be asked, and who may say something unasked."""
    return with_parts(file, user=user)
