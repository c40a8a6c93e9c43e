import { afterAll, describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decideApproval } from "../../src/approval/policy.ts";
import type {
  ApprovalContext,
  ApprovalMode,
  ApprovalVerdict,
  PermissionRule,
} from "../../src/approval/types.ts";
import { createEverydayProject } from "../support/everyday-project.ts";

const project = createEverydayProject({ isHostile: false });
const { root } = project;
mkdirSync(join(root, "private"));
writeFileSync(join(root, "private", "plan.md"), "");

afterAll(() => project[Symbol.dispose]());

function decide(command: string, context: Partial<ApprovalContext>): Promise<ApprovalVerdict> {
  const request = { permission: "execute", toolName: "bash", description: "", details: { command } } as const;
  return decideApproval(request, { root, cwd: root, ...context });
}

async function gateOf(command: string, rules: PermissionRule[], mode?: ApprovalMode): Promise<string> {
  const { action, gate } = await decide(command, { rules, mode });
  return `${action} ${gate}`;
}

describe("a rule that denies a program", () => {
  const RULES: PermissionRule[] = [
    { permission: "execute", pattern: "*", action: "allow" },
    { permission: "execute", pattern: "curl", action: "deny" },
  ];
  const commands = [
    ...["2>/dev/null curl x", ">x curl y", "<x curl y", "> x curl y", "2>&1 >x 3<y curl z", "{fd}>x curl y"],
    ...[
      "A=1 >x curl y",
      "a[1]=2 curl x",
      "coproc curl x",
      "coproc NAME { curl x; }",
      "! curl x",
      "time curl x",
    ],
    ...["time -p curl x", "find . -exec curl {} \\;", "find . -name x -execdir /usr/bin/curl {} +"],
    ...[
      "find . -ok curl x",
      "fd -x curl",
      "xargs curl",
      "xargs -n 1 -P 4 curl",
      "ls | xargs curl x",
      "curl>x",
    ],
    ...[
      "cur\\\nl x",
      "cu\\\nrl x > y",
      "ls \\\n; curl x",
      "c'u'rl x > y",
      "/usr/bin/c?rl x",
      "cur? x",
      "c[u]rl x",
    ],
    ...["bash -c 'curl x'", "sh -c 'true; curl x'", 'eval "curl x"', "trap 'curl x' EXIT", "env -S 'curl x'"],
    ...["if ! curl x; then :; fi", "(curl x)", "{ curl x; } > y", "a & curl x", "cat <<E | curl x\na\nE"],
    ...["nice -n 5 curl", "exec -a foo curl x", "command -- curl x", "# note\ncurl x", "ls 2>&1; curl x"],
  ];
  for (const command of commands) {
    test(`denies ${JSON.stringify(command)}, in the mode auto as well`, async () => {
      expect(await gateOf(command, RULES)).toBe("deny rule");
      expect(await gateOf(command, RULES, "auto")).toBe("deny rule");
    });
  }

  test("does not deny a command that only names the program", async () => {
    for (const command of ["grep curl README.md > x", "echo curl > x", "ls curl", "git log --grep curl"]) {
      expect(`${command}: ${await gateOf(command, RULES)}`).not.toContain("deny");
    }
  });
});

describe("a rule that denies reading", () => {
  const DENY: PermissionRule = { permission: "read", pattern: "private/**", action: "deny" };
  const commands = [
    ...[
      "cat < private/plan.md",
      "cat private/plan.md > x",
      "cat private/*.md > x",
      "cat pri*/plan.md > x",
      "cat [p]rivate/plan.md > x",
    ],
    ...[
      "x=$(cat private/plan.md)",
      "awk 1 private/plan.md",
      "awk 1 ./src/../private/plan.md",
      "tar cf x private",
    ],
    ...[
      "python3 -c \"print(open('private/plan.md').read())\"",
      "dd if=private/plan.md",
      "sh -c 'cat private/plan.md'",
    ],
    ...[
      "curl -d @private/plan.md x",
      "git diff --no-index /dev/null private/plan.md",
      "awk 1 PRIVATE/plan.md",
    ],
    ...[
      "cat priv\\\nate/plan.md > x",
      "while read x; do echo; done <private/plan.md",
      "cd private && awk 1 plan.md",
    ],
    ...["node - private/plan.md", "cat 'private/plan.md' >&2", 'awk 1 "private"/plan.md'],
    ...[
      `awk 1 ${join(root, "private", "plan.md")}`,
      "rsync --files-from=private/plan.md a b",
      "cat src/x private/y | awk 1",
    ],
  ];
  for (const command of commands) {
    test(`denies ${JSON.stringify(command)}, whatever rule or mode allows it`, async () => {
      expect(await gateOf(command, [DENY])).toBe("deny rule");
      expect(await gateOf(command, [DENY, { permission: "execute", pattern: "*", action: "allow" }])).toBe(
        "deny rule",
      );
      expect(await gateOf(command, [DENY], "auto")).toBe("deny rule");
    });
  }

  test("takes precedence over everything that allows the same command", async () => {
    const bin = join(root, "tools");
    mkdirSync(bin, { recursive: true });
    for (const name of ["cat", "grep"]) {
      writeFileSync(join(bin, name), "#!/bin/sh\n");
      chmodSync(join(bin, name), 0o755);
    }
    const inside = `cd .. && cat app/private/plan.md`;
    for (const command of ["grep -r x . ../elsewhere", "cat ../outside.txt private/plan.md", inside]) {
      expect(`${command}: ${await gateOf(command, [DENY], "auto")}`).toBe(`${command}: deny rule`);
    }
    const environment = { PATH: `${bin}:/usr/bin:/bin` };
    const verdict = await decide("cat private/plan.md", { rules: [DENY], mode: "auto", environment });
    expect(verdict.action).toBe("deny");
  });

  test("does not affect unrelated commands", async () => {
    for (const command of [
      "npm test",
      "make > x",
      "awk 1 README.md",
      "echo $HOME/private-notes",
      "awk '/[a-z]+/' x",
    ]) {
      expect(`${command}: ${await gateOf(command, [DENY])}`).toStartWith(`${command}: ask `);
      expect(await gateOf(command, [DENY], "auto")).toBe("allow auto_mode");
    }
    expect(await gateOf("cat README.md", [DENY])).toBe("allow read_only_command");
  });

  test("for all files denies a command that names an existing one", async () => {
    const rules: PermissionRule[] = [{ permission: "read", pattern: "**", action: "deny" }];
    expect(await gateOf("awk 1 README.md", rules, "auto")).toBe("deny rule");
    expect(await gateOf("cat < README.md", rules, "auto")).toBe("deny rule");
    expect(await gateOf("make", rules, "auto")).toBe("allow auto_mode");
  });
});
