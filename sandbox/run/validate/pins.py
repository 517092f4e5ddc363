"""Whether all that a task's image is made of is pinned."""

from collections.abc import Iterator

from sandbox.container.engines.base import Engine
from sandbox.model import places
from sandbox.model.artifact import Artifact
from sandbox.model.image import BaseImage
from sandbox.model.repository import Repository
from sandbox.model.task import Task
from sandbox.run.validate.checks import Check, Row, row_status
from sandbox.tasks.images import BuiltImage, base
from sandbox.tasks.images.recipe import INPUTS, Recipe
from sandbox.tasks.images.task_image import recipe as recipe_of
from sandbox.tasks.library import LoadedTask
from sandbox.tasks.sources import Sources

DIGEST = "@sha256:"


def artifacts(task: Task, repository: Repository) -> list[Artifact]:
    """Give every file that is fetched for a task; each is refused where its digest differs."""
    releases = (release.source for release in repository.releases)
    return [*releases, *repository.requirements, *task.world.mirror]


def chain(recipe: Recipe) -> list[Recipe]:
    """Give an image's recipe and those of the images below it."""
    found = [recipe]
    while (below := found[-1].parent) is not None:
        found.append(below)
    return found


def rows(loaded: LoadedTask, image: BuiltImage, engine: Engine) -> Iterator[Row]:
    """Look at what is fetched, at the chain of images, and at the base."""
    name = loaded.task.id
    found = artifacts(loaded.task, loaded.repository)
    problems = list(artifact_problems(found))
    yield Row(
        task=name,
        check=Check.PINS,
        what="artifacts",
        expected="each has a version, a file of that version and a sha256",
        result=f"{len(found) - len(problems)} of {len(found)} pinned",
        status=row_status(problems),
        notes=tuple(problems),
    )
    recipes = chain(recipe_of(loaded, Sources(places.cache())))
    problems = list(image_problems(recipes, image, engine))
    yield Row(
        task=name,
        check=Check.PINS,
        what="images",
        expected="each is there under the digest of all its inputs",
        result=f"{len(recipes)}, the task's is {image.id[:19]}",
        status=row_status(problems),
        notes=tuple(problems),
    )
    yield _base(name, base.read(), engine, recipes[-1])


def artifact_problems(found: list[Artifact]) -> Iterator[str]:
    """Say which files are not of the version that is named."""
    for artifact in found:
        version = artifact.version.partition(":")[2] or artifact.version
        if _plain(version) not in _plain(artifact.filename):
            yield f"{artifact.filename} is not named after version {artifact.version}"


def image_problems(recipes: list[Recipe], image: BuiltImage, engine: Engine) -> Iterator[str]:
    """Say which images are not those of their recipes."""
    for recipe in recipes:
        info = engine.image(recipe.tag)
        if info is None:
            yield f"{recipe.tag} is not there"
        elif info.labels.get(INPUTS) != recipe.digest:
            yield f"{recipe.tag} was not made of what its name says"
    task = engine.image(recipes[0].tag)
    if task is not None and task.id != image.id:
        yield f"{recipes[0].tag} is another image by now"


def _base(name: str, image: BaseImage, engine: Engine, recipe: Recipe) -> Row:
    info = engine.image(recipe.tag)
    problems, notes = base_notes(image)
    return Row(
        task=name,
        check=Check.PINS,
        what=f"base {image.pull}",
        expected="a digest, or the reason why there is none",
        result="" if info is None else info.id[:19],
        status=row_status(problems),
        notes=(*problems, *notes),
    )


def base_notes(image: BaseImage) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Say what is wrong with the base's pin, and what is to be known of it."""
    if DIGEST in image.pull:
        return (), ()
    if not image.floats:
        return (f"{image.pull} has no digest, and base.yaml gives no reason",), ()
    return (), (f"not pinned: {image.floats}",)


def _plain(text: str) -> str:
    """Fold the ways in which registries spell a version in a file's name."""
    return text.lower().replace("%3a", ":").replace("_", "-").replace("+", "-")
