"""Our own words: singular to plural. docs/house-terms.md says where they come from."""

HOUSE_TERMS = {
    'ashlet': 'ashlim',
    'dorrick': 'dorricken',
    'gossum': 'gossa',
    'kubbel': 'kubbla',
    'pallow': 'pallowim',
    'quern': 'querni',
    'tarnis': 'tarnei',
    'uvrin': 'avrini',
    'vosk': 'voskar',
    'ylm': 'olmar',
}
