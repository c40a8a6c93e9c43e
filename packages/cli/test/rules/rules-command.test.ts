import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;

beforeEach(() => {
  place = createTemporaryProject();
  place.write("AGENTS.md", "# Work\n\n- Never push.\n- Never use `any`.\n");
});

afterEach(() => place.remove());

const rules = async (...args: string[]) => runDiligent(place, ["rules", ...args]);
const listed = async () => JSON.parse((await rules("--json")).stdout);

const NEVER_PUSH = "refuses git push, git send-pack, git subtree push, git lfs push";

test("rules lists each rule with its line, its guard, or why nothing is enforced", async () => {
  const { stdout, exitCode } = await rules("list");
  expect([stdout, exitCode]).toEqual([
    [
      "never-push (AGENTS.md:3) (not trusted, see diligent trust)",
      "    Never push.",
      `    ${NEVER_PUSH}`,
      "",
      "Not enforced:",
      "  AGENTS.md:4: Never use `any`.",
      "      it names no command, path or check that can be recognized",
      "",
    ].join("\n"),
    0,
  ]);
  expect(await listed()).toEqual([
    {
      ...{ rule: "Never push.", source: "AGENTS.md", line: 3, guard: NEVER_PUSH },
      ...{ name: "never-push", state: "untrusted" },
    },
    {
      ...{ rule: "Never use `any`.", source: "AGENTS.md", line: 4, guard: null, name: "never-use-any" },
      ...{ reason: "it names no command, path or check that can be recognized" },
    },
  ]);
});

test("a project's rules are shown by trust, bind after it, and wait again when they change", async () => {
  const { stdout } = await runDiligent(place, ["trust", "--yes"]);
  expect(stdout).toContain("Rules that calls of the model are held to");
  expect(stdout).toContain(`never-push = Never push. → ${NEVER_PUSH}`);
  expect((await listed())[0]).toMatchObject({ state: "active" });
  place.write("AGENTS.md", "Other words.\n\n- Never push.\n");
  expect((await listed())[0]).toMatchObject({ state: "active", line: 3 });
  place.write("AGENTS.md", "- Never push.\n- Never use sudo.\n");
  expect((await listed())[0]).toMatchObject({ state: "untrusted" });
});

test("the user's own file and configuration bind without trust, and switch rules off by name", async () => {
  const userDirectory = join(place.home, ".config", "diligent");
  mkdirSync(userDirectory, { recursive: true });
  writeFileSync(join(userDirectory, "AGENTS.md"), "Never use sudo.\n");
  place.configure({ rules: { "never-push": false, mine: "do not edit dist/", unclear: "be nice" } });
  const found = await listed();
  expect(
    found.map(({ name, source, state, guard }: Record<string, string>) => [name, source, state, guard]),
  ).toEqual([
    ["mine", "configuration", "active", "refuses to change dist/"],
    ["unclear", "configuration", undefined, null],
    ["never-use-sudo", "~/.config/diligent/AGENTS.md", "active", "refuses sudo, doas"],
    ["never-push", "AGENTS.md", "off", NEVER_PUSH],
    ["never-use-any", "AGENTS.md", undefined, null],
  ]);
});

test("a project's configuration neither adds rules nor switches them off", async () => {
  place.write("diligent.jsonc", { rules: { "never-push": false } });
  await runDiligent(place, ["trust", "--yes"]);
  const { stderr } = await runDiligent(place, ["config"]);
  expect(stderr).toContain("rules");
  expect((await listed())[0]).toMatchObject({ name: "never-push", state: "active" });
});

test("rules of subdirectories are listed, those of packages are not", async () => {
  place.write("web/CLAUDE.md", "Use bun, not npm.\n");
  place.write("node_modules/x/CLAUDE.md", "Never use sudo.\n");
  expect((await listed()).map(({ source }: { source: string }) => source)).toEqual([
    "AGENTS.md",
    "AGENTS.md",
    "web/CLAUDE.md",
  ]);
});

test("rules check reads one file; a missing one, and a wrong word, are usage errors", async () => {
  place.write("other.md", "Use bun, not npm.\n");
  const { stdout, exitCode } = await rules("check", "other.md");
  expect([stdout, exitCode]).toEqual([
    "use-bun-not-npm (other.md:1)\n    Use bun, not npm.\n    refuses npm, npx\n",
    0,
  ]);
  expect(await rules("check", "missing.md")).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("There is no file missing.md."),
  });
  expect(await rules("check")).toMatchObject({ exitCode: 2 });
  expect(await rules("chek", "other.md")).toMatchObject({ exitCode: 2 });
  expect(await rules("list", "x")).toMatchObject({ exitCode: 2 });
});
