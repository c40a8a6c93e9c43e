import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { BUSY_MS } from "../../../core/test/support/busy-machine.ts";
import { GOOD_SUMMARY, inTag } from "../../../core/test/support/summaries.ts";
import {
  type CountingModel,
  type CountingServer,
  configureModel,
  OPENAI,
  startCountingServer,
} from "../support/counting-service.ts";
import { writeLongSession } from "../support/long-session.ts";
import { runInTerminal, type TerminalProgram } from "../support/run-in-terminal.ts";
import { entryTypes, withoutConnections } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
let path: string;
const programs: TerminalProgram[] = [];

beforeEach(() => {
  place = createTemporaryProject();
  path = writeLongSession(place, OPENAI.model, { turns: 4, charactersPerMessage: 2_000 });
});

afterEach(() => {
  for (const program of programs.splice(0)) program.process.kill("SIGKILL");
  place.remove();
});

/** Answers with the text of the last message. */
async function serve(model: Partial<CountingModel> = {}): Promise<CountingServer> {
  const answer: CountingModel["answer"] = ({ messages }) => `Answer to ${messages.at(-1)}`;
  const server = await startCountingServer(OPENAI, { window: 128_000, answer, ...model });
  configureModel(place, OPENAI, server);
  return server;
}

async function start(...args: string[]): Promise<TerminalProgram> {
  const program = runInTerminal(place, args);
  programs.push(program);
  await program.shown("diligent> ");
  return program;
}

const HANGING = { summarize: () => ({ silent: true }) };

describe("/compact", () => {
  test("summarizes the conversation, with the following text as the focus", async () => {
    await using server = await serve();
    const program = await start("-c");
    program.type("/compact the lexer's numbers\r");
    await program.shown("⟳ Compacting context (");
    await program.shown("Context compacted: ");
    await program.shown("diligent> ");
    expect(inTag("focus", server.summaries[0]?.messages[0])).toBe("the lexer's numbers");
    program.type("go on\r");
    await program.shown("Answer to go on");
    expect(server.turns[0]?.messages[0]).toStartWith(`[Session Summary]\n${GOOD_SUMMARY}`);
    expect([server.asked.length, server.problems]).toEqual([2, []]);
  });

  test("--undo sends the messages themselves again, also in a session that was resumed since", async () => {
    await using server = await serve();
    const program = await start("-c");
    program.type("/compact --undo\r");
    await program.shown("No summary to undo in this conversation.");
    program.type("/compact\r");
    await program.shown("Context compacted: ");
    await program.shown("diligent> ");
    program.type("/quit\r");
    await program.process.exited;
    const resumed = await start("-c");
    resumed.type("/compact --undo now\r");
    await resumed.shown("error: /compact --undo takes no text, not now.");
    resumed.type("/compact --redo\r");
    await resumed.shown("error: /compact has no option --redo");
    resumed.type("/compact --undo\r");
    await resumed.shown("Summary undone: ");
    await resumed.shown("diligent> ");
    resumed.type("go on\r");
    await resumed.shown("Answer to go on");
    expect(server.turns[0]?.messages).toHaveLength(9);
    expect(server.turns[0]?.messages.join()).not.toContain("[Session Summary]");
    expect(entryTypes(place).slice(9)).toEqual(["compaction", "compaction_undo", "message", "message"]);
    expect([server.summaries.length, server.problems]).toEqual([1, []]);
  });

  test("--preview shows what would be summarized, kept and pinned, and summarizes only after a yes", async () => {
    await using server = await serve();
    const program = await start("-c");
    program.type("/compact --preview the lexer\r");
    await program.shown("What a summary would change");
    for (const part of ["summarized", "kept", "pinned", "files"])
      expect(program.screen).toContain(`  ${part} `);
    await program.shown("Summarize now? [y/N] ");
    program.type("perhaps\r");
    await program.shown("Please answer y or n. Summarize now? [y/N] ");
    program.type("\r");
    await program.shown("Not summarized; the conversation is unchanged.");
    expect(server.asked).toEqual([]);
    await program.shown("diligent> ");
    program.type("/compact --preview the lexer\r");
    await program.shown("Summarize now? [y/N] ");
    program.type("y\r");
    await program.shown("Context compacted: ");
    expect(inTag("focus", server.summaries[0]?.messages[0])).toBe("the lexer");
    expect(entryTypes(place).slice(9)).toEqual(["compaction"]);
  });

  test("keeps what /pin has pinned by its number verbatim, and /pin unpins it", async () => {
    await using server = await serve();
    const program = await start("-c");
    program.type("/pin\r");
    await program.shown("Pin (0 of ");
    await program.shown("/pin NUMBER or ID selects one.");
    await program.shown("diligent> ");
    program.type("/pin 2\r");
    await program.shown("Pinned model: ");
    await program.shown("diligent> ");
    program.type("/pin\r");
    await program.shown("  2. * model: ");
    await program.shown("diligent> ");
    program.type("/compact\r");
    await program.shown("Context compacted: ");
    await program.shown("diligent> ");
    program.type("go on\r");
    await program.shown("Answer to go on");
    expect(server.turns[0]?.messages[0]).toContain("<pinned-message>");
    await program.shown("diligent> ");
    program.type("/pin 2\r");
    await program.shown("Unpinned model: ");
    expect(entryTypes(place).filter((type) => type === "pin")).toHaveLength(2);
    expect(server.problems).toEqual([]);
  });

  test("--preview at Ctrl+C leaves the conversation as it is", async () => {
    await using server = await serve();
    const program = await start("-c");
    program.type("/compact --preview\r");
    await program.shown("Summarize now? [y/N] ");
    program.type("\x03");
    await program.shown("Not summarized; the conversation is unchanged.");
    program.type("go on\r");
    await program.shown("Answer to go on");
    expect(server.summaries).toEqual([]);
  });

  test("queues prompts that are sent meanwhile", async () => {
    const summary = Promise.withResolvers<string>();
    await using server = await serve({ summarize: () => summary.promise });
    const program = await start("-c");
    program.type("/compact\r");
    await program.shown("⟳ Compacting");
    program.type("sent meanwhile\r");
    await Bun.sleep(100);
    expect(server.turns).toEqual([]);
    summary.resolve(GOOD_SUMMARY);
    await program.shown("Context compacted: ");
    await program.shown("Answer to sent meanwhile");
    expect(server.turns[0]?.messages[0]).toStartWith("[Session Summary]");
    expect(entryTypes(place).slice(9)).toEqual(["compaction", "message", "message"]);
  });

  test("waits for the current run", async () => {
    const answer = Promise.withResolvers<string>();
    await using server = await serve({ answer: () => answer.promise });
    const program = await start("-c");
    program.type("go on\r");
    while (server.turns.length === 0) await Bun.sleep(5);
    program.type("/compact\r");
    await Bun.sleep(100);
    expect(server.summaries).toEqual([]);
    answer.resolve("Here it is.");
    await program.shown("Here it is.");
    await program.shown("Context compacted: ");
    expect(entryTypes(place).slice(9)).toEqual(["message", "message", "compaction"]);
    expect(server.turns).toHaveLength(1);
  });

  test("says so if there is nothing to summarize", async () => {
    await using server = await serve();
    const program = await start();
    program.type("  /compact\r");
    await program.shown("Nothing to summarize yet.");
    await program.shown("diligent> ");
    program.type("/compactor is none\r");
    await program.shown("Unknown command /compactor (did you mean /compact?)");
    expect(server.asked).toEqual([]);
  });
});

