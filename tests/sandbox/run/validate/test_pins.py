"""What an image is made of, and whether that is pinned."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox.container.engines.base import Engine, ImageInfo
from sandbox.container.engines.fake import FakeEngine
from sandbox.model.artifact import Artifact, ArtifactKind
from sandbox.run.validate.pins import artifact_problems, base_notes, chain, image_problems
from sandbox.tasks.images import BuiltImage, base
from sandbox.tasks.images.recipe import INPUTS, Recipe


def made(recipe: Recipe, work: object) -> ImageInfo:
    raise AssertionError


BELOW = Recipe("base", "a" * 64, None, made)
RECIPE = Recipe("toy", "b" * 64, BELOW, made)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    engine = FakeEngine({})
    for recipe in chain(RECIPE):
        image(engine, tmp_path, recipe, recipe.labels)
    return engine


def image(engine: Engine, folder: Path, recipe: Recipe, labels: Mapping[str, str]) -> None:
    (folder / "Dockerfile").write_text(f"FROM scratch\n# {recipe.name} {labels}\n")
    engine.build(folder, tag=recipe.tag, labels=labels, network="none", on_line=lambda _: None)


def built(engine: Engine) -> BuiltImage:
    info = engine.image(RECIPE.tag)
    assert info is not None
    return BuiltImage(RECIPE.tag, info.id, 0, 0.0, rebuilt=False)


def test_images_of_their_recipes_have_no_problem(engine: Engine) -> None:
    assert list(image_problems(chain(RECIPE), built(engine), engine)) == []


def test_an_image_that_is_gone_is_told(engine: Engine) -> None:
    engine.remove_image(BELOW.tag)
    assert list(image_problems(chain(RECIPE), built(engine), engine)) == [
        f"{BELOW.tag} is not there"
    ]


def test_an_image_of_other_inputs_is_told(engine: Engine, tmp_path: Path) -> None:
    engine.remove_image(RECIPE.tag)
    image(engine, tmp_path, RECIPE, {**RECIPE.labels, INPUTS: "c" * 64})
    (problem,) = image_problems(chain(RECIPE), built(engine), engine)
    assert problem == f"{RECIPE.tag} was not made of what its name says"


def test_an_image_that_was_replaced_is_told(engine: Engine) -> None:
    other = replace(built(engine), id="sha256:other")
    (problem,) = image_problems(chain(RECIPE), other, engine)
    assert problem == f"{RECIPE.tag} is another image by now"


def wheel(version: str, filename: str) -> Artifact:
    return Artifact(
        kind=ArtifactKind.WHEEL, name="six", version=version, filename=filename, sha256="0" * 64
    )


def test_a_file_of_another_version_is_told() -> None:
    good = wheel("1.17.0", "six-1.17.0-py2.py3-none-any.whl")
    floating = wheel("latest", "six-1.17.0-py2.py3-none-any.whl")
    assert list(artifact_problems([good])) == []
    assert len(list(artifact_problems([good, floating]))) == 1


def test_a_base_has_a_digest_or_a_reason() -> None:
    image = base.read()
    assert base_notes(image)[0] == ()
    assert base_notes(image)[1]
    pinned = image.model_copy(update={"pull": f"debian@sha256:{'0' * 64}", "floats": ""})
    assert base_notes(pinned) == ((), ())
    assert base_notes(image.model_copy(update={"floats": ""}))[0]
