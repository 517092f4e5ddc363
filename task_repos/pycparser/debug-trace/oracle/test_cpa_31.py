"""CPA-31: a node without fields is a node like any other."""

import unittest
import weakref

from pycparser import c_ast


class TestNodesWithoutFields(unittest.TestCase):
    def test_all_of_them(self):
        for name in ("Break", "Continue", "EllipsisParam", "EmptyStatement"):
            with self.subTest(name):
                node = getattr(c_ast, name)()
                self.assertEqual(repr(node), name + "()")
                self.assertIs(weakref.ref(node)(), node)
                self.assertEqual(node.__slots__, ("coord", "__weakref__"))
