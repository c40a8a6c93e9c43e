import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { forgetSessionGrants, GrantStore } from "../../src/approval/grant-store.ts";
import { describeGrant, type Grant } from "../../src/approval/grants.ts";
import { decideApproval } from "../../src/approval/policy.ts";
import type { PermissionRule } from "../../src/approval/types.ts";
import type { ApprovalRequest } from "../../src/tool/types.ts";

let top: string;
let root: string;

beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "approval-grants-")));
  root = join(top, "app");
  mkdirSync(join(root, "sub"), { recursive: true });
});

afterEach(() => rmSync(top, { recursive: true, force: true }));

function bash(command: string): ApprovalRequest {
  return { permission: "execute", toolName: "bash", description: "", details: { command } };
}

async function grantsFor(request: ApprovalRequest): Promise<readonly Grant[]> {
  const { action, grants } = await decideApproval(request, { root, cwd: root });
  expect(action).toBe("ask");
  return grants ?? [];
}

async function gateWith(grants: readonly Grant[], request: ApprovalRequest, rules: PermissionRule[] = []) {
  const { action, gate } = await decideApproval(request, { root, cwd: root, grants, rules });
  return `${action} ${gate}`;
}

describe('the scope of "always"', () => {
  test("is each command of the line that had to be asked about, verbatim", async () => {
    const grants = await grantsFor(bash("npm test && ls | wc -l; npm run 'a b'"));
    expect(grants).toEqual([
      { kind: "command", directory: root, words: ["npm", "test"] },
      { kind: "command", directory: root, words: ["npm", "run", "a b"] },
    ]);
    expect(grants.map(describeGrant)).toEqual([
      `exactly \`npm test\` in ${root}`,
      `exactly \`npm run 'a b'\` in ${root}`,
    ]);
  });

  test("covers the same command in any other plain line", async () => {
    const grants = await grantsFor(bash("npm test"));
    for (const command of [
      "npm test",
      "npm  test ",
      "npm 'test'",
      "ls; npm test | tail -5",
      "npm test && npm test",
    ]) {
      expect(`${command}: ${await gateWith(grants, bash(command))}`).toStartWith(`${command}: allow `);
    }
  });

  test("covers no longer line, no other program and no other directory", async () => {
    const grants = await grantsFor(bash("npm test"));
    const others = [
      "npm test x",
      "npm",
      "npm test; curl x",
      "npm test -- --x=$(id)",
      "npm test > x",
      '"npm test"',
    ];
    for (const command of [
      ...others,
      "npm test &",
      "cd sub && npm test",
      "sh -c 'npm test'",
      "npm tes*",
      "NPM test",
    ]) {
      expect(`${command}: ${await gateWith(grants, bash(command))}`).toStartWith(`${command}: ask `);
    }
    const elsewhere = await decideApproval(bash("npm test"), { root, cwd: join(root, "sub"), grants });
    expect(elsewhere.action).toBe("ask");
  });

  test("is the whole line, character by character, if it is more than plain words", async () => {
    const grants = await grantsFor(bash("npm test > out.txt"));
    expect(grants).toEqual([{ kind: "command_line", directory: root, text: "npm test > out.txt" }]);
    expect(await gateWith(grants, bash("npm test > out.txt"))).toBe("allow grant");
    expect(await gateWith(grants, bash("npm test  > out.txt"))).toBe("ask command_syntax");
    expect(await gateWith(grants, bash("npm test"))).toBe("ask shell_command");
  });

  test("is the whole line if a command contains a pattern or its directory is uncertain", async () => {
    expect(await grantsFor(bash("rm *.log"))).toEqual([
      { kind: "command_line", directory: root, text: "rm *.log" },
    ]);
    expect(await grantsFor(bash("cd missing; make"))).toEqual([
      { kind: "command_line", directory: root, text: "cd missing; make" },
    ]);
    expect(await grantsFor(bash("cd sub; make"))).toEqual([
      { kind: "command", directory: join(root, "sub"), words: ["make"] },
    ]);
    expect(await grantsFor(bash("cd sub && make"))).toEqual([
      { kind: "command", directory: join(root, "sub"), words: ["make"] },
    ]);
  });

  test("is one path for one tool, with links resolved, and nothing below it", async () => {
    const read = (path: string, toolName = "read"): ApprovalRequest => ({
      permission: "read",
      toolName,
      description: "",
      details: { path },
    });
    const file = join(top, "notes.txt");
    writeFileSync(file, "");
    const grants = await grantsFor(read(file));
    expect(grants).toEqual([{ kind: "path", permission: "read", tool: "read", path: file }]);
    expect(grants.map(describeGrant)).toEqual([`read: read exactly ${file}`]);
    expect(await gateWith(grants, read(file))).toBe("allow grant");
    expect(await gateWith(grants, read(join(top, "x")))).toBe("ask outside_project");
    expect(await gateWith(grants, read(file, "grep"))).toBe("ask outside_project");
    rmSync(file);
    mkdirSync(file);
    expect(await gateWith(grants, read(file))).toBe("ask outside_project");
  });

  test("is everything below a directory, which the question states, for calls on that directory only", async () => {
    const search = (path: string): ApprovalRequest => ({
      permission: "read",
      toolName: "grep",
      description: "",
      details: { path },
    });
    mkdirSync(join(top, "sub"));
    const grants = await grantsFor(search(top));
    expect(grants).toEqual([{ kind: "path", permission: "read", tool: "grep", path: top, reach: "below" }]);
    expect(grants.map(describeGrant)).toEqual([
      `grep: read ${top} and everything below it, in any call for exactly that directory`,
    ]);
    expect(await gateWith(grants, search(top))).toBe("allow grant");
    expect(await gateWith(grants, search(join(top, "sub")))).toBe("ask outside_project");
  });

  test("is the whole line if something is piped into a command, whatever was allowed before", async () => {
    expect(await grantsFor(bash("cat x | sh"))).toEqual([
      { kind: "command_line", directory: root, text: "cat x | sh" },
    ]);
    const grants = await grantsFor(bash("sh"));
    expect(grants).toEqual([{ kind: "command", directory: root, words: ["sh"] }]);
    expect(await gateWith(grants, bash("sh"))).toBe("allow grant");
    expect(await gateWith(grants, bash("echo 'touch CANARY' | sh"))).toBe("ask shell_command");
    expect(await gateWith(grants, bash("sh | head -3"))).toBe("allow grant");
  });

  test("is the whole line if a part of it may change the meaning of the others", async () => {
    const parts = [...(await grantsFor(bash("npm test"))), ...(await grantsFor(bash("hash -p ./evil npm")))];
    expect(await gateWith(parts, bash("npm test"))).toBe("allow grant");
    expect(await gateWith(parts, bash("hash -p ./evil npm"))).toBe("allow grant");
    const line = "hash -p ./evil npm; npm test";
    expect(await gateWith(parts, bash(line))).toBe("ask shell_command");
    const { grants = [] } = await decideApproval(bash(line), { root, cwd: root, grants: parts });
    expect(grants).toEqual([{ kind: "command_line", directory: root, text: line }]);
    expect(await gateWith(grants, bash(line))).toBe("allow grant");
  });

  test("excludes a cd", async () => {
    const { grants: moves = [] } = await decideApproval(bash(`cd ${top}`), { root, cwd: root });
    expect(moves).toEqual([{ kind: "command", directory: root, words: ["cd", top] }]);
    expect(await gateWith(moves, bash(`cd ${top}`))).toBe("allow grant");
    for (const rest of ["cat x", "ls", "npm test", "pwd"]) {
      expect(`${rest}: ${await gateWith(moves, bash(`cd ${top} && ${rest}`))}`).toStartWith(`${rest}: ask `);
    }
    const strange = await grantsFor(bash(`cd -- ${top}`));
    expect(await gateWith(strange, bash(`cd -- ${top} && ls`))).toBe("ask shell_command");
  });

  test("is one call with its arguments in any order", async () => {
    const call = (details: Record<string, unknown>): ApprovalRequest => ({
      permission: "execute",
      toolName: "deploy",
      description: "",
      details,
    });
    const grants = await grantsFor(call({ a: 1, b: { d: 1, c: 2 } }));
    expect(await gateWith(grants, call({ b: { c: 2, d: 1 }, a: 1 }))).toBe("allow grant");
    expect(await gateWith(grants, call({ a: 1 }))).toBe("ask shell_command");
  });

  test("does not override a rule that denies, but one that asks", async () => {
    const grants = await grantsFor(bash("npm test"));
    expect(
      await gateWith(grants, bash("npm test"), [{ permission: "execute", pattern: "npm", action: "deny" }]),
    ).toBe("deny rule");
    expect(
      await gateWith(grants, bash("npm test"), [{ permission: "execute", pattern: "npm", action: "ask" }]),
    ).toBe("allow grant");
  });
});

