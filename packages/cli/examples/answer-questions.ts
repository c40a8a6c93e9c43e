// Runs two prompts in one session and answers every request for approval.
// bun answer-questions.ts [options of diligent]
const agent = Bun.spawn(["diligent", "--input-format", "stream-json", ...process.argv.slice(2)], {
  stdin: "pipe",
  stdout: "pipe",
});
const send = (line: object) => agent.stdin.write(`${JSON.stringify(line)}\n`);

send({ type: "user", content: "Run the tests." });
send({ type: "user", content: "Summarize the result in one sentence." });

let prompts = 2;
let text = "";
const decoder = new TextDecoder();
for await (const chunk of agent.stdout) {
  // Lines end with a line feed and nothing else.
  const lines = (text + decoder.decode(chunk, { stream: true })).split("\n");
  text = lines.pop() ?? "";
  for (const line of lines) {
    const event = JSON.parse(line);
    if (event.type === "approval_request") {
      const isTest = event.request.details?.command === "bun test";
      const answer = isTest ? { answer: "once" } : { answer: "reject", reason: "only bun test may run" };
      send({ type: "approval", requestId: event.requestId, ...answer });
    }
    // The input ends when the last prompt is answered.
    if (event.type === "agent_end" && --prompts === 0) agent.stdin.end();
    if (event.type === "result") console.log(`${event.stopReason}: ${event.result}`);
  }
}
process.exitCode = await agent.exited;
