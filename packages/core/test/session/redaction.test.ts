import { expect, test } from "bun:test";
import type { AgentEvent } from "../../src/agent/types.ts";
import { SecretRedactor } from "../../src/infrastructure/text/secret-redactor.ts";
import { noteTool, user } from "../support/agent-run.ts";
import { createSessionProject, note } from "../support/session-project.ts";

const KEY = "sk-ant-api03-Zq8vR2mT5xW9yB1nC4dF7gH0jK3lP6sU";
const redactor = new SecretRedactor([{ value: KEY, placeholder: "[key of anthropic]" }]);

test("what the user says, runs and names, and what tools return and steer is saved and told without keys", async () => {
  const project = await createSessionProject();
  const echo = noteTool();
  const events: AgentEvent[] = [];
  const session = project.manager({
    agentConfig: {
      model: project.model,
      systemPrompt: "Test.",
      tools: [
        {
          ...echo,
          async execute(_args, context) {
            context.onUpdate?.(`so far ${KEY} ${KEY.slice(0, 15)}`);
            session.steer(`Use ${KEY}.`);
            return { output: `out ${KEY}`, note: `note ${KEY}`, metadata: { diff: `-${KEY}` } };
          },
        },
      ],
      streamFunction: project.playing(note("a"), { text: "Done." }),
      redactor,
    },
  });
  await session.notify([
    { type: "text", text: "!cat .env" },
    { type: "text", text: `A=${KEY}` },
  ]);
  await session.run(user(`Is it ${KEY}?`)).consume((event) => events.push(event));
  session.rename(`About ${KEY}`);
  session.close();
  const saved = JSON.stringify(project.lines());
  expect(JSON.stringify([saved, events])).not.toContain(KEY.slice(0, 14));
  expect(saved.match(/\[key of anthropic\]/g)).toHaveLength(7);
  expect(events).toContainEqual(
    expect.objectContaining({ type: "tool_update", partialResult: "so far [key of anthropic] " }),
  );
  expect(events).toContainEqual(
    expect.objectContaining({
      type: "tool_end",
      output: "out [key of anthropic]\nnote [key of anthropic]",
      metadata: { diff: "-[key of anthropic]" },
    }),
  );
  expect(events).toContainEqual(
    expect.objectContaining({ type: "steering", text: "Use [key of anthropic]." }),
  );
});

test("a copy of a session that holds a key is saved without it, and the session's own file stays as it is", async () => {
  const project = await createSessionProject({ text: "Done." });
  const first = project.manager();
  await first.run(user(`It is ${KEY}.`)).result();
  first.close();
  const before = project.lines();
  const agentConfig = {
    model: project.model,
    systemPrompt: "Test.",
    tools: [],
    streamFunction: project.playing(),
    redactor,
  };
  const session = project.manager({ agentConfig });
  await session.resume({ sessionId: first.sessionId });
  const fork = await session.fork();
  fork.close();
  session.close();
  expect(JSON.stringify(project.lines(fork.sessionId))).toContain("It is [key of anthropic].");
  expect(JSON.stringify(project.lines(fork.sessionId))).not.toContain(KEY);
  expect(project.lines(first.sessionId)).toEqual(before);
});
