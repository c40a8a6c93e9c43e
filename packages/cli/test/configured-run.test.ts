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

test("the project's model is asked, and told what CLAUDE.md says", async () => {
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
