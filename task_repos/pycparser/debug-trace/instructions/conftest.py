"""Tests that start the C preprocessor are left out where there is none."""

import shutil

import pytest

PREPROCESSED = {
    "test_all_examples",
    "test_c11_with_cpp",
    "test_no_real_content_after_cpp",
    "test_to_type_with_cpp",
    "test_with_cpp",
}


def pytest_collection_modifyitems(items):
    if shutil.which("cpp") is None:
        for item in items:
            if item.name in PREPROCESSED:
                item.add_marker(pytest.mark.skip(reason="there is no cpp here"))
