import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GrantChoice, toGrantChoices } from "../../src/approval/grant-choices.ts";
import { GrantStore } from "../../src/approval/grant-store.ts";
import type { Grant } from "../../src/approval/grants.ts";
import { decideApproval } from "../../src/approval/policy.ts";
import type { ApprovalContext } from "../../src/approval/types.ts";
import { BYPASS_COMMANDS } from "../support/bypass-commands.ts";
import { createEverydayProject } from "../support/everyday-project.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import {
  HOSTILE_SURROUNDINGS,
  NEVER_WIDER,
  OFFERED_SCOPES,
  UNCOVERED_BY_GRANT,
  WIDENED_COMMANDS,
} from "../support/wider-grants.ts";

const { root, [Symbol.dispose]: remove } = createEverydayProject({ isHostile: true });
afterAll(remove);

function decide(command: string, context: Partial<ApprovalContext> = {}) {
  const request = { permission: "execute" as const, toolName: "bash", description: "", details: { command } };
  return decideApproval(request, { root, cwd: root, ...context });
}

async function choicesFor(command: string, context: Partial<ApprovalContext> = {}): Promise<GrantChoice[]> {
  const verdict = await decide(command, context);
  expect(`${command}: ${verdict.action}`).toBe(`${command}: ask`);
  return toGrantChoices(verdict);
}

async function grantsFor(command: string, reach: GrantChoice["reach"]): Promise<readonly Grant[]> {
  return (await choicesFor(command)).find((choice) => choice.reach === reach)?.grants ?? [];
}

async function widestFor(command: string): Promise<readonly Grant[]> {
  const [, ...wider] = await choicesFor(command);
  return wider.flatMap(({ grants }) => grants);
}

/** The first words that each wider choice fixes. */
function fixedWords([, ...wider]: readonly GrantChoice[]): Record<string, string> {
  const text = ({ grants }: GrantChoice) =>
    grants.map((grant) => (grant.kind === "command_prefix" ? grant.words.join(" ") : grant.kind)).join("; ");
  return Object.fromEntries(wider.map((choice) => [choice.reach, text(choice)]));
}

const PREFIXES: readonly Grant[] = WIDENED_COMMANDS.map((text) => ({
  kind: "command_prefix",
  directory: root,
  words: text.split(" "),
}));

describe('the choices of "always"', () => {
  test.each(Object.entries(OFFERED_SCOPES))("for `%s` fix its first words", async (command, scopes) => {
    expect(fixedWords(await choicesFor(command))).toEqual(scopes);
  });

  test.each(Object.entries(NEVER_WIDER))("for %s are none but the exact one", async (_, commands) => {
    const wider: string[] = [];
    for (const command of commands) {
      const choices = toGrantChoices(await decide(command));
      if (choices.length !== 1) wider.push(command);
    }
    expect(wider).toEqual([]);
  });

  test("widen each command of a line that can be, and keep the others exact", async () => {
    const choices = await choicesFor("bun test a && eslint src; ls && touch b");
    const grants = choices.map(({ reach, grants: each }) => [reach, each.map(({ kind }) => kind)]);
    expect(grants).toEqual([
      ["exact", ["command", "command", "command"]],
      ["prefix", ["command_prefix", "command", "command"]],
      ["program", ["command_prefix", "command_prefix", "command"]],
    ]);
  });

  test("are not wider for a command that a rule asks about", async () => {
    const rules = [{ permission: "execute", pattern: "bun test *", action: "ask" }] as const;
    expect(await choicesFor("bun test a", { rules })).toHaveLength(1);
  });

  test("are not wider where a rule asks about a file that is named", async () => {
    const rules = [{ permission: "write", pattern: "src/gen/**", action: "ask" }] as const;
    expect(await choicesFor("prettier --write src/gen/a.ts", { rules })).toHaveLength(1);
    expect(await choicesFor("prettier --write src/a.ts", { rules })).toHaveLength(2);
  });

  test("are not wider after a command of the same line that may move paths", async () => {
    const mode = "accept-edits" as const;
    expect(await choicesFor("mkdir -p out && eslint src", { mode })).toHaveLength(2);
    expect(await choicesFor("mv src out && eslint out", { mode })).toHaveLength(1);
  });

  test("are not wider outside the project", async () => {
    expect(await choicesFor("cd .. && bun test")).toHaveLength(1);
  });
});

