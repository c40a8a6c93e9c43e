import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { configureModel, OPENAI, startCountingServer } from "../support/counting-service.ts";
import { runInTerminal, type TerminalProgram } from "../support/run-in-terminal.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
const programs: TerminalProgram[] = [];

beforeEach(() => {
  place = createTemporaryProject();
});

afterEach(() => {
  for (const program of programs.splice(0)) program.process.kill("SIGKILL");
  place.remove();
});

async function serve() {
  const server = await startCountingServer(OPENAI, {
    window: 128_000,
    answer: ({ messages }) => `Heard ${messages.length}.`,
  });
  configureModel(place, OPENAI, server);
  return server;
}

function start(...args: string[]): TerminalProgram {
  const program = runInTerminal(place, args);
  programs.push(program);
  return program;
}

test("! runs a command and shares it with the model, !! does not share it, and Ctrl+C stops it", async () => {
  await using server = await serve();
  const program = start();
  await program.shown("diligent> ");
  program.type("!!echo pri''vate\r");
  await program.shown("private");
  program.type("!echo to''ld\r");
  await program.shown("told");
  program.type("!touch began; sleep 30\r");
  while (!existsSync(join(place.project, "began"))) await Bun.sleep(5);
  program.type("\x03");
  await program.shown("[interrupted; process group killed]");
  program.type("!\r");
  await program.shown("Type a shell command after !");
  program.type("what was that?\r");
  await program.shown("Heard");
  const asked = server.asked.at(-1)?.messages.join("\n") ?? "";
  expect([asked.includes("told"), asked.includes("interrupted"), asked.includes("vate")]).toEqual([
    true,
    true,
    false,
  ]);
});

test("a prompt of the command line is never a shell command, whatever it begins with", async () => {
  await using server = await serve();
  const program = start("!touch made");
  await program.shown("Heard 1.");
  expect(existsSync(join(place.project, "made"))).toBe(false);
  expect(server.asked).toHaveLength(1);
});
