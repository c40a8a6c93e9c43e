import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  type CountingServer,
  configureModel,
  OPENAI,
  startCountingServer,
} from "../support/counting-service.ts";
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

async function serve(answer: (prompt: string) => string | Promise<string>): Promise<CountingServer> {
  const server = await startCountingServer(OPENAI, {
    window: 128_000,
    answer: ({ messages }) => answer(messages.at(-1) ?? ""),
  });
  configureModel(place, OPENAI, server);
  return server;
}

function start(): TerminalProgram {
  const program = runInTerminal(place, []);
  programs.push(program);
  return program;
}

test("the line prompt answers an unknown command with the nearest one, without a request", async () => {
  await using server = await serve((prompt) => `Answer to ${prompt}.`);
  const program = start();
  await program.shown("diligent> ");
  program.type("/hlep\r");
  await program.shown("Unknown command /hlep (did you mean /help?)");
  await program.shown("diligent> ");
  program.type("//help\r");
  await program.shown("Answer to /help.");
  await program.shown("diligent> ");
  program.type("/etc/hosts\r");
  await program.shown("Answer to /etc/hosts.");
  expect(server.asked).toHaveLength(2);
});

test("unknown commands and /quit do not join the conversation while the model answers", async () => {
  const answer = Promise.withResolvers<string>();
  await using server = await serve(() => answer.promise);
  const program = start();
  await program.shown("diligent> ");
  program.type("go on\r");
  while (server.turns.length === 0) await Bun.sleep(5);
  program.type("/hlep\r");
  await program.shown("did you mean /help?");
  program.type("/quit\r");
  await program.shown("Type /quit at the prompt to quit; Ctrl+C stops the current task.");
  answer.resolve("Here it is.");
  await program.shown("Here it is.");
  await program.shown("diligent> ");
  expect(server.asked).toHaveLength(1);
});
