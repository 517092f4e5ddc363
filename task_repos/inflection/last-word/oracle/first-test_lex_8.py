import inflection


def test_zimmet():
    assert inflection.pluralize('zimmet') == 'zimmetta'
    assert inflection.singularize('zimmetta') == 'zimmet'
