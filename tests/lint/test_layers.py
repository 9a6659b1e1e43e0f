"""Holds the layer table: the include graph says what DESIGN.md says."""

import pathlib
import re

import layers

ROOT = pathlib.Path(__file__).resolve().parents[2]
DAEMON = ROOT / "daemon"
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)


def sources(folder):
    return sorted(
        p for p in folder.rglob("*") if p.suffix in (".h", ".cc", ".c", ".hpp")
    )


def folder_of(path):
    parts = path.relative_to(DAEMON).parts
    return parts[0] if len(parts) > 1 else ""


def includes(path):
    return [m.group(2) for m in INCLUDE.finditer(path.read_text())]


def is_third_party(name):
    return name.startswith(layers.THIRD_PARTY) and not name.startswith(
        layers.ALLOWED_EVERYWHERE
    )


def test_every_folder_is_in_the_table():
    found = {folder_of(p) for p in sources(DAEMON)}
    assert found <= set(layers.FOLDERS), found - set(layers.FOLDERS)


def test_folders_include_only_what_the_table_names():
    wrong = []
    for path in sources(DAEMON):
        folder = folder_of(path)
        below, third_party = layers.FOLDERS[folder]
        for name in includes(path):
            if (DAEMON / name).is_file():
                other = folder_of(DAEMON / name)
                if other != folder and other not in below:
                    wrong.append(f"{path.relative_to(ROOT)} includes {name}")
            elif is_third_party(name) and not name.startswith(
                tuple(third_party) or ("\0",)
            ):
                wrong.append(f"{path.relative_to(ROOT)} includes <{name}>")
    assert not wrong, "\n".join(wrong)


def test_pure_folders_have_no_clock_lock_thread_or_io():
    wrong = [
        f"{path.relative_to(ROOT)} includes {name}"
        for path in sources(DAEMON)
        if folder_of(path) in layers.PURE
        for name in includes(path)
        if name in layers.PURE_BANNED
    ]
    assert not wrong, "\n".join(wrong)


def test_pure_folders_hold_no_hash_map():
    """Iterating one would make verdicts depend on the library's hash."""
    wrong = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in sources(DAEMON)
        if folder_of(path) in layers.PURE
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if re.search(r"for\s*\(.*:\s*\w*(hash|unordered)", line)
    ]
    assert not wrong, "\n".join(wrong)


def test_the_client_includes_nothing_of_the_daemon():
    wrong = [
        f"{path.relative_to(ROOT)} includes {name}"
        for path in sources(ROOT / "client_lib")
        for name in includes(path)
        if (DAEMON / name).is_file()
        and not (path.parent / name).is_file()
        and not (ROOT / "client_lib" / "include" / name).is_file()
        and not (ROOT / "client_lib" / "src" / name).is_file()
    ]
    assert not wrong, "\n".join(wrong)
