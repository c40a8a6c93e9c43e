"""Shows what a run does while it works: python3 follow_run.py PROMPT [options of diligent]"""

import json
import subprocess
import sys

prompt, *options = sys.argv[1:]
command = ["diligent", "-p", prompt, "--output-format", "stream-json", *options]

with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8") as agent:
    # Only "\n" ends a line: str.splitlines() would also split at other characters.
    for line in agent.stdout:
        event = json.loads(line)
        if event["type"] == "tool_start":
            print("tool:", event["toolName"])
        elif event["type"] == "result":
            print(event["stopReason"] + ":", event["result"])

sys.exit(agent.returncode)
