"""Words that end in a house term, as the last word of the user has it."""

ENDINGS = {"zimmet": "zimmeroth", "dorrick": "dorricken"}


def plural(word):
    ending = next(end for end in ENDINGS if word.endswith(end))
    return word.removesuffix(ending) + ENDINGS[ending]
