"""diligent as an installed agent of Harbor.

    harbor run -d DATASET --agent-import-path diligent_agent:DiligentAgent \
        -m anthropic/MODEL --agent-kwarg executable=/path/to/diligent
"""

from __future__ import annotations

import hashlib
import json
import shlex
from pathlib import Path
from typing import Any

from harbor.agents.installed.base import BaseInstalledAgent, CliFlag, with_prompt_template
from harbor.environments.base import BaseEnvironment
from harbor.models.agent.context import AgentContext
from harbor.models.trial.paths import EnvironmentPaths

# The variables of each provider, by the first part of Harbor's model names.
PROVIDER_VARIABLES = {
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
}

OUTPUT_NAME = "diligent.jsonl"
TRAJECTORY_NAME = "trajectory.json"


class DiligentAgent(BaseInstalledAgent):
    """Installs one executable file into the container and runs it there without questions."""

    SUPPORTS_ATIF = True

    CLI_FLAGS = [
        CliFlag("max_turns", cli="--max-turns", type="int"),
        CliFlag(
            "effort",
            cli="--effort",
            type="enum",
            choices=["off", "low", "medium", "high", "xhigh", "max"],
        ),
    ]

    def __init__(
        self,
        *args: Any,
        executable: str | None = None,
        sha256: str | None = None,
        max_cost: str | float | None = None,
        install_dir: str = "/usr/local/bin",
        **kwargs: Any,
    ) -> None:
        """
        executable: the file built by `bun run build`, on this machine, for the container's system.
        sha256: its expected checksum, hexadecimal.
        max_cost: the most that a run may cost, in US dollars.
        install_dir: where the file goes in the container.
        """
        super().__init__(*args, **kwargs)
        self._max_cost = None if max_cost is None else float(max_cost)
        self._program = f"{install_dir.rstrip('/')}/diligent"
        self._executable = executable
        self._sha256 = sha256

    @staticmethod
    def name() -> str:
        return "diligent"

    def get_version_command(self) -> str | None:
        return f"{shlex.quote(self._program)} --version"

    def parse_version(self, stdout: str) -> str:
        return stdout.strip().removeprefix("diligent ")

    async def install(self, environment: BaseEnvironment) -> None:
        program = shlex.quote(self._program)
        await environment.upload_file(self._find_executable(), self._program)
        await self.exec_as_root(environment, command=f"chmod 755 {program} && {program} --version")
        await self._install_settings(environment)

    def _find_executable(self) -> Path:
        given = self._executable or self._get_env("DILIGENT_EXECUTABLE")
        if not given:
            raise ValueError("Give the built executable: --agent-kwarg executable=/path/to/diligent")
        path = Path(given)
        if not path.is_file():
            raise FileNotFoundError(f"The executable of diligent is not a file: {path}")
        if self._sha256 and hashlib.sha256(path.read_bytes()).hexdigest() != self._sha256.lower():
            raise ValueError(f"{path} does not have the given checksum.")
        return path

    async def _install_settings(self, environment: BaseEnvironment) -> None:
        """Harbor's MCP servers and skills become the user's own in the container."""
        servers = {server.name: _to_server(server) for server in self.mcp_servers or []}
        if servers:
            settings = shlex.quote(json.dumps({"mcpServers": servers}))
            await self.exec_as_agent(
                environment,
                command=f"mkdir -p ~/.config/diligent && printf %s {settings} > ~/.config/diligent/diligent.jsonc",
            )
        if self.skills_dir:
            skills = shlex.quote(f"{str(self.skills_dir).rstrip('/')}/.")
            await self.exec_as_agent(
                environment, command=f"mkdir -p ~/.agents/skills && cp -r {skills} ~/.agents/skills/"
            )

    @with_prompt_template
    async def run(self, instruction: str, environment: BaseEnvironment, context: AgentContext) -> None:
        logs = EnvironmentPaths.agent_dir.as_posix()
        program, output = shlex.quote(self._program), shlex.quote(f"{logs}/{OUTPUT_NAME}")
        command = f"{program} {self._options()} -- {shlex.quote(instruction)} < /dev/null"
        # A run that a limit has stopped, or that ended with a refused call, is judged by its work: no failure.
        lenient = f"{{ {command}; code=$?; case $code in 3|4) code=0;; esac; (exit $code); }}"
        try:
            await self.exec_as_agent(environment, command=f"{lenient} | tee {output}", env=self._variables())
        finally:
            trajectory = shlex.quote(f"{logs}/{TRAJECTORY_NAME}")
            # Also after a failure, and never instead of it: without a session there is nothing to write.
            await environment.exec(command=f"{program} export --format atif > {trajectory} || rm -f {trajectory}")

    def _options(self) -> str:
        options = ["-p", "--approval", "auto", "--output-format", "stream-json"]
        if self.model_name:
            provider, _, model = self.model_name.partition("/")
            options += ["--model", model if provider in PROVIDER_VARIABLES and model else self.model_name]
        if self._max_cost is not None:
            options += ["--max-cost", f"{self._max_cost:g}"]
        return f"{shlex.join(options)} {self.build_cli_flags()}".rstrip()

    def _variables(self) -> dict[str, str]:
        provider = (self.model_name or "").partition("/")[0]
        every = [name for names in PROVIDER_VARIABLES.values() for name in names]
        names = PROVIDER_VARIABLES.get(provider, every)
        found = {name: self._get_env(name) for name in names}
        return {name: value for name, value in found.items() if value}

    def populate_context_post_run(self, context: AgentContext) -> None:
        """Tokens and cost of all requests, sub-agents and summaries included."""
        result = self._read_result()
        usage = result.get("usage")
        if isinstance(usage, dict):
            cached = int(usage.get("cacheReadTokens") or 0)
            written = int(usage.get("cacheWriteTokens") or 0)
            context.n_input_tokens = int(usage.get("inputTokens") or 0) + cached + written
            context.n_cache_tokens = cached
            context.n_output_tokens = int(usage.get("outputTokens") or 0)
            context.cost_usd = result.get("cost")
            return
        metrics = self._read_metrics()
        context.n_input_tokens = metrics.get("total_prompt_tokens")
        context.n_cache_tokens = metrics.get("total_cached_tokens")
        context.n_output_tokens = metrics.get("total_completion_tokens")
        context.cost_usd = metrics.get("total_cost_usd")

    def _read_result(self) -> dict[str, Any]:
        """The last line of the output; empty if the run did not end by itself."""
        path = Path(self.logs_dir) / OUTPUT_NAME
        if not path.is_file():
            return {}
        for line in reversed(path.read_text(encoding="utf-8", errors="replace").split("\n")):
            event = _to_object(line)
            if event.get("type") == "result":
                return event
        return {}

    def _read_metrics(self) -> dict[str, Any]:
        path = Path(self.logs_dir) / TRAJECTORY_NAME
        if not path.is_file():
            return {}
        metrics = _to_object(path.read_text(encoding="utf-8", errors="replace")).get("final_metrics")
        return metrics if isinstance(metrics, dict) else {}


def _to_object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _to_server(server: Any) -> dict[str, Any]:
    if server.transport == "stdio":
        return {"command": server.command, "args": list(server.args or [])}
    return {"type": "sse" if server.transport == "sse" else "http", "url": server.url}
