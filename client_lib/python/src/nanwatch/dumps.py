"""`python -m nanwatch.dumps IN OUT`: PyTorch's .pt files of a dump as .npy
files, which `nanwatch compare` reads.

    python -m nanwatch.dumps gpu_dump gpu_npy

IN is a folder that msprobe dumped with the task `tensor`, or any other folder
of .pt files: a tensor each, or dicts and lists of tensors (a state_dict). OUT
gets the same folders and names; msprobe's dump.json goes with them. Files are
loaded with `weights_only=True`: they hold tensors and run no code.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from collections.abc import Iterator
from typing import Any, BinaryIO

import torch

# Beyond: a list in a list is no tensor of a dump.
_DEPTH = 8
# As numpy names them. What it has no name for is named by its size, as
# ml_dtypes does.
_FORMATS = {
    torch.float64: "<f8",
    torch.float32: "<f4",
    torch.float16: "<f2",
    torch.bfloat16: "<V2",
    torch.int64: "<i8",
    torch.int32: "<i4",
    torch.int16: "<i2",
    torch.int8: "|i1",
    torch.uint8: "|u1",
    torch.bool: "|b1",
}


def _tensors(
    value: object, name: str, depth: int = 0
) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors in `value`, each with its name; of one alone `name`."""
    if isinstance(value, torch.Tensor):
        yield name, value
    elif depth < _DEPTH and isinstance(value, (dict, list, tuple)):
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            yield from _tensors(
                item, f"{name}/{_file_name(str(key))}", depth + 1
            )


def _file_name(text: str) -> str:
    """A key as a part of a path, which leads nowhere else."""
    text = text.replace("/", "_").replace("\0", "_")[:200]
    return "_" if text in ("", ".", "..") else text


def _write(file: BinaryIO, tensor: torch.Tensor, descr: str) -> None:
    """Writes a tensor as numpy does; formats, too, that numpy lacks."""
    shape = "".join(f"{size}, " for size in tensor.shape)
    head = (
        f"{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}"
    )
    # Elements begin at a multiple of 64, as numpy's do.
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little"))
    file.write(head.encode())
    flat = tensor.detach().cpu().contiguous().reshape(-1)
    if flat.numel() > 0:
        file.write(flat.view(torch.uint8).numpy().data)


def _convert(path: pathlib.Path, target: pathlib.Path) -> list[str]:
    """Writes the tensors of a .pt file; returns what could not be written."""
    try:
        value: Any = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        return [f"{path}: {reason}"]
    missing = []
    found = list(_tensors(value, ""))
    for name, tensor in found:
        descr = _FORMATS.get(tensor.dtype)
        if descr is None or tensor.layout != torch.strided:
            missing.append(f"{path}{name}: {tensor.dtype} is not converted")
            continue
        file = (
            target.with_suffix(".npy")
            if not name
            else target.with_suffix("") / f"{name[1:]}.npy"
        )
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("wb") as out:
            _write(out, tensor, descr)
    return missing if found else [f"{path}: there is no tensor in it"]


def _copy_description(path: pathlib.Path, target: pathlib.Path) -> list[str]:
    """Copies msprobe's dump.json, which says the order of the tensors, with the
    names of the files that were written."""
    try:
        dump = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        return [f"{path}: {error}"]
    pending: list[Any] = [dump]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            name = value.get("data_name")
            if isinstance(name, str) and name.endswith(".pt"):
                value["data_name"] = name[: -len(".pt")] + ".npy"
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(dump, indent=1))
    return []


def convert(
    source: pathlib.Path, target: pathlib.Path
) -> tuple[int, list[str]]:
    """Writes what is in the folder `source` into the folder `target`. Returns
    how many files were read, and what could not be."""
    count, missing = 0, []
    for path in sorted(p for p in source.rglob("*") if p.is_file()):
        to = target / path.relative_to(source)
        if path.suffix == ".pt":
            count += 1
            missing += _convert(path, to)
        elif path.name == "dump.json":
            missing += _copy_description(path, to)
    return count, missing


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m nanwatch.dumps",
        description="Writes the .pt files of a dump as .npy files, which "
        "`nanwatch compare` reads.",
    )
    parser.add_argument(
        "source", type=pathlib.Path, help="a folder of .pt files"
    )
    parser.add_argument(
        "target", type=pathlib.Path, help="a folder that is not there yet"
    )
    given = parser.parse_args(arguments)
    if not given.source.is_dir():
        parser.error(f"{given.source}: this is no folder")
    if given.target.exists():
        parser.error(f"{given.target}: it is there already; name a new folder")
    count, missing = convert(given.source, given.target)
    for line in missing:
        print(line, file=sys.stderr)
    if count == 0:
        print(f"{given.source}: there is no .pt file in it", file=sys.stderr)
        return 3
    print(f"{given.target}: {count} files read, {len(missing)} things not")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
