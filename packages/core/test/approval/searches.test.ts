import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { decideApproval } from "../../src/approval/policy.ts";
import type { ApprovalContext, PermissionRule } from "../../src/approval/types.ts";

let top: string;
let root: string;

beforeEach(() => {
  top = realpathSync(mkdtempSync(join(tmpdir(), "approval-searches-")));
  root = join(top, "app");
  put("app/src/main.ts", "main\n");
  put("outside/key", "outside\n");
});

afterEach(() => rmSync(top, { recursive: true, force: true }));

function put(path: string, content = ""): void {
  mkdirSync(dirname(join(top, path)), { recursive: true });
  writeFileSync(join(top, path), content);
}

async function gateOf(command: string, context: Partial<ApprovalContext> = {}): Promise<string> {
  const request = { permission: "execute", toolName: "bash", description: "", details: { command } } as const;
  const { action, gate } = await decideApproval(request, { root, cwd: root, ...context });
  return `${action} ${gate}`;
}

const PASSES = "allow read_only_command";

describe("a search with ripgrep", () => {
  beforeEach(() => put("app/.env", "KEY=1\n"));

  test("skips hidden secrets unless an option includes them", async () => {
    for (const command of ["rg KEY", "rg KEY .", "rg -u KEY src", "rg -g '*.ts' KEY", "rg -t ts KEY"]) {
      expect(`${command}: ${await gateOf(command)}`).toBe(`${command}: ${PASSES}`);
    }
  });

  test("asks if a glob, a type or an option includes them", async () => {
    const commands = ["rg -uu KEY", "rg -. KEY", "rg -g '.e*' KEY", "rg -g '*' KEY", "rg -t sh KEY"];
    for (const command of [...commands, "rg --iglob '.ENV' KEY", "rg --hidden KEY -g '!.envrc'"]) {
      expect(`${command}: ${await gateOf(command)}`).toBe(`${command}: ask secret`);
    }
    expect(await gateOf("rg --hidden -g '!.env*' KEY")).toBe(PASSES);
    expect(await gateOf("rg -uu --color always KEY src")).toBe(PASSES);
  });

  const PLACES = [".ignore", ".rgignore", ".gitignore", "src/.ignore", ".git/info/exclude", "../.ignore"];
  for (const place of PLACES) {
    test(`asks if ${place} names hidden files`, async () => {
      put(`app/${place}`, "dist\n");
      expect(await gateOf("rg KEY")).toBe(PASSES);
      put(`app/${place}`, "dist\r\n!.env\n");
      expect(await gateOf("rg KEY")).toBe("ask secret");
      expect(await gateOf("rg KEY src")).toBe(PASSES);
    });
  }

  test("asks if such a file is a link to another file", async () => {
    put("app/notes.txt", "!.env\n");
    symlinkSync("notes.txt", join(root, ".rgignore"));
    expect(await gateOf("rg KEY")).toBe("ask secret");
  });

  test("searches the working directory although an option names a file", async () => {
    put("app/keys.pem", "KEY\n");
    put("app/patterns", "KEY\n");
    expect(await gateOf("rg -f patterns")).toBe("ask secret");
    expect(await gateOf("grep -r -f patterns")).toBe("ask secret");
    expect(await gateOf("grep -r -m 5 KEY")).toBe("ask secret");
  });
});

