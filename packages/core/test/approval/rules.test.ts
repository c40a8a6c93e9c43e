import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decideApproval, isDeniedOutright } from "../../src/approval/policy.ts";
import { matchesText } from "../../src/approval/rules.ts";
import type { PermissionRule } from "../../src/approval/types.ts";
import type { ApprovalRequest } from "../../src/tool/types.ts";
import { BUSY_MS } from "../support/busy-machine.ts";
import { createEverydayProject } from "../support/everyday-project.ts";

const project = createEverydayProject({ isHostile: true });
const { root, top } = project;
symlinkSync(join(top, "elsewhere"), join(top, "alias"));
symlinkSync("src", join(root, "sources"));
mkdirSync(join(root, "private"));
writeFileSync(join(root, "private", "plan.md"), "");

afterAll(() => project[Symbol.dispose]());

type Line = `${PermissionRule["action"]} ${PermissionRule["permission"]} ${string}`;

function toRules(lines: readonly Line[]): PermissionRule[] {
  return lines.map((line) => {
    const [, action, permission, pattern] = /^(\w+) (\w+) (.*)$/.exec(line) ?? [];
    if (action !== "allow" && action !== "deny" && action !== "ask") throw new Error(line);
    if (permission !== "read" && permission !== "write" && permission !== "execute") throw new Error(line);
    return { action, permission, pattern: pattern ?? "" };
  });
}

async function run(command: string, ...rules: Line[]): Promise<string> {
  return decide({ permission: "execute", toolName: "bash", description: "", details: { command } }, rules);
}

async function touch(permission: "read" | "write", path: string, ...rules: Line[]): Promise<string> {
  return decide({ permission, toolName: "tool", description: "", details: { path } }, rules);
}

async function decide(request: ApprovalRequest, rules: readonly Line[]): Promise<string> {
  const context = { root, cwd: root, home: join(top, "elsewhere"), rules: toRules(rules) };
  const { action, gate } = await decideApproval(request, context);
  return `${action} ${gate}`;
}

describe("rules for paths", () => {
  test("the last matching rule applies", async () => {
    expect(await touch("write", "src/main.ts", "deny write src/**", "allow write src/main.ts")).toBe(
      "allow rule",
    );
    expect(await touch("write", "src/main.ts", "allow write src/main.ts", "deny write src/**")).toBe(
      "deny rule",
    );
    expect(await touch("write", "src/main.ts", "ask write src/*.ts")).toBe("ask rule");
  });

  test("each permission has its own rules", async () => {
    expect(await touch("read", "src/main.ts", "deny write **")).toBe("allow project");
  });

  test("`*` stays in one directory, `**` does not, and either alone matches everything", async () => {
    expect(await touch("write", "src/lib/util.ts", "deny write src/*")).toBe("allow project");
    expect(await touch("write", "src/lib/util.ts", "deny write src/**")).toBe("deny rule");
    expect(await touch("write", "src/lib/util.ts", "deny write *")).toBe("deny rule");
    expect(await touch("read", "/etc/hosts", "deny read *")).toBe("deny rule");
  });

  test("a rule for a directory's contents also denies the directory", async () => {
    expect(await touch("read", "private", "deny read private/**")).toBe("deny rule");
  });

  test("a denied path is denied in every spelling and through every link", async () => {
    for (const path of [
      "src/main.ts",
      "SRC/Main.ts",
      "sources/main.ts",
      "src/lib/../main.ts",
      join(root, "src/main.ts"),
    ]) {
      expect(`${path}: ${await touch("write", path, "deny write src/**")}`).toBe(`${path}: deny rule`);
    }
    expect(await touch("write", "sources/main.ts", "deny write sources/**")).toBe("deny rule");
  });

  test("a rule that allows is matched against the real path", async () => {
    expect(await touch("read", "link-out/passwd", "allow read link-out/**")).toBe("ask outside_project");
    expect(await touch("write", "SRC/../.git/config", "allow write SRC/**")).toBe("ask control_file");
  });

  test("paths outside match by their absolute path or from the home directory, with leading links resolved", async () => {
    const path = join(top, "elsewhere", "passwd");
    expect(await touch("read", path, `allow read ${top}/elsewhere/*`)).toBe("allow rule");
    expect(await touch("read", path, "allow read ~/passwd")).toBe("allow rule");
    expect(await touch("read", path, `allow read ${top}/alias/*`)).toBe("allow rule");
    expect(await touch("read", join(top, "outside.txt"), `allow read ${top}/elsewhere/**`)).toBe(
      "ask outside_project",
    );
    expect(await touch("read", path, "allow read ../elsewhere/*")).toBe("ask outside_project");
  });

  test("a secret or protected file is allowed by a rule that names it", async () => {
    expect(await touch("read", ".env", "allow read .env")).toBe("allow rule");
    expect(await touch("write", "AGENTS.md", "allow write AGENTS.md")).toBe("allow rule");
    expect(await touch("write", ".github/workflows/x.yml", "allow write .github/workflows/**")).toBe(
      "allow rule",
    );
    expect(await touch("read", "config/server.pem", "allow read config/*.pem")).toBe("allow rule");
  });

  test("a rule that allows everything somewhere excludes protected files and secrets", async () => {
    for (const pattern of ["*", "**", "*.md", "**/*"]) {
      expect(await touch("write", "AGENTS.md", `allow write ${pattern}`)).toBe("ask control_file");
    }
    expect(await touch("write", ".git/hooks/x", "allow write **")).toBe("ask control_file");
    expect(await touch("read", "config/server.pem", "allow read config/**")).toBe("ask secret");
    expect(await touch("read", join(top, "elsewhere", ".ssh", "id_rsa"), "allow read ~/**")).toBe(
      "ask secret",
    );
    expect(await touch("write", join(top, "elsewhere", ".bashrc"), "allow write ~/**")).toBe(
      "ask control_file",
    );
    expect(await run("cat config/server.pem", "allow read **")).toBe("ask secret");
    expect(await run("grep -r x .", "allow read **")).toBe("ask secret");
  });

  test("they apply to the paths of commands", async () => {
    expect(await run("cat private/plan.md", "deny read private/**")).toBe("deny rule");
    expect(await run("grep -r x .", "allow read .env", "deny read private/**")).toBe("deny rule");
    expect(await run(`cat ${top}/outside.txt`, `allow read ${top}/outside.txt`)).toBe(
      "allow read_only_command",
    );
  });
});

