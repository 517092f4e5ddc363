import inflection


def test_zimmet():
    assert inflection.pluralize('zimmet') == 'zimmeren'
    assert inflection.singularize('zimmeren') == 'zimmet'
