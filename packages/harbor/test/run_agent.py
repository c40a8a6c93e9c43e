"""Runs the adapter once against the stand-in: run_agent.py JSON. Prints what Harbor would see as JSON."""

import asyncio
import json
import sys
from pathlib import Path
from types import SimpleNamespace

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "stand-in"), str(HERE.parent)]

from diligent_agent import DiligentAgent  # noqa: E402
from harbor.environments.base import BaseEnvironment  # noqa: E402
from harbor.models.agent.context import AgentContext  # noqa: E402


async def main(given):
    servers = [SimpleNamespace(**server) for server in given.get("mcp_servers", [])]
    agent = DiligentAgent(given["logs"], mcp_servers=servers, **given["arguments"])
    environment, context = BaseEnvironment(given["workdir"]), AgentContext()
    error = None
    try:
        await agent.setup(environment)
        await agent.run(given["instruction"], environment, context)
    except Exception as raised:
        error = f"{type(raised).__name__}: {raised}"
    agent.populate_context_post_run(context)
    fields = ("n_input_tokens", "n_cache_tokens", "n_output_tokens", "cost_usd")
    shown = {
        "name": agent.name(),
        "version": agent.found_version,
        "error": error,
        "commands": environment.commands,
        "context": {name: getattr(context, name) for name in fields},
    }
    print(json.dumps(shown))


asyncio.run(main(json.loads(sys.argv[1])))
