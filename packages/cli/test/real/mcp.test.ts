import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeUserConfig } from "../support/compatible-service.ts";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject } from "../support/temporary-project.ts";

const SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
const SERVERS = [
  "@modelcontextprotocol/server-everything@2026.8.31",
  "@modelcontextprotocol/server-filesystem@2026.8.31",
  "@modelcontextprotocol/server-memory@2026.8.31",
];
const CLIENT = join(import.meta.dir, "../../../core/test/support/conformance-client.ts");

/** Ways to sign in without a user, or with a key for each request; diligent offers neither. */
const NOT_OFFERED = [
  "auth/client-credentials-jwt",
  "auth/client-credentials-basic",
  "auth/enterprise-managed-authorization",
  "auth/dpop",
  "auth/dpop-nonce",
  "auth/wif-jwt-bearer",
];

const directory = mkdtempSync(join(tmpdir(), "diligent-mcp-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

beforeAll(() => {
  writeFileSync(join(directory, "package.json"), "{}");
  const added = Bun.spawnSync([process.execPath, "add", "--exact", "--ignore-scripts", SUITE, ...SERVERS], {
    cwd: directory,
    stdout: "ignore",
    stderr: "pipe",
  });
  if (added.exitCode !== 0) throw new Error(`The packages cannot be installed: ${added.stderr}`);
}, 300_000);

const installed = (name: string) =>
  join(directory, "node_modules/@modelcontextprotocol", name, "dist/index.js");

test("every client scenario of the official suite passes but those that are not offered", async () => {
  const expected = join(directory, "expected.yml");
  writeFileSync(expected, `client:\n${NOT_OFFERED.map((name) => `  - ${name}\n`).join("")}`);
  const suite = Bun.spawn(
    [
      ...[process.execPath, installed("conformance"), "client", "--suite", "all", "--timeout", "180000"],
      ...["--command", `${process.execPath} ${CLIENT}`, "--expected-failures", expected],
      ...["--output-dir", join(directory, "results")],
    ],
    // The homes of its clients are removed with the directory.
    { stdout: "pipe", stderr: "pipe", cwd: directory, env: { ...process.env, TMPDIR: directory } },
  );
  const output = await new Response(suite.stdout).text();
  const summary = output.slice(output.indexOf("=== SUITE SUMMARY"));
  const failed = [...summary.matchAll(/^✗ (\S+): \d+ passed, ([1-9]\d*) failed/gm)].map((match) => match[1]);
  expect(summary).toContain("Total:");
  expect(failed.sort()).toEqual([...NOT_OFFERED].sort());
}, 600_000);

describe("the reference servers", () => {
  test("are found, listed and called by the program, and none of their processes is left", async () => {
    const place = createTemporaryProject();
    const mcpServers = {
      everything: { command: process.execPath, args: [installed("server-everything")] },
      files: { command: process.execPath, args: [installed("server-filesystem"), place.project] },
      memory: {
        command: process.execPath,
        args: [installed("server-memory")],
        env: { MEMORY_FILE_PATH: join(directory, "memory.jsonl") },
      },
    };
    writeUserConfig(place, { mcpServers });
    const { stdout } = await runDiligent(place, ["mcp", "list", "--json"]);
    const listed: { name: string; state: string; tools: number }[] = JSON.parse(stdout);
    expect(listed.map(({ name, state }) => [name, state])).toEqual([
      ["everything", "ready"],
      ["files", "ready"],
      ["memory", "ready"],
    ]);
    expect(listed.every(({ tools }) => tools >= 5)).toBe(true);
    const script = join(place.home, "script.json");
    const turns = [
      { toolCalls: [{ name: "mcp__everything__echo", input: { message: "hello" } }] },
      { toolCalls: [{ name: "mcp__files__list_allowed_directories", input: {} }] },
      { text: "Done." },
    ];
    writeFileSync(script, JSON.stringify({ version: 1, turns }));
    const run = await runDiligent(place, [
      ...["-p", "Go.", "-m", `scripted/${script}`, "--approval", "auto", "--output-format", "stream-json"],
    ]);
    const results = parseLines(run.stdout).filter(({ type }) => type === "tool_end");
    expect(results.map(({ output }) => output)).toEqual([
      "Echo: hello",
      expect.stringContaining(place.project),
    ]);
    const left = Bun.spawnSync(["pgrep", "-f", directory]);
    expect(left.stdout.toString()).toBe("");
  }, 120_000);
});