describe("during /compact in line mode", () => {
  test("Ctrl+C leaves the session unchanged, and the conversation continues", async () => {
    await using server = await serve(HANGING);
    const before = readFileSync(path, "utf8");
    const program = await start("-c");
    program.type("/compact\r");
    while (server.summaries.length === 0) await Bun.sleep(5);
    program.type("\x03");
    await program.shown("Stopped: the session is unchanged.");
    await program.shown("diligent> ");
    expect(withoutConnections(readFileSync(path, "utf8"))).toBe(before);
    program.type("go on\r");
    await program.shown("Answer to go on");
    expect(server.turns[0]?.messages[0]).toStartWith("question 0:");
  });

  test("Ctrl+C sends the queued prompt", async () => {
    await using server = await serve(HANGING);
    const program = await start("-c");
    program.type("/compact\r");
    while (server.summaries.length === 0) await Bun.sleep(5);
    await program.typeAndRead("sent meanwhile\r");
    program.type("\x03");
    await program.shown("Stopped: the session is unchanged.");
    await program.shown("Answer to sent meanwhile");
  });

  test("Ctrl+D quits at once and leaves the conversation unchanged", async () => {
    await using server = await serve(HANGING);
    const before = readFileSync(path, "utf8");
    const program = await start("-c");
    program.type("/compact\r");
    while (server.summaries.length === 0) await Bun.sleep(5);
    const pressedAt = performance.now();
    program.type("\x04");
    expect(await program.exitCode).toBe(0);
    expect(performance.now() - pressedAt).toBeLessThan(1_000 + BUSY_MS);
    expect(withoutConnections(readFileSync(path, "utf8"))).toBe(before);
  });
});
