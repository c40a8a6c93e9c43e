import * as core from "@diligent/core";
import * as tools from "@diligent/core/tools";

const { ANTHROPIC_API_KEY = "", ANTHROPIC_BASE_URL } = process.env;
const cwd = process.cwd();
const temporary = new tools.SessionTempDir();
const place = { environment: process.env, root: cwd };
// Without a sandbox, no command runs. With "auto", commands would run unsandboxed after approval.
const setting = "required";
const sandbox = new tools.SessionSandbox({ ...place, setting, directory: () => temporary.path() });
const workspace = {
  ...place,
  cwd,
  sessionId: "example",
  files: new tools.FileTracker(),
  outputDirectory: () => temporary.path(),
  // Used by the tool that runs commands, and by the approval policy.
  sandboxState: () => sandbox.sandboxState(),
};

const config: core.AgentLoopConfig = {
  model: core.resolveModel("sonnet"),
  streamFunction: core.withRetry(core.createAnthropicStream(ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL)),
  systemPrompt: `You work on this project.\n\n${tools.describeSandbox({ mayLeave: false })}`,
  tools: tools.createTools(workspace),
  async approve(request) {
    const { action, reason, withholds } = await tools.decideApproval(request, { ...workspace, mode: "deny" });
    return { response: action === "allow" ? "once" : "reject", message: reason, withholds };
  },
};

const content = process.argv.slice(2).join(" ") || "Run the tests and fix the failures.";
for await (const event of core.agentLoop([{ role: "user", content, timestamp: Date.now() }], config))
  if (event.type === "tool_end") console.log(event.toolName, event.output);
// Ends the background processes of commands, and removes the files of the sandbox.
await tools.endAllProcesses();
await sandbox.close();
temporary.remove();