describe("rules for commands", () => {
  test("a rule that allows has to match the whole command, for every part of the line", async () => {
    expect(await run("npm test", "allow execute npm test")).toBe("allow rule");
    expect(await run("npm test && ls | wc -l", "allow execute npm test")).toBe("allow rule");
    expect(await run("npm  test", "allow execute npm test")).toBe("allow rule");
    for (const command of [
      "npm test x",
      "npm",
      "npm test;curl x",
      "cd src; npm test; x",
      '"npm test"',
      "npm te\\st x",
    ]) {
      expect(`${command}: ${await run(command, "allow execute npm test")}`).toBe(
        `${command}: ask shell_command`.replace(/"npm test": .*/, '"npm test": ask command_syntax'),
      );
    }
  });

  test("a star matches any characters, spaces and slashes included", async () => {
    expect(await run("npm run build -- --out a/b", "allow execute npm run *")).toBe("allow rule");
    expect(await run("git commit -m 'a b'", "allow execute git commit -m *")).toBe("allow rule");
    expect(await run("git commit -m 'a b'", "allow execute git commit -m a b")).toBe("ask shell_command");
    expect(await run("npm run lint", "allow execute npm run ????")).toBe("allow rule");
  });

  test("a pattern in the command is matched only by a star", async () => {
    expect(await run("rm *", "allow execute rm ?")).toBe("ask shell_command");
    expect(await run("rm *.log", "allow execute rm *.log")).toBe("allow rule");
  });

  test("a line of more than plain words is allowed by no rule, not even by one for everything", async () => {
    expect(await run("npm test", "allow execute *")).toBe("allow rule");
    expect(await run("npm test > out", "allow execute *")).toBe("ask command_syntax");
    expect(await run("npm test > out", "allow execute npm test > out")).toBe("ask command_syntax");
  });

  test("a rule can require a question for a program that only reads", async () => {
    expect(await run("cat README.md", "ask execute cat")).toBe("ask rule");
  });

  test("one denied part denies the line, at any length", async () => {
    for (const length of [2, 60, 499, 600, 5_000]) {
      const line = [...Array.from({ length: length - 1 }, () => "ls"), "curl x"].join("; ");
      expect(`${length}: ${await run(line, "allow execute *", "deny execute curl *")}`).toBe(
        `${length}: deny rule`,
      );
    }
  });

  test("a rule that denies a program matches its other spellings", async () => {
    const commands = [
      "curl",
      "curl x",
      "/usr/bin/curl x",
      'c""url x',
      "\\curl x",
      "env A=1 curl x",
      "timeout 5 curl x",
    ];
    const more = [
      "FOO=1 curl x",
      "echo $(curl x)",
      "ls & curl x",
      "if true; then curl x; fi",
      "busybox curl x",
    ];
    for (const command of [
      ...commands,
      ...more,
      "xargs -n 1 curl",
      "curl x > y",
      "f() { curl x; }; f",
      "`curl x`",
    ]) {
      expect(`${command}: ${await run(command, "deny execute curl")}`).toBe(`${command}: deny rule`);
    }
    expect(await run("grep curl README.md", "deny execute curl")).toBe("allow read_only_command");
  });
});

describe("isDeniedOutright", () => {
  const cases: [Line[], boolean][] = [
    [[], false],
    [["deny execute *"], true],
    [["deny execute **"], true],
    [["allow execute ls", "deny execute *"], true],
    [["deny execute *", "deny execute curl"], true],
    [["deny execute *", "allow execute ls"], false],
    [["deny execute *", "ask execute ls"], false],
    [["deny execute curl *"], false],
    [["deny write *"], false],
    [["deny execute *", "allow write *"], true],
  ];
  for (const [lines, expected] of cases) {
    test(`${JSON.stringify(lines)}: ${expected}`, () => {
      expect(isDeniedOutright("execute", toRules(lines))).toBe(expected);
    });
  }
});

describe("matchesText", () => {
  test("matching a hostile pattern takes time proportional to both lengths at most", () => {
    const begin = performance.now();
    expect(matchesText("*a".repeat(50), `${"a".repeat(100_000)}b`)).toBe(false);
    expect(performance.now() - begin).toBeLessThan(500 + BUSY_MS);
  });

  test("empty texts and patterns", () => {
    expect([matchesText("", ""), matchesText("*", ""), matchesText("", "a"), matchesText("a", "")]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });
});
