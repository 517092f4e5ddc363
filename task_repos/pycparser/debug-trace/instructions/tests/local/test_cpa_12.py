"""CPA-12: what is written from a tree is parsed to the same tree."""

import unittest

from pycparser.c_generator import CGenerator
from pycparser.c_parser import CParser

SOURCE = "struct point {\n  int x;\n  int y : 3;\n};\nstatic const struct point *origin(void);\n"


class TestRoundTrip(unittest.TestCase):
    def test_declarations(self):
        tree = CParser().parse(SOURCE)
        written = CGenerator().visit(tree)
        self.assertEqual(repr(CParser().parse(written)), repr(tree))