describe("a search with grep", () => {
  test("excludes what its last matching filter excludes", async () => {
    put("app/.env", "KEY=1\n");
    put("app/.env.local", "KEY=1\n");
    expect(await gateOf("grep -r KEY .")).toBe("ask secret");
    expect(await gateOf("grep -r --exclude='.env*' KEY .")).toBe(PASSES);
    expect(await gateOf("grep -r --exclude=.env KEY .")).toBe("ask secret");
    expect(await gateOf("grep -r --exclude='.env*' --include='.env*' KEY .")).toBe("ask secret");
    expect(await gateOf("grep -r --include='.env*' --exclude='.env*' KEY .")).toBe(PASSES);
    expect(await gateOf("grep -r --include='*.ts' KEY .")).toBe(PASSES);
    expect(await gateOf("grep -r --exclude=x --include='*.ts' KEY .")).toBe("ask secret");
  });

  test("asks if a repository's settings contain more than Git writes by itself", async () => {
    put("app/.git/config", '[core]\n\tbare = false\n[remote "origin"]\n\turl = git@github.com:a/b.git\n');
    expect(await gateOf("grep -rn url .")).toBe(PASSES);
    put("app/.git/config", '[remote "origin"]\n\turl = https://x:ghp_token@github.com/a/b.git\n');
    expect(await gateOf("grep -rn url .")).toBe("ask secret");
    expect(await gateOf("grep -rn url src")).toBe(PASSES);
    expect(await gateOf("cat .git/config")).toBe("ask secret");
    expect(await gateOf("rg url")).toBe(PASSES);
    expect(await gateOf("rg --hidden url")).toBe("ask secret");
  });

  test("that follows links asks about a link that leads out, also in packages and in .git", async () => {
    put("app/node_modules/pkg/index.js");
    mkdirSync(join(root, ".git", "refs"), { recursive: true });
    expect(await gateOf("grep -R KEY .")).toBe(PASSES);
    for (const place of ["node_modules/evil", ".git/refs/evil", "src/evil"]) {
      symlinkSync(join(top, "outside"), join(root, place));
      expect(`${place}: ${await gateOf("grep -R KEY .")}`).toBe(`${place}: ask outside_project`);
      expect(await gateOf(`grep -R KEY ${dirname(place)}`)).toBe("ask outside_project");
      expect(await gateOf(`diff -r ${dirname(place)} src`)).toBe("ask outside_project");
      expect(await gateOf("grep -r KEY .")).toBe(PASSES);
      rmSync(join(root, place));
    }
  });

  test("follows links back to files that it reads anyway, under their names", async () => {
    put("app/node_modules/pkg/cli.js");
    mkdirSync(join(root, "node_modules", ".bin"));
    symlinkSync("../pkg/cli.js", join(root, "node_modules", ".bin", "pkg"));
    symlinkSync("../src", join(root, "node_modules", "src"));
    expect(await gateOf("grep -R KEY .")).toBe(PASSES);
    expect(await gateOf("grep -R KEY node_modules")).toBe("ask outside_project");
    put("app/.env", "KEY=1\n");
    symlinkSync("../.env", join(root, "src", "env.ts"));
    expect(await gateOf("grep -R --include='*.ts' KEY .")).toBe("ask secret");
  });

  test("asks in a tree that is too large to check", async () => {
    mkdirSync(join(root, "many"));
    for (let index = 0; index <= 10_000; index++) writeFileSync(join(root, "many", `${index}`), "");
    expect(await gateOf("grep -r KEY .")).toBe("ask secret");
    expect(await gateOf("grep -r KEY src")).toBe(PASSES);
    const rules: PermissionRule[] = [{ permission: "read", pattern: "private/**", action: "deny" }];
    expect(await gateOf("grep -r KEY .", { rules, mode: "auto" })).toBe("deny rule");
    expect(await gateOf("grep -r KEY src", { rules })).toBe(PASSES);
  });

  test("checks no more for a line with many searches", async () => {
    for (let index = 0; index < 5_000; index++) writeFileSync(join(root, "src", `${index}.ts`), "");
    const line = (count: number) => Array.from({ length: count }, () => "grep -r KEY src").join("; ");
    expect(await gateOf(line(5))).toBe(PASSES);
    expect(await gateOf(line(20))).toBe("ask secret");
    expect(await gateOf(`cat ${"src/* ".repeat(30)}`)).toBe("ask shell_command");
  });
});

describe("a path that is not a regular file", () => {
  beforeEach(() => Bun.spawnSync(["mkfifo", join(root, "pipe")]));

  test("asks when its content is read, not when it is listed", async () => {
    for (const command of [
      "cat pipe",
      "head -1 pipe",
      "grep x pipe",
      "rg x pipe",
      "wc -l p*",
      "diff pipe src",
    ]) {
      expect(`${command}: ${await gateOf(command)}`).toBe(`${command}: ask unknown_target`);
    }
    symlinkSync("pipe", join(root, "to-pipe"));
    expect(await gateOf("cat to-pipe")).toBe("ask unknown_target");
    for (const command of ["ls pipe", "stat pipe", "test -p pipe", "file pipe", "ls -l"]) {
      expect(`${command}: ${await gateOf(command)}`).toBe(`${command}: ${PASSES}`);
    }
  });

  test("asks on the way of a search that would open it", async () => {
    expect(await gateOf("grep -R x .")).toBe("ask unknown_target");
    expect(await gateOf("grep -r x .")).toBe("ask unknown_target");
    expect(await gateOf("grep -r --include='*.ts' x .")).toBe(PASSES);
    expect(await gateOf("rg x .")).toBe(PASSES);
    Bun.spawnSync(["mkfifo", join(root, ".ignore")]);
    expect(await gateOf("rg x .")).toBe("ask unknown_target");
  });
});

describe("a name that is not valid Unicode", () => {
  const INVALID = Buffer.from([0xff]);
  const at = (directory: string, rest = "") =>
    Buffer.concat([Buffer.from(`${directory}/`), INVALID, Buffer.from(rest)]);

  test("asks if a pattern may match it", async () => {
    symlinkSync(join(top, "outside", "key"), at(root, ".txt"));
    for (const command of ["cat *.txt", "cat ?.txt", "cat *", "wc -l [a-z]*"]) {
      expect(`${command}: ${await gateOf(command)}`).toBe(`${command}: ask shell_command`);
    }
    expect(await gateOf("cat src/*.ts")).toBe(PASSES);
    expect(await gateOf("ls")).toBe(PASSES);
  });

  test("asks if a link leads to it", async () => {
    symlinkSync(join(top, "outside", "key"), at(root));
    symlinkSync(INVALID, join(root, "notes.txt"));
    expect(await gateOf("cat notes.txt")).toBe("ask unknown_target");
  });

  test("asks if a search would open it", async () => {
    symlinkSync(join(top, "outside", "key"), at(join(root, "src")));
    expect(await gateOf("grep -R x src")).toBe("ask unknown_target");
    expect(await gateOf("diff -r src src")).toBe("ask unknown_target");
  });
});

test("a character with several bytes in some locales is matched by any number of question marks", async () => {
  symlinkSync(join(top, "outside", "key"), join(root, "😀"));
  symlinkSync(join(top, "outside", "key"), join(root, "é"));
  for (const pattern of ["?", "??", "???", "????"]) {
    expect(`${pattern}: ${await gateOf(`cat ${pattern}`)}`).toBe(`${pattern}: ask outside_project`);
  }
});
