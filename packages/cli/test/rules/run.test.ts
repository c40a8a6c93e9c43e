import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseLines, runDiligent } from "../support/run-diligent.ts";
import { savedLines } from "../support/session-files.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject({ sandbox: "off" });
  place.configure({ sandbox: "off" });
});

afterEach(() => place.remove());

const bash = (command: string) => ({ toolCalls: [{ name: "bash", input: { command } }] });
const write = (path: string, content = "x\n") => ({
  toolCalls: [{ name: "write", input: { file_path: path, content } }],
});

async function run(turns: object[], ...args: string[]) {
  place.write("script.json", { version: 1, turns });
  const { stdout, stderr, exitCode } = await runDiligent(place, [
    ...["-p", "-m", "scripted/script.json", "--approval", "auto", "--output-format", "stream-json"],
    ...[...args, "go"],
  ]);
  const lines = parseLines(stdout);
  const results = lines.filter(({ type }) => type === "tool_end").map(({ output }) => String(output));
  return {
    lines,
    results,
    stderr,
    exitCode,
    violations: lines.filter(({ type }) => type === "rule_violation"),
  };
}

const trust = () => runDiligent(place, ["trust", "--yes"]);

describe("a trusted rule of the project", () => {
  test("refuses a command with the sentence quoted, in every mode; it is an event and an entry", async () => {
    place.write("AGENTS.md", "# Work\n\nNever create tags.\n");
    await trust();
    const { results, violations, exitCode } = await run([
      bash("touch made; g=git; $g tag v1"),
      { text: "I may not." },
    ]);
    expect(results).toEqual([
      "Refused by a rule: “Never create tags.” (AGENTS.md:3). Here: `git tag v1`. Keep to the rule; do not work around it.",
    ]);
    const violation = { rule: "Never create tags.", source: "AGENTS.md", line: 3, name: "never-create-tags" };
    expect(violations).toEqual([expect.objectContaining(violation)]);
    expect(exitCode).toBe(0);
    expect(existsSync(join(place.project, "made"))).toBe(false);
    expect(savedLines(place).filter(({ type }) => type === "rule_violation")).toEqual([
      expect.objectContaining(violation),
    ]);
  });

  test("refuses what the tools of a server would change or run, as far as their arguments name it", async () => {
    const args = [join(import.meta.dir, "../../../core/test/support/mcp-server.ts"), "files"];
    place.configure({ sandbox: "off", mcpServers: { disk: { command: process.execPath, args } } });
    place.write("AGENTS.md", "Do not edit `generated/`.\n\nNever push.\n");
    await trust();
    const call = (name: string, input: object) => ({ toolCalls: [{ name, input }] });
    const { results, violations } = await run([
      call("mcp__disk__write_file", { path: "generated/a.ts" }),
      call("mcp__disk__write_file", { path: "src/a.ts" }),
      call("mcp__disk__read_file", { path: "generated/a.ts" }),
      call("mcp__disk__run_command", { command: "git push" }),
      call("mcp_call", {
        tool: "mcp__disk__write_file",
        input: { path: join(place.project, "generated/b") },
      }),
      { text: "Done." },
    ]);
    const isRefused = results.map((text) => text.startsWith("Refused by a rule: "));
    expect(isRefused).toEqual([true, false, false, true, true]);
    expect(results[1]).toContain("called write_file");
    expect(violations.map(({ line }) => line)).toEqual([1, 3, 1]);
  });

  test("refuses what tools and commands would change, also through links", async () => {
    place.write("CLAUDE.md", "Do not edit `generated/`.\n");
    place.write("generated/a.ts", "1;\n");
    await trust();
    const { results } = await run([
      write("generated/a.ts"),
      bash("ln -s generated link"),
      write("link/b.ts"),
      bash("echo 2 > generated/a.ts"),
      bash("cd generated && sed -i s/1/2/ a.ts"),
      bash("cat generated/a.ts"),
      write("other.ts"),
      { text: "Done." },
    ]);
    const isRefused = results.map((text) =>
      text.startsWith("Refused by a rule: “Do not edit `generated/`.”"),
    );
    expect(isRefused).toEqual([true, false, true, true, true, false, false]);
  });

  test("holds a script that the model has just written, and one that it writes in the same line", async () => {
    place.write("AGENTS.md", "Never use sudo.\n");
    await trust();
    const { results } = await run([
      write("x.sh", "#!/bin/sh\nsudo ls\n"),
      bash("sh x.sh"),
      bash("printf 'su%s ls' do > y.sh && . ./y.sh"),
      { text: "Done." },
    ]);
    expect(results.map((text) => text.includes("Refused by a rule"))).toEqual([false, true, true]);
  });

  test("of a directory below binds what is done there", async () => {
    place.write("web/CLAUDE.md", "Use bun, not npm.\n");
    await trust();
    const { results } = await run([
      bash("npm config get prefix"),
      bash("cd web && npm config get prefix"),
      { text: "Done." },
    ]);
    expect(results.map((text) => text.includes("Refused by a rule"))).toEqual([false, true]);
  });
});

