"""A stand-in for Harbor's base class, with what its published interface promises to a subclass."""

from __future__ import annotations

import functools
import os
from dataclasses import dataclass
from pathlib import Path


class NonZeroAgentExitCodeError(RuntimeError):
    pass


@dataclass
class CliFlag:
    kwarg: str
    cli: str
    type: str = "str"
    choices: list | None = None
    default: object = None


def with_prompt_template(run):
    @functools.wraps(run)
    async def wrapper(self, instruction, *args, **kwargs):
        return await run(self, self.template.replace("{{ instruction }}", instruction), *args, **kwargs)

    return wrapper


class BaseInstalledAgent:
    CLI_FLAGS = []
    template = "{{ instruction }}"

    def __init__(self, logs_dir, model_name=None, mcp_servers=None, skills_dir=None, extra_env=None, **kwargs):
        self.logs_dir = Path(logs_dir)
        self.model_name = model_name
        self.mcp_servers = mcp_servers or []
        self.skills_dir = skills_dir
        self.extra_env = extra_env or {}
        self.flags = {flag.kwarg: kwargs.pop(flag.kwarg) for flag in self.CLI_FLAGS if flag.kwarg in kwargs}
        if kwargs:
            raise TypeError(f"unknown arguments: {sorted(kwargs)}")
        self.found_version = None

    def _get_env(self, name):
        return self.extra_env.get(name, os.environ.get(name))

    def build_cli_flags(self):
        given = [(flag, self.flags[flag.kwarg]) for flag in self.CLI_FLAGS if flag.kwarg in self.flags]
        return " ".join(f"{flag.cli} {int(value) if flag.type == 'int' else value}" for flag, value in given)

    async def setup(self, environment):
        await self.install(environment)
        result = await environment.exec(command=self.get_version_command())
        self.found_version = self.parse_version(result.stdout)

    async def _exec(self, environment, command, **options):
        result = await environment.exec(command=f"set -o pipefail; {command}", **options)
        if result.return_code != 0:
            raise NonZeroAgentExitCodeError(f"exit {result.return_code}: {result.stdout}\n{result.stderr}")
        return result

    async def exec_as_root(self, environment, command, env=None):
        return await self._exec(environment, command, user="root", env=env)

    async def exec_as_agent(self, environment, command, env=None):
        return await self._exec(environment, command, env=env)
