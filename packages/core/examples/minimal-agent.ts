import * as core from "@diligent/core";

const { ANTHROPIC_API_KEY = "", ANTHROPIC_BASE_URL } = process.env;
const cwd = process.cwd();
const workspace = {
  cwd,
  root: cwd,
  environment: process.env,
  sessionId: "example",
  files: new core.FileTracker(),
  // The directory for long outputs.
  outputDirectory: () => undefined,
};

const config: core.AgentLoopConfig = {
  model: core.resolveModel("sonnet"),
  streamFunction: core.withRetry(
    core.withIdleWatchdog(core.createAnthropicStream(ANTHROPIC_API_KEY, ANTHROPIC_BASE_URL)),
  ),
  systemPrompt: "You answer questions about the project in the working directory.",
  tools: core.createTools(workspace),
  // Only reading that needs no approval: no user is present to give one.
  async approve(request) {
    const { action, reason, withholds } = await core.decideApproval(request, { ...workspace, mode: "plan" });
    return { response: action === "allow" ? "once" : "reject", message: reason, withholds };
  },
};

const content = process.argv.slice(2).join(" ") || "What is this project about?";
for await (const event of core.agentLoop([{ role: "user", content, timestamp: Date.now() }], config)) {
  if (event.type === "tool_start") console.error(`${event.toolName} ${JSON.stringify(event.input)}`);
  // `message_delta` has the text in pieces, and restarts when a request is repeated.
  if (event.type === "message_end" && core.messageText(event.message) !== "")
    console.log(core.messageText(event.message));
  if (event.type === "error") console.error(event.error.message);
  if (event.type === "agent_end") process.exitCode = event.stopReason === "end_turn" ? 0 : 1;
}
