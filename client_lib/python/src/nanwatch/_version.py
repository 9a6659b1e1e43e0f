"""The version of everything here: CMakeLists.txt and pyproject.toml read it."""

VERSION = "0.1.0"