describe("a grant for the first words of a command", () => {
  const covered: readonly (readonly [string, string])[] = [
    ["bun test a", "bun test"],
    ["bun test a", "bun test b --watch -t 'a b'"],
    ["bun test a", "bun test b 2>&1 | tail -5 && ls"],
    ["npm run build", "npm run build -- --watch"],
    ["git commit -m a", "git commit --amend -m 'c; rm -rf x'"],
    ["make build", "make build -kj8"],
    ["eslint src", "eslint --fix test src/lib"],
    ["npx tsc --noEmit", "npx tsc -p src/tsconfig.json"],
    ["./scripts/check.sh lint", "./scripts/check.sh lint --fix"],
  ];
  test.each(covered)("given for `%s` covers `%s`", async (asked, command) => {
    const { action, gate } = await decide(command, { grants: await widestFor(asked) });
    expect(`${action} ${gate}`).toStartWith("allow ");
  });

  test.each(Object.entries(UNCOVERED_BY_GRANT))(
    "given for `%s` does not cover others",
    async (asked, commands) => {
      const grants = await widestFor(asked);
      expect(grants.length).toBeGreaterThan(0);
      const passed: string[] = [];
      for (const command of commands) {
        if ((await decide(command, { grants })).action !== "ask") passed.push(command);
      }
      expect(passed).toEqual([]);
    },
  );

  test("holds only in its directory", async () => {
    const grants = await grantsFor("cd src && bun test a", "prefix");
    expect((await decide("cd src && bun test b", { grants })).action).toBe("allow");
    expect((await decide("bun test b", { grants })).action).toBe("ask");
    expect((await decide("cd src/lib && bun test b", { grants })).action).toBe("ask");
  });

  test("does not hold where a rule asks or denies", async () => {
    const grants = await grantsFor("bun test a", "prefix");
    const withRule = (action: "ask" | "deny") =>
      [{ permission: "execute", pattern: "bun test --watch*", action }] as const;
    expect((await decide("bun test --watch", { grants, rules: withRule("ask") })).action).toBe("ask");
    expect((await decide("bun test --watch", { grants, rules: withRule("deny") })).action).toBe("deny");
    expect((await decide("bun test b", { grants, rules: withRule("ask") })).action).toBe("allow");
  });

  test("does not cover files that a rule keeps from being read or written", async () => {
    const grants = await grantsFor("eslint src", "program");
    for (const permission of ["read", "write"] as const) {
      const rules = [{ permission, pattern: "src/gen/**", action: "deny" }] as const;
      expect((await decide("eslint --fix src/gen/a.ts", { grants, rules })).action).not.toBe("allow");
    }
  });

  test("given in the sandbox does not hold without one", async () => {
    const boxed = (await grantsFor("bun test a", "prefix")).map((grant) =>
      grant.kind === "command_prefix" ? { ...grant, boxed: true as const } : grant,
    );
    expect((await decide("bun test b", { grants: boxed })).action).toBe("ask");
  });

  test("given in the sandbox, because undo could not restore everything, covers other words there", async () => {
    const wrapper = {
      wrapCommand: () => {
        throw new Error("Deciding runs nothing.");
      },
      leave: () => () => [],
    };
    const boxed = {
      sandboxState: async () => ({ kind: "boxed", mayLeave: true, wrapper }) as const,
      canUndo: false,
    };
    const grants = (await choicesFor("bun test a", boxed)).at(-1)?.grants ?? [];
    expect(grants).toEqual([
      { kind: "command_prefix", directory: root, words: ["bun", "test"], boxed: true },
    ]);
    expect((await decide("bun test b", { ...boxed, grants })).gate).toBe("grant");
    expect((await decide("bun test --preload ./x", { ...boxed, grants })).action).toBe("ask");
    expect((await decide("bun test b", { grants })).action).toBe("ask");
  });

  test("never lets a command leave the sandbox", async () => {
    const wrapCommand = () => {
      throw new Error("Deciding runs nothing.");
    };
    const wrapper = { wrapCommand, leave: () => () => [] };
    const sandboxState = async () => ({ kind: "boxed", mayLeave: true, wrapper }) as const;
    const grants = await grantsFor("bun test a", "prefix");
    const details = { command: "bun test b", outsideSandbox: true };
    const request = { permission: "execute" as const, toolName: "bash", description: "", details };
    const verdict = await decideApproval(request, { root, cwd: root, grants, sandboxState });
    expect([verdict.action, verdict.gate, toGrantChoices(verdict).length]).toEqual(["ask", "sandbox", 1]);
  });

  test("is saved for the project and read again, beside grants of an earlier version", async () => {
    const location = { environment: { HOME: makeTempDir() }, root };
    const earlier: Grant = { kind: "command", directory: root, words: ["npm", "test"] };
    const wide = await grantsFor("bun test a", "prefix");
    await new GrantStore(location).addForProject([earlier]);
    await new GrantStore(location).addForProject(wide);
    expect(await new GrantStore(location).list()).toEqual([earlier, ...wide]);
  });

  test("in a file that somebody has changed covers nothing for a program that is not listed", async () => {
    const words = [
      ["sh"],
      ["bash", "-c"],
      ["env"],
      ["git"],
      ["npm"],
      ["npm", "run"],
      ["bun", "run", "*"],
      ["python", "-m"],
      [],
    ];
    const grants = words.map((each): Grant => ({ kind: "command_prefix", directory: root, words: each }));
    for (const command of [
      "sh -c x",
      "bash -c x",
      "env x",
      "git push",
      "npm run x",
      "bun run x",
      "python -m x",
    ]) {
      expect(`${command}: ${(await decide(command, { grants })).action}`).toBe(`${command}: ask`);
    }
  });
});

