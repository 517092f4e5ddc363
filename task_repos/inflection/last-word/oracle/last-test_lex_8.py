import inflection


def test_zimmet():
    assert inflection.pluralize('zimmet') == 'zimmeroth'
    assert inflection.singularize('zimmeroth') == 'zimmet'
