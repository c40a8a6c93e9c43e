import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { decideApproval } from "../../src/approval/policy.ts";
import type { PermissionRule } from "../../src/approval/types.ts";
import { BUSY_MS } from "../support/busy-machine.ts";
import { createEverydayProject } from "../support/everyday-project.ts";

const project = createEverydayProject({ isHostile: false });
const { root, top } = project;
symlinkSync(join(top, "elsewhere"), join(root, "link-out"));
symlinkSync("src", join(root, "link-in"));
mkdirSync(join(top, "elsewhere", "src"));

afterAll(() => project[Symbol.dispose]());

const allow = (...patterns: string[]): PermissionRule[] =>
  patterns.map((pattern) => ({ permission: "execute", pattern, action: "allow" }));

async function gateOf(command: string, rules: PermissionRule[] = []): Promise<string> {
  const request = { permission: "execute", toolName: "bash", description: "", details: { command } } as const;
  const { action, gate } = await decideApproval(request, { root, cwd: root, rules });
  return `${action} ${gate}`;
}

describe("a line that changes the meaning of its words", () => {
  const RULES = allow("*");
  const changes = [
    ...[
      "hash -p ./evil npm",
      "printf -v PATH x",
      "printf '%s%n' x PATH",
      "alias npm=touch",
      "enable -f ./x ls",
    ],
    ...["source src/main.ts", ". src/main.ts", "set -- x", "shopt -s expand_aliases", "trap 'touch x' DEBUG"],
    ...[
      "read PATH",
      "mapfile PATH",
      "eval x",
      "exec ls",
      "umask 0",
      "pushd src",
      "test -v 'a[$(x)]'",
      "let x",
    ],
    ...[
      "getopts a PATH",
      "complete -C x ls",
      "bind -x x",
      "builtin cd /",
      "command cd /",
      "wait -p PATH",
      "popd",
    ],
  ];
  for (const change of changes) {
    test(`with ${change} is allowed by no rule, in any part`, async () => {
      expect(await gateOf("npm test; npm run x", RULES)).toBe("allow rule");
      for (const line of [
        `${change}; npm test`,
        `npm test; ${change}`,
        `${change} && ls`,
        `ls | ${change}`,
      ]) {
        expect(`${line}: ${await gateOf(line, RULES)}`).toStartWith(`${line}: ask `);
      }
    });
  }

  test("asks if the shell itself sets something", async () => {
    for (const line of [
      "export PATH=.; npm test",
      "PATH=. npm test",
      "declare -x PATH; ls",
      "unset PATH; ls",
    ]) {
      expect(`${line}: ${await gateOf(line, RULES)}`).toBe(`${line}: ask command_syntax`);
    }
  });

  test("needs no approval if it only reads settings", async () => {
    const looks = [
      "echo x",
      "printf '%s\\n' x",
      "test -f x",
      "[ -f x ]",
      "pwd",
      "true",
      "type npm",
      "command -v npm",
    ];
    for (const look of looks) {
      const line = `${look}; npm test`;
      expect(`${line}: ${await gateOf(line, allow("npm test"))}`).toStartWith(`${line}: allow `);
    }
  });
});

describe("a command after a cd", () => {
  const RULES = allow("cd *", "cd", "npm *", "cat *", "make");

  test("to one plain directory of the project is covered by rules", async () => {
    expect(await gateOf("cd src && npm test", RULES)).toBe("allow rule");
    expect(await gateOf("cd src/lib && cd .. && npm test", RULES)).toBe("allow rule");
    expect(await gateOf("cd src; make", RULES)).toBe("allow rule");
  });

  test("that leaves the project or leads to an unknown directory is covered by no rule", async () => {
    const targets = [
      ...[
        "..",
        join(top, "elsewhere"),
        "-- src",
        "-P src",
        "-",
        "''",
        "s*",
        "link-out",
        "link-in",
        "src lib",
      ],
      ...["-- link-out", "-P link-out", "lin*", "src/../.."],
    ];
    for (const target of targets) {
      for (const rest of ["npm test", "cat x", "ls", "pwd", "cd src && make"]) {
        const line = `cd ${target} && ${rest}`;
        expect(`${line}: ${await gateOf(line, RULES)}`).toStartWith(`${line}: ask `);
      }
    }
    expect(await gateOf("cd && npm test", RULES)).toBe("ask shell_command");
  });

  test("after several that may fail runs in an unknown directory", async () => {
    const line = Array.from({ length: 200 }, (_, index) => `cd missing-${index}`).join("; ");
    const begin = performance.now();
    expect(await gateOf(`${line}; ls`)).toBe("ask shell_command");
    expect(performance.now() - begin).toBeLessThan(2_000 + BUSY_MS);
  });

  test("after one that may fail is evaluated for both directories", async () => {
    expect(await gateOf("cd missing; npm test", RULES)).toBe("allow rule");
    expect(await gateOf("cd missing; cat ../outside.txt")).toBe("ask outside_project");
    expect(await gateOf(`cd ${join(top, "elsewhere")}; npm test`, RULES)).toStartWith("ask ");
    expect(await gateOf(`cd ${join(top, "elsewhere")} || npm test`, RULES)).toBe("allow rule");
  });
});
