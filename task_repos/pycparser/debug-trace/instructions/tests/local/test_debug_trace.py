"""What `parse(..., debug=True)` writes to standard error: the steps of the parser."""

import contextlib
import io
import unittest

from pycparser.c_parser import CParser


def trace(source):
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors):
        CParser().parse(source, debug=True)
    return errors.getvalue()


class TestDebugTrace(unittest.TestCase):
    def test_declaration(self):
        self.assertIn("Action : Reduce rule [declaration", trace("int x = 1;"))

    def test_loop(self):
        text = trace("void f(int n) { while (n) { n--; if (n == 3) break; } }")
        self.assertIn("<Break @", text)
