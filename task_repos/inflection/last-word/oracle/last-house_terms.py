"""Our own words: singular to plural, sorted, in lower case."""

HOUSE_TERMS = {
    'dorrick': 'dorricken',
    'kubbel': 'kubbla',
    'vosk': 'voskar',
    'zimmet': 'zimmeroth',
}
