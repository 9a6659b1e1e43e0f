"""The same as CMakeLists.txt has (held by tests/python)."""

VERSION = "0.1.0"
