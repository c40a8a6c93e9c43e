import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { GOOD_SUMMARY, SUMMARY_HEADINGS } from "../../core/test/support/summaries.ts";
import {
  ANTHROPIC,
  type CountingServer,
  configureModel,
  startCountingServer,
} from "./support/counting-service.ts";
import { writeLongSession } from "./support/long-session.ts";
import { REFACTORED, REFACTORING_DONE, refactorConfig } from "./support/refactoring.ts";
import { runDiligent } from "./support/run-diligent.ts";
import { runInTerminal } from "./support/run-in-terminal.ts";
import { savedLines, sessionIds } from "./support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "./support/temporary-project.ts";

/*
 * The acceptance criteria for the context, one test each, as far as no other file covers them. The rest:
 * - saving knowledge: core/test/tools/add-knowledge.test.ts; from one session to the next:
 *   knowledge-run.test.ts
 * - the order of knowledge: core/test/knowledge/ranker.test.ts
 * - OpenAI, chosen by its model: provider-selection.test.ts; with tools and a compaction:
 *   compaction-demo.test.ts
 * - that all tests pass: `bun run check`
 */

const REQUEST = "Refactor the config module.";
const ROOT = join(import.meta.dir, "..", "..", "..");

let place: TemporaryProject;
let server: CountingServer;
let screen: string;
let sessionId: string | undefined;

/** One long run in a terminal, in a small window, whose results all tests examine. */
beforeAll(async () => {
  place = createTemporaryProject();
  const answer = refactorConfig(place, { rounds: 3, characters: 9_000 });
  server = await startCountingServer(ANTHROPIC, { window: 24_000, answer });
  const limits = { contextWindow: 24_000, maxOutputTokens: 2_000 };
  configureModel(place, ANTHROPIC, server, { limits });
  const program = runInTerminal(place, [REQUEST]);
  await program.shown(REFACTORING_DONE);
  await program.shown("diligent> ");
  program.type("\x04");
  await program.exitCode;
  screen = program.screen;
  [sessionId] = sessionIds(place);
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  place.remove();
});

const compactions = () => savedLines(place, sessionId).filter(({ type }) => type === "compaction");

describe("bun install", () => {
  test("resolves every dependency, openai included", () => {
    const dependencies = ["core", "cli"].flatMap((name) => {
      const path = join(ROOT, "packages", name);
      const { dependencies: needed } = JSON.parse(readFileSync(join(path, "package.json"), "utf8"));
      return Object.keys(needed).map((dependency) => ({ dependency, path }));
    });
    expect(dependencies.map(({ dependency }) => dependency)).toContain("openai");
    for (const { dependency, path } of dependencies)
      expect(() => Bun.resolveSync(`${dependency}/package.json`, path)).not.toThrow();
  });
});

describe("compaction", () => {
  test("starts above the threshold and is visible", () => {
    const starts = [...screen.matchAll(/⟳ Compacting context \((\d+)k tokens\)\.\.\./g)];
    const ends = [...screen.matchAll(/Context compacted: (\d+)k → (\d+)k tokens/g)];
    expect(starts.length).toBeGreaterThan(0);
    expect(ends).toHaveLength(starts.length);
    for (const [, before, after] of ends) {
      // A quarter of the window is kept free.
      expect(Number(before)).toBeWithin(18, 25);
      expect(Number(after)).toBeLessThan(Number(before));
    }
    expect([server.refused, server.problems]).toEqual([0, []]);
  });

  test("requests a summary with the documented structure and stores it unchanged", () => {
    for (const { system, maxTokens } of server.summaries) {
      expect(system.match(/^##+ .*$/gm)?.slice(0, SUMMARY_HEADINGS.length)).toEqual(SUMMARY_HEADINGS);
      expect(maxTokens).toBeLessThanOrEqual(4_096);
    }
    for (const { summary } of compactions()) expect(summary).toBe(GOOD_SUMMARY);
  });

  test("tracks the files that were read and modified across all compactions", () => {
    expect(compactions().at(-1)?.details).toEqual({
      readFiles: REFACTORED.read,
      modifiedFiles: REFACTORED.modified,
    });
  });

  test("rebuilds the context from the summary and the kept messages", () => {
    const lines = savedLines(place, sessionId);
    const last = lines.findLastIndex(({ type }) => type === "compaction");
    const firstKept = lines.findIndex(({ id }) => id === lines[last]?.firstKeptEntryId);
    expect(firstKept).toBeWithin(1, last);
    const { messages = [] } =
      server.asked[server.asked.findLastIndex(({ isSummary }) => isSummary) + 1] ?? {};
    expect(messages[0]).toStartWith(`[Session Summary]\n${GOOD_SUMMARY}`);
    expect(messages[0]).toContain(`<user-message>\n${REQUEST}\n</user-message>`);
    const kept = lines
      .slice(firstKept, last)
      .flatMap(({ type, message }) => (type === "message" ? [message] : []));
    expect(messages).toHaveLength(1 + kept.length);
    expect(messages[1]).toStartWith(/Step \d+\./.exec(JSON.stringify(kept[0]))?.[0] ?? "none");
  });

  test("survives a resumption of the session", async () => {
    const before = server.turns.at(-1)?.messages ?? [];
    const { stdout } = await runDiligent(place, ["-c", "-p", "what were we working on?"]);
    expect(stdout).toBe("We were refactoring the config module.\n");
    const { messages = [] } = server.turns.at(-1) ?? {};
    expect(messages.slice(0, before.length)).toEqual(before);
    expect(messages[0]).toStartWith("[Session Summary]\n");
    expect(messages.at(-1)).toBe("what were we working on?");
  });
});

test("a session of version 1 still loads", async () => {
  const path = writeLongSession(place, ANTHROPIC.model, { turns: 2, charactersPerMessage: 20, version: 1 });
  const before = readFileSync(path, "utf8");
  const { stdout, exitCode } = await runDiligent(place, ["--continue", "20260225", "-p", "go on"]);
  expect([stdout, exitCode]).toEqual(["We were refactoring the config module.\n", 0]);
  const { messages = [] } = server.turns.at(-1) ?? {};
  const said = before
    .split("\n")
    .slice(1, -1)
    .map((line) => JSON.parse(line).message.content);
  expect(messages).toEqual([...said.map((content) => content[0].text ?? content), "go on"]);
  expect(readFileSync(path, "utf8")).toStartWith(before);
});

test("the code contains no way around its types", () => {
  const sources = ["core", "cli"].flatMap((name) =>
    [...new Bun.Glob("**/*.ts").scanSync(join(ROOT, "packages", name, "src"))].map((file) =>
      join(ROOT, "packages", name, "src", file),
    ),
  );
  expect(sources.length).toBeGreaterThan(200);
  const escapes = sources.filter((path) => {
    const text = readFileSync(path, "utf8");
    if (/@ts-(?:ignore|expect-error|nocheck)|biome-ignore .*noExplicitAny/.test(text)) return true;
    // Comments, texts, and regular expressions where a value begins.
    const code = text.replaceAll(
      /\/\*[\s\S]*?\*\/|\/\/.*$|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|(?<=[(=,:[{;!?]\s*)\/(?:\[(?:[^\]\\\n]|\\.)*\]|[^/\\\n[]|\\.)+\/[a-z]*/gm,
      "",
    );
    return /(?:[:<|&,]|\bas|=>|\bextends)\s*any\s*(?:[\][>;,)=|&{}]|$)/m.test(code);
  });
  expect(escapes).toEqual([]);
});
