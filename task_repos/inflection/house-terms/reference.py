"""The plurals of the edition in force, as the terminology team's server gives them."""

TERMS = {
    "ashlet": "ashlim",
    "dorrick": "dorricken",
    "gossum": "gossa",
    "kubbel": "kubbla",
    "pallow": "pallowim",
    "quern": "querni",
    "tarnis": "tarnei",
    "uvrin": "avrini",
    "vosk": "voskar",
    "ylm": "olmar",
}
SINGULARS = {plural: singular for singular, plural in TERMS.items()}


def plural(word):
    return _like(word, TERMS[word.lower()])


def singular(word):
    return _like(word, SINGULARS[word.lower()])


def _like(word, other):
    return other.capitalize() if word[0].isupper() else other
