import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GrantStore } from "../../src/approval/grant-store.ts";
import { describeGrant, type Grant } from "../../src/approval/grants.ts";
import { decideApproval } from "../../src/approval/policy.ts";
import type { PermissionRule } from "../../src/approval/types.ts";
import type { SandboxState } from "../../src/infrastructure/process/shell-wrapper.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const BOXED: SandboxState = {
  kind: "boxed",
  mayLeave: true,
  wrapper: {
    wrapCommand: () => {
      throw new Error("Deciding runs nothing.");
    },
    leave: () => () => [],
  },
};
const WITHOUT: SandboxState = { kind: "open", problem: "bubblewrap is not installed" };
const ASKS: PermissionRule = { permission: "execute", pattern: "make", action: "ask" };

interface Place {
  box?: SandboxState;
  outside?: true;
  grants?: readonly Grant[];
  rules?: readonly PermissionRule[];
  canUndo?: boolean;
}

/** Decides about commands of one project in which `make` is always asked about. */
function createProject() {
  const root = makeTempDir();
  const decide = (command: string, { box = BOXED, outside, ...place }: Place = {}) => {
    const details = { command, ...(outside && { outsideSandbox: true }) };
    const request = { permission: "execute" as const, toolName: "bash", description: "", details };
    const context = { root, cwd: root, rules: [ASKS], ...place, sandboxState: async () => box };
    return decideApproval(request, context);
  };
  const brief = async (command: string, place?: Place) => {
    const { action, gate } = await decide(command, place);
    return `${action} ${gate}`;
  };
  return { root, decide, brief };
}

const LINES: Readonly<Record<string, string>> = {
  "a plain command": "make all",
  "a line that is more than plain words": "make all > log",
};

describe('"always" for a sandboxed command', () => {
  test("is described and stored as a grant for the sandbox only", async () => {
    const { root, decide } = createProject();
    const { grants = [] } = await decide("make all");
    expect(grants).toEqual([{ kind: "command", directory: root, words: ["make", "all"], boxed: true }]);
    expect(grants.map(describeGrant)).toEqual([`in the sandbox only: exactly \`make all\` in ${root}`]);
    const { grants: whole = [] } = await decide("make all > log");
    expect(whole).toEqual([{ kind: "command_line", directory: root, text: "make all > log", boxed: true }]);
    expect(whole.map(describeGrant)).toEqual([`in the sandbox only: exactly this command line in ${root}`]);
  });

  for (const [name, line] of Object.entries(LINES)) {
    test(`applies in the sandbox, and neither without a sandbox nor outside it: ${name}`, async () => {
      const { brief, decide } = createProject();
      const { grants = [] } = await decide(line);
      expect(await brief(line, { grants })).toBe("allow grant");
      expect(await brief(line, { grants, box: WITHOUT })).toStartWith("ask ");
      expect(await brief(line, { grants, box: WITHOUT, rules: [] })).toStartWith("ask ");
      expect(await brief(line, { grants, outside: true })).toBe("ask sandbox");
      expect(await brief(line, { grants, outside: true, box: WITHOUT })).toStartWith("ask ");
    });
  }

  test("applies to the sandbox only, even if changes could not be undone", async () => {
    const { brief, decide } = createProject();
    const { grants = [] } = await decide("npm test", { canUndo: false });
    expect(grants).toMatchObject([{ kind: "command", boxed: true }]);
    expect(await brief("npm test", { canUndo: false, grants })).toBe("allow grant");
    expect(await brief("npm test", { canUndo: false, grants, box: WITHOUT })).toBe("ask shell_command");
  });

  test("does not override a rule that denies", async () => {
    const { brief, decide } = createProject();
    const { grants = [] } = await decide("make all");
    expect(await brief("make all", { grants, rules: [{ ...ASKS, action: "deny" }] })).toBe("deny rule");
  });
});

describe('"always" for an unsandboxed command', () => {
  test("given without a sandbox, applies with and without one", async () => {
    const { brief, decide } = createProject();
    for (const line of Object.values(LINES)) {
      const { grants = [] } = await decide(line, { box: WITHOUT });
      expect(grants.map(describeGrant).join()).toStartWith("exactly ");
      expect(await brief(line, { grants, box: WITHOUT })).toBe("allow grant");
      expect(await brief(line, { grants })).toBe("allow grant");
      expect(await brief(line, { grants, outside: true })).toBe("ask sandbox");
    }
  });

  test("given for running outside the sandbox, applies there only", async () => {
    const { brief, decide } = createProject();
    const { grants = [] } = await decide("make all", { outside: true });
    expect(grants.map(describeGrant).join()).toStartWith("outside the sandbox: exactly ");
    expect(await brief("make all", { grants, outside: true })).toBe("allow grant");
    expect(await brief("make all", { grants })).toBe("ask rule");
    expect(await brief("make all", { grants, box: WITHOUT })).toBe("ask rule");
  });
});

test("grants for the sandbox, or without one, do not combine with rules to allow a line outside it", async () => {
  const { brief, decide } = createProject();
  const rules: PermissionRule[] = [{ permission: "execute", pattern: "build", action: "allow" }];
  const [boxed, plain] = [await decide("make all"), await decide("make all", { box: WITHOUT })];
  for (const { grants = [] } of [boxed, plain]) {
    for (const line of ["make all", "build && make all", "make all; build", "build; make all > log"])
      expect([line, await brief(line, { grants, rules, outside: true })]).toEqual([line, "ask sandbox"]);
  }
  expect(await brief("build", { rules, outside: true })).toBe("allow rule");
});

describe("a grant stored for a project", () => {
  const command: Grant = { kind: "command", directory: "/x", words: ["make"] };
  const line: Grant = { kind: "command_line", directory: "/x", text: "make > log" };

  function createStores() {
    const top = makeTempDir();
    const state = join(top, "diligent");
    mkdirSync(state, { mode: 0o700 });
    const file = join(state, "grants.json");
    return {
      file,
      open: () => new GrantStore({ environment: { HOME: top, XDG_STATE_HOME: top }, root: "/app" }),
      write(grants: readonly unknown[]) {
        const content = { version: 1, projects: [{ directory: "/app", grants }] };
        writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
      },
    };
  }

  test("is separate for the sandbox and for no sandbox, and each can be revoked by itself", async () => {
    const { open } = createStores();
    const boxed: Grant[] = [
      { ...command, boxed: true },
      { ...line, boxed: true },
    ];
    await open().addForProject([command, ...boxed, line]);
    expect(await open().list()).toEqual([command, ...boxed, line]);
    await open().remove(command);
    await open().remove(line);
    expect(await open().list()).toEqual(boxed);
  });

  test("from before sandbox grants existed keeps its meaning", async () => {
    const { open, write } = createStores();
    const outside: Grant = { ...line, outside: true };
    write([command, line, outside]);
    expect(await open().list()).toEqual([command, line, outside]);
    expect(await open().problem()).toBeUndefined();
  });

  test("for both the sandbox and outside is invalid: it allows nothing and stays in the file", async () => {
    const { file, open, write } = createStores();
    const strange = [
      { ...line, outside: true, boxed: true },
      { ...command, boxed: false },
      { ...command, boxed: "yes" },
    ];
    write([...strange, command]);
    expect(await open().list()).toEqual([command]);
    await open().addForProject([line]);
    expect(JSON.parse(readFileSync(file, "utf8")).projects[0].grants).toEqual([...strange, command, line]);
  });
});
