import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAgent } from "../../src/harness/agent.ts";
import { createHarness } from "../../src/harness/harness.ts";
import { SessionJobs } from "../../src/jobs/session-jobs.ts";
import { createScriptedStream, parseScript, scriptedModel } from "../../src/provider/scripted.ts";
import type { StreamFunction } from "../../src/provider/types.ts";
import { createTools } from "../../src/tools/index.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import { createToolWorkspace } from "../support/tool-workspace.ts";

const PATCH = "*** Begin Patch\n*** Update File: a.txt\n-one\n+1\n*** End Patch";

const MAX_REQUEST_BYTES = 14 * 1024;

test.each([
  ["claude-opus-5", "anthropic"],
  ["gpt-6.2-sol", "openai"],
])(
  "the first request of %s with all tools that a user's session has is at most 14 KB",
  async (id, provider) => {
    const directory = realpathSync(makeTempDir());
    const cwd = join(directory, "project");
    mkdirSync(join(cwd, ".git"), { recursive: true });
    mkdirSync(join(directory, ".config/diligent"), { recursive: true });
    const lsp = { typescript: { command: ["tsc", "--lsp", "--stdio"], extensions: [".ts"] } };
    writeFileSync(join(directory, ".config/diligent/diligent.jsonc"), JSON.stringify({ lsp }), {
      mode: 0o600,
    });
    const script = parseScript(JSON.stringify({ version: 1, turns: [{ text: "Hello." }] }), "script.json");
    const scripted = createScriptedStream(script);
    const sizes: number[] = [];
    const tools: string[] = [];
    const streamFunction: StreamFunction = (model, context, options) => {
      sizes.push(Buffer.byteLength(JSON.stringify(context)));
      tools.push(...context.tools.map(({ name }) => name));
      return scripted(model, context, options);
    };
    const model = { ...scriptedModel("script.json", script), id, provider, contextWindow: 200_000 };
    const environment = { HOME: directory, PATH: process.env.PATH };
    const harness = await createHarness({ cwd, environment });
    const { session } = await harness.openSession(
      { fresh: true },
      { model: { model, streamFunction }, ask: async () => "once", askUser: async () => undefined },
    );
    await session.run({ role: "user", content: "hi", timestamp: 0 }).result();
    await harness.close();
    const [size = Number.POSITIVE_INFINITY] = sizes;
    expect(tools).toEqual(
      expect.arrayContaining(["bash", "job_output", "add_knowledge", "ask_user", "todo", "lsp"]),
    );
    expect(size).toBeGreaterThan(8 * 1024);
    expect(size).toBeLessThanOrEqual(MAX_REQUEST_BYTES);
  },
);

test("the tools say what models get wrong without it", () => {
  const described = createTools(createToolWorkspace({ jobs: new SessionJobs() }), {
    offersPatches: () => true,
  });
  const describedAs = (name: string) => described.find((tool) => tool.name === name)?.description;
  for (const phrase of [
    "starts in the working directory",
    "always come back",
    "time limit",
    "later calls reach them",
  ])
    expect(describedAs("bash")).toContain(phrase);
  expect(describedAs("edit")).toContain("differences in white space and quotes are tolerated");
});

/** The tools of each request of a session that types a patch into the shell and then edits the file. */
async function runAs(id: string, provider: string) {
  const directory = realpathSync(makeTempDir());
  const cwd = join(directory, "project");
  mkdirSync(join(cwd, ".git"), { recursive: true });
  writeFileSync(join(cwd, "a.txt"), "one\n");
  const turns = [
    { toolCalls: [{ name: "bash", input: { command: `apply_patch <<'EOF'\n${PATCH}\nEOF` } }] },
    { toolCalls: [{ name: "edit", input: { file_path: "a.txt", old_string: "1", new_string: "2" } }] },
    { text: "Done." },
  ];
  const script = parseScript(JSON.stringify({ version: 1, turns }), "script.json");
  const scripted = createScriptedStream(script);
  const offered: string[][] = [];
  const streamFunction: StreamFunction = (model, context, options) => {
    offered.push(context.tools.map(({ name }) => name));
    return scripted(model, context, options);
  };
  const model = { ...scriptedModel("script.json", script), id, provider };
  const agent = await createAgent({
    model: { model, streamFunction },
    cwd,
    environment: { HOME: directory, PATH: process.env.PATH },
  });
  await agent.prompt("go");
  await agent.close();
  return { offered, text: readFileSync(join(cwd, "a.txt"), "utf8") };
}

test("OpenAI's models are offered apply_patch in place of edit and write, and a typed patch is one", async () => {
  const { offered, text } = await runAs("gpt-6.2-sol", "openai");
  expect(offered[0]?.slice(0, 6)).toEqual(["read", "ls", "glob", "grep", "apply_patch", "bash"]);
  expect(offered[2]).toEqual(offered[0]);
  expect(text).toBe("2\n");
});

test("the same models behind another server are offered it too, and other models are not", async () => {
  expect((await runAs("openai/gpt-6.2-sol", "router")).offered[0]).toContain("apply_patch");
  const { offered, text } = await runAs("claude-opus-5", "anthropic");
  expect(offered[0]?.slice(0, 7)).toEqual(["read", "ls", "glob", "grep", "edit", "write", "bash"]);
  expect(text).toBe("2\n");
});
