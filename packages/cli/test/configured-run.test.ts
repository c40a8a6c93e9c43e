import { afterEach, beforeEach, expect, test } from "bun:test";
import { textAnswer } from "../../core/test/support/answers.ts";
import { startSseServer } from "../../core/test/support/sse-server.ts";
import { runDiligent } from "./support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => place.remove());

test("a run uses the project's model and sends the content of CLAUDE.md", async () => {
  place.write("diligent.jsonc", '{\n  // Project-level config\n  "model": "claude-sonnet-4-20250514"\n}\n');
  const instructions =
    "# Project Instructions\nThis project uses Bun runtime. Always prefer Bun APIs over Node.js equivalents.\n";
  const path = place.write("CLAUDE.md", instructions);
  const answer = "This project uses Bun runtime. I'll always prefer Bun APIs...";
  await using server = await startSseServer({ events: textAnswer(answer) });
  const { stdout, exitCode } = await runDiligent(place, ["-p", "what runtime should I use?"], {
    environment: { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: server.url },
  });
  expect([stdout, exitCode]).toEqual([`${answer}\n`, 0]);
  const body = JSON.stringify(server.requests[0]?.body);
  expect(body).toContain('"model":"claude-sonnet-4-20250514"');
  expect(body).toContain(
    JSON.stringify(`Instructions from: ${path}\n${instructions.trimEnd()}`).slice(1, -1),
  );
});

test("sessions with a service are listed, and number 1 continues the first", async () => {
  await using server = await startSseServer({ events: textAnswer("Done.") });
  const environment = { ANTHROPIC_API_KEY: "key", ANTHROPIC_BASE_URL: server.url };
  await runDiligent(place, ["-p", "refactor config module"], { environment });
  await runDiligent(place, ["-p", "find all TODO comments"], { environment });
  const { stdout } = await runDiligent(place, ["--list"]);
  const time = String.raw`\[\d{4}-\d\d-\d\d \d\d:\d\d\]`;
  const line = (number: number, prompt: string) => `  ${number}\\. ${time} ${prompt} \\(2 messages\\)\n`;
  const list = `^Sessions:\n${line(1, "find all TODO comments")}${line(2, "refactor config module")}$`;
  expect(stdout).toMatch(new RegExp(list));
  const resumed = await runDiligent(place, ["--continue", "1", "-p", "and now?"], { environment });
  expect([resumed.stdout, resumed.exitCode]).toEqual(["Done.\n", 0]);
  expect(JSON.stringify(server.requests.at(-1)?.body)).toMatch(/find all TODO comments.*Done\..*and now\?/);
  expect(server.problems).toEqual([]);
});
