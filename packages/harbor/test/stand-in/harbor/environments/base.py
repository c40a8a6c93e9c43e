"""A stand-in for a container: commands run on this machine, in a directory of their own."""

import os
import shutil
import subprocess
from dataclasses import dataclass


@dataclass
class ExecResult:
    stdout: str
    stderr: str
    return_code: int


class BaseEnvironment:
    def __init__(self, workdir):
        self.workdir = workdir
        self.commands = []

    async def upload_file(self, source_path, target_path):
        os.makedirs(os.path.dirname(target_path), exist_ok=True)
        shutil.copyfile(source_path, target_path)

    async def exec(self, command, cwd=None, env=None, timeout_sec=None, user=None):
        self.commands.append({"command": command, "env": env or {}, "user": user})
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=cwd or self.workdir,
            env={**os.environ, **(env or {})},
            stdin=subprocess.PIPE,
            capture_output=True,
            encoding="utf-8",
            timeout=timeout_sec or 60,
        )
        return ExecResult(done.stdout, done.stderr, done.returncode)