test("a project's rules do not bind before trust, which a line says", async () => {
  place.write("AGENTS.md", "Never create tags.\n");
  const { results, stderr } = await run([bash("git tag v1"), { text: "Done." }]);
  expect(results[0]).not.toContain("Refused by a rule");
  expect(stderr).toContain(
    '1 file of rules of this project waits for your trust and is not used; see "diligent trust"',
  );
});

test("the user's configuration binds, and switches a rule off by its name", async () => {
  place.write("AGENTS.md", "Never create tags.\n");
  place.configure({ sandbox: "off", rules: { "never-create-tags": false, mine: "no new dependencies" } });
  await trust();
  place.write("package.json", { dependencies: { a: "1" } });
  const { results } = await run([
    bash("git tag v1"),
    bash("npm install left-pad"),
    write("package.json", '{"dependencies":{"a":"1","b":"1"}}'),
    write("package.json", '{"dependencies":{"a":"2"}}'),
    { text: "Done." },
  ]);
  expect(
    results.map((text) => text.includes("Refused by a rule: “no new dependencies” (configuration)")),
  ).toEqual([...[false, true, true, false]]);
});

test("the message of a commit has to follow the rule", async () => {
  place.write("AGENTS.md", "Commit messages follow Conventional Commits.\n");
  await trust();
  const { results } = await run([
    bash('git commit --allow-empty -m "added things"'),
    bash("git commit --allow-empty -m \"$(cat <<'EOF'\nfeat(x): add things\n\nWhy.\nEOF\n)\""),
    { text: "Done." },
  ]);
  expect(results.map((text) => text.includes("Refused by a rule"))).toEqual([true, false]);
});

describe("a check that a rule demands", () => {
  beforeEach(async () => {
    place.write(
      "AGENTS.md",
      "Run the tests before you finish.\n\nAlways run `node --test` before committing.\n",
    );
    place.write("a.test.mjs", 'import { test } from "node:test";\ntest("one", () => {});\n');
    await trust();
  });

  test("is asked for once at the end of a turn that changed something", async () => {
    const { lines, violations } = await run([
      write("b.mjs"),
      { text: "Done." },
      bash("node --test"),
      { text: "Tested." },
    ]);
    const asked = lines.filter(
      ({ type, text }) => type === "steering" && String(text).includes("“Run the tests before you finish.”"),
    );
    expect(asked).toHaveLength(1);
    expect(violations).toEqual([]);
  });

  test("is a violation if it is missing still; the run ends", async () => {
    const { violations, exitCode } = await run([write("b.mjs"), { text: "Done." }, { text: "I will not." }]);
    expect(violations).toEqual([
      expect.objectContaining({ rule: "Run the tests before you finish.", line: 1 }),
    ]);
    expect(exitCode).toBe(0);
  });

  test("is not asked for when nothing changed, or when it ran after the last change", async () => {
    expect(
      (await run([bash("ls"), { text: "Two files." }])).lines.filter(({ type }) => type === "steering"),
    ).toEqual([]);
    const { lines } = await run([write("c.mjs"), bash("node --test"), { text: "Done." }]);
    expect(lines.filter(({ type }) => type === "steering")).toEqual([]);
  });

  test("precedes a commit, also on the same line", async () => {
    const commit = "git commit --allow-empty -m x";
    const { results } = await run([
      write("d.mjs"),
      bash(commit),
      bash(`node --test && ${commit}`),
      bash("node --test"),
      bash(commit),
      { text: "Done." },
    ]);
    expect(results.map((text) => text.includes("“Always run `node --test` before committing.”"))).toEqual([
      ...[false, true, false, false, false],
    ]);
  });
});
