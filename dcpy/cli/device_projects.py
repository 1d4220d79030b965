"""Device projects: the folders for a vendor's tools that targets put into their command lines."""

from __future__ import annotations

import os
from pathlib import Path

from dcpy.base.options import Options
from dcpy.codegen.artifact import Artifact
from dcpy.targets.command_line import Answers, ProgramSource, Project


def write_project(program: str, project: Project, answers: Answers, folder: Path) -> list[Path]:
    """Write the folder; return its files. Raises the `DcpyError` of the target for what it cannot compile or store."""
    from dcpy.cli.program_lookup import sdfg_named
    from dcpy.codegen.generate import with_messages
    from dcpy.driver import artifact_of
    from dcpy.programs.explanation.explain import explain
    from dcpy.programs.signatures import signature_of

    sdfg = sdfg_named(program)
    sdfg.validate()
    signature = signature_of(sdfg)

    def compiled(options: Options) -> Artifact:
        return with_messages(artifact_of(sdfg, signature, options))

    source = ProgramSource(
        sdfg.name,
        sdfg.span,
        signature,
        compiled,
        sdfg.interpret,
        lambda options, sizes: explain(sdfg, None, options, sizes),
    )
    return [_write(folder / file, content) for file, content in project.files(source, answers).items()]


def _write(path: Path, content: str | bytes) -> Path:
    """Write a file by one rename; scripts may be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.{os.getpid()}")
    partial.write_bytes(content.encode() if isinstance(content, str) else content)
    if path.suffix == ".sh":
        partial.chmod(0o755)
    os.replace(partial, path)
    return path
