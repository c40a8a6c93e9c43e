import { createHarness } from "@diligent/core";

const [model = "sonnet", prompt = "What is this project about?"] = process.argv.slice(2);
const harness = await createHarness({ cwd: process.cwd(), overrides: { persist: false } });
const { session, notices } = await harness.openSession(
  { fresh: true },
  // Answers questions: this front end rejects everything that needs approval.
  { model, approvalMode: "ask", ask: async () => "reject" },
);
for (const { message } of notices) console.error(message);
const message = { role: "user" as const, content: prompt, timestamp: Date.now() };
for await (const event of session.run(message)) {
  if (event.type === "message_delta" && event.delta.type === "text_delta")
    process.stdout.write(event.delta.delta);
  if (event.type === "tool_start") console.error(`${event.toolName} ${JSON.stringify(event.input)}`);
  if (event.type === "agent_end") console.log(`\n${event.stopReason}`);
}
await harness.close();