describe("GrantStore", () => {
  const grant = (word: string): Grant => ({ kind: "command", directory: "/x", words: [word] });
  const store = (directory = root) =>
    new GrantStore({ environment: { HOME: top, XDG_STATE_HOME: join(top, "state") }, root: directory });
  const file = () => join(top, "state", "diligent", "grants.json");

  test("grants of an unsaved session are not written to disk", async () => {
    const first = store();
    await first.addForSession([grant("a")]);
    expect(await first.list()).toEqual([grant("a")]);
    expect(await store().list()).toEqual([]);
    expect(existsSync(join(top, "state"))).toBe(false);
  });

  describe("for a session that is saved", () => {
    const ID = "20260101000000-aaaaaa";
    const path = () => join(top, "state", "diligent", "session-grants", `${ID}.json`);
    const resumed = (sessionId = ID, directory = root) => {
      const opened = store(directory);
      opened.saveFor(sessionId);
      return opened;
    };

    test("apply when it is resumed, in that session only, and only this user can read them", async () => {
      await resumed().addForSession([grant("a")]);
      expect(await resumed().listByScope()).toEqual([{ grant: grant("a"), scope: "session" }]);
      expect(await resumed("20260101000000-bbbbbb").list()).toEqual([]);
      expect(await resumed(ID, join(root, "below")).list()).toEqual([]);
      expect(statSync(path()).mode & 0o777).toBe(0o600);
      expect(existsSync(file())).toBe(false);
    });

    test("are revoked permanently", async () => {
      await resumed().addForSession([grant("a"), grant("b")]);
      const later = resumed();
      await later.remove(grant("a"));
      expect(await later.list()).toEqual([grant("b")]);
      expect(await resumed().list()).toEqual([grant("b")]);
    });

    test("are ignored if another user could have written them", async () => {
      await resumed().addForSession([grant("a")]);
      chmodSync(path(), 0o666);
      const later = resumed();
      expect(await later.list()).toEqual([]);
      expect(await later.problem()).toContain(path());
    });

    test("are removed with the session", async () => {
      await resumed().addForSession([grant("a")]);
      forgetSessionGrants({ HOME: top, XDG_STATE_HOME: join(top, "state") }, ID);
      expect(await resumed().list()).toEqual([]);
      forgetSessionGrants({ HOME: top, XDG_STATE_HOME: join(top, "state") }, "../grants");
    });
  });

  test("grants for the project apply to its later sessions, nowhere else, and only this user can read them", async () => {
    const first = store();
    expect(await first.list()).toEqual([]);
    await first.addForProject([grant("a")]);
    const below: Grant = { kind: "path", permission: "read", tool: "grep", path: "/x", reach: "below" };
    await store().addForProject([grant("a"), grant("b"), below]);
    expect(await first.list()).toEqual([grant("a")]);
    expect(await store().list()).toEqual([grant("a"), grant("b"), below]);
    expect(await store(join(root, "sub")).list()).toEqual([]);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  test("two writers at the same time lose nothing", async () => {
    const words = Array.from({ length: 8 }, (_, index) => `word-${index}`);
    await Promise.all(words.map((word) => store().addForProject([grant(word)])));
    expect(new Set(await store().list())).toEqual(new Set(words.map(grant)));
  });

  test("a file that is damaged or writable by others allows nothing and is left unchanged", async () => {
    await store().addForProject([grant("a")]);
    chmodSync(file(), 0o666);
    expect(await store().list()).toEqual([]);
    expect(await store().problem()).toContain("the saved approvals are ignored");
    chmodSync(file(), 0o600);
    writeFileSync(file(), "{");
    expect(await store().list()).toEqual([]);
    await expect(store().addForProject([grant("b")])).rejects.toThrow("grants.json");
    expect(readFileSync(file(), "utf8")).toBe("{");
  });

  test("entries of a later version are kept and allow nothing", async () => {
    mkdirSync(join(top, "state", "diligent"), { recursive: true, mode: 0o700 });
    const later = { kind: "host", name: "example.org" };
    const project = { directory: root, grants: [later, grant("a")], since: 1 };
    writeFileSync(file(), JSON.stringify({ version: 1, projects: [project], more: true }), { mode: 0o600 });
    expect(await store().list()).toEqual([grant("a")]);
    await store().addForProject([grant("b")]);
    expect(JSON.parse(readFileSync(file(), "utf8"))).toEqual({
      version: 1,
      projects: [{ ...project, grants: [later, grant("a"), grant("b")] }],
      more: true,
    });
  });
});