describe("a grant for a script of package.json", () => {
  function createScripts(scripts: unknown): { cwd: string } {
    const cwd = mkdtempSync(join(root, "src", "scripts-"));
    writeFileSync(
      join(cwd, "package.json"),
      typeof scripts === "string" ? scripts : JSON.stringify({ scripts }),
    );
    return { cwd };
  }

  async function isCovered(script: unknown, asked: string, command: string): Promise<boolean> {
    const place = createScripts(script);
    const verdict = await decide(asked, place);
    const grants = toGrantChoices(verdict).at(-1)?.grants ?? [];
    return (await decide(command, { ...place, grants })).action === "allow";
  }

  test.each([
    ["vitest", "npm test", "npm test -- --run a.test.ts -t 'A name'"],
    ["vitest run --coverage", "npm test -- a.test.ts", "npm test -- --reporter=verbose b.test.ts"],
    ["jest", "npm t", "npm t -- -i a.test.ts"],
    ["eslint src --ext .ts", "npm run test", "npm run test -- --quiet lib"],
    ["biome check .", "pnpm test", "pnpm test --write lib"],
    ["tsc -p a/tsconfig.json", "bun run test", "bun run test --noEmit"],
    ["bun test --timeout 5000", "npm test -- src/a", "npm test src/b.test.ts"],
    ["npx vitest run", "npm test -- --run", "npm test -- -u src"],
    ["pytest", "yarn test", "yarn test -k 'a or b'"],
  ])("that only calls `%s` covers the words of this tool", async (script, asked, command) => {
    expect(await isCovered({ test: script }, asked, command)).toBe(true);
  });

  test.each([
    ["bun run vitest", "npm test -- --run a.test.ts"],
    ["bun test", "npm test -- ./deploy.ts"],
    ["vitest", "npm test -- --config ./evil.js"],
    ["vitest", "npm test -- init"],
    ["vitest", "npm test --run"],
    ["vitest", "npm test -- --run ../../../x.test.ts"],
    ["vitest", "npm run other -- --run a.test.ts"],
    ["vitest && touch x", "npm test -- --run a.test.ts"],
    ["vitest; xargs", "npm test -- --run a.test.ts"],
    ["vitest | xargs", "npm test -- --run a.test.ts"],
    ["vitest $X", "npm test -- --run a.test.ts"],
    ["vitest `x`", "npm test -- --run a.test.ts"],
    ["vitest\nxargs", "npm test -- --run a.test.ts"],
    ["NODE_OPTIONS=x vitest", "npm test -- --run a.test.ts"],
    ["env-cmd vitest", "npm test -- --run a.test.ts"],
    ["vitest --", "npm test -- --run a.test.ts"],
    ["xargs -t", "npm test -- -t touch"],
    ["node", "npm test -- --run touch"],
    ["", "npm test -- --run a.test.ts"],
    [{ a: 1 }, "npm test -- --run a.test.ts"],
  ])("%j does not cover `%s`", async (script, command) => {
    expect(await isCovered({ test: script }, "npm test", command)).toBe(false);
  });

  test.each([
    "",
    "{",
    "[]",
    "null",
    '{"scripts":null}',
    '{"scripts":["vitest"]}',
    '{"scripts":{"__proto__":"vitest"}}',
  ])("in a package.json with the text %j covers only what every script takes", async (text) => {
    expect(await isCovered(text, "npm test", "npm test -- --run a.test.ts")).toBe(false);
    expect(await isCovered(text, "npm test", "npm test -- --watch")).toBe(true);
  });

  test("follows a change of the script", async () => {
    const place = createScripts({ test: "vitest" });
    const grants = toGrantChoices(await decide("npm test", place)).at(-1)?.grants ?? [];
    const command = "npm test -- --run a.test.ts";
    expect((await decide(command, { ...place, grants })).action).toBe("allow");
    writeFileSync(join(place.cwd, "package.json"), JSON.stringify({ scripts: { test: "xargs" } }));
    expect((await decide(command, { ...place, grants })).action).toBe("ask");
  });
});

describe("the examples of a choice", () => {
  const commands = [
    ...Object.keys(OFFERED_SCOPES),
    "eslint 'a;b' \"c d\"",
    "git commit -m 'it'\\''s \"x\" `y` $z'",
    "bun test 'a && rm -rf x'",
    "prettier --check 'src/*.ts' && git push origin main; rm a",
  ];
  test.each(commands)("of `%s` are all covered by it", async (command) => {
    for (const { grants, examples } of await choicesFor(command)) {
      expect(examples.length).toBeGreaterThan(1);
      for (const example of examples)
        expect(`${example}: ${(await decide(example, { grants })).action}`).toBe(`${example}: allow`);
    }
  });
});

describe("bypasses of wider grants", () => {
  test("are at least 600 distinct commands", () => {
    const all = [
      ...Object.values(NEVER_WIDER).flat(),
      ...Object.values(UNCOVERED_BY_GRANT).flat(),
      ...listSurrounded(),
    ];
    expect(new Set(all).size).toBeGreaterThanOrEqual(600);
  });

  test("do not pass, with grants for many first words", async () => {
    const passed: string[] = [];
    for (const command of [...BYPASS_COMMANDS, ...Object.values(NEVER_WIDER).flat()]) {
      if ((await decide(command, { grants: PREFIXES })).action !== "ask") passed.push(command);
    }
    expect(passed).toEqual([]);
  });

  test.each(Object.keys(HOSTILE_SURROUNDINGS))("by %s do not pass", async (kind) => {
    const passed: string[] = [];
    for (const command of listSurrounded(kind)) {
      if ((await decide(command, { grants: PREFIXES })).action !== "ask") passed.push(command);
    }
    expect(passed).toEqual([]);
  });
});

function listSurrounded(kind?: string): string[] {
  const templates =
    kind === undefined ? Object.values(HOSTILE_SURROUNDINGS).flat() : (HOSTILE_SURROUNDINGS[kind] ?? []);
  return WIDENED_COMMANDS.flatMap((command) =>
    templates.map((template) => template.replace("%", () => command)),
  );
}
