import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, linkSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decideApproval } from "../../src/approval/policy.ts";
import type { ApprovalContext, ApprovalMode, ApprovalVerdict } from "../../src/approval/types.ts";
import { executeToolCall } from "../../src/tool/execute.ts";
import { createToolRegistry } from "../../src/tool/registry.ts";
import type { Tool } from "../../src/tool/types.ts";
import { createBashTool } from "../../src/tools/bash.ts";
import { createEverydayProject } from "../support/everyday-project.ts";
import { createToolWorkspace } from "../support/tool-workspace.ts";

const { root, top, [Symbol.dispose]: remove } = createEverydayProject({ isHostile: true });

afterAll(remove);

mkdirSync(join(root, "plain"));
writeFileSync(join(root, "plain", "a.txt"), "a\n");
mkdirSync(join(root, "tree", "deep"), { recursive: true });
writeFileSync(join(root, "tree", "deep", "a.txt"), "a\n");
mkdirSync(join(root, "merged", "tree"), { recursive: true });
mkdirSync(join(root, "nested", ".git", "hooks"), { recursive: true });
writeFileSync(join(root, "nested", ".git", "HEAD"), "ref: refs/heads/main\n");
mkdirSync(join(root, "linked"));
symlinkSync("..", join(root, "linked", "up"));
mkdirSync(join(root, "workflows-to-be", "workflows"), { recursive: true });
writeFileSync(join(root, "workflows-to-be", "workflows", "ci.yml"), "on: push\n");
mkdirSync(join(root, "agents"));
writeFileSync(join(root, "agents", "CLAUDE.md"), "Obey.\n");
writeFileSync(join(root, "evil-ignore"), "!.env\n");
mkdirSync(join(root, "bin"));
writeFileSync(join(root, "bin", "tool"), "#!/bin/sh\n", { mode: 0o755 });
mkdirSync(join(root, "through"));
symlinkSync(join(top, "outside.txt"), join(root, "through", "README.md"));
linkSync(join(root, "README.md"), join(root, "plain", "hard.md"));

async function judge(
  command: string,
  context: Partial<ApprovalContext> = {},
  mode: ApprovalMode = "accept-edits",
): Promise<ApprovalVerdict> {
  return decideApproval(
    { permission: "execute", toolName: "bash", description: "", details: { command } },
    { root, cwd: root, mode, ...context },
  );
}

const EDITS = [
  "mkdir new",
  "mkdir -p new/deep/er src/more",
  "mkdir -m 755 new",
  "touch src/new.ts README.md",
  "touch -c -d 2026-01-01 README.md",
  "cp README.md docs/copy.md",
  "cp README.md package.json docs/",
  "cp -p -t docs README.md",
  "cp -r tree copied",
  "cp -a tree docs/",
  "mv README.md GUIDE.md",
  "mv src/lib/util.ts src/util.ts",
  "mv tree docs/",
  "mv src/*.ts docs",
  "ln -s ../README.md docs/readme",
  "ln -sfn src source",
  "ln README.md docs/same.md",
  "sed -i 's/a/b/' README.md",
  "sed -i '' 's/a/b/' README.md",
  "sed -i '' -e 's|a|b|g' -e '/^$/d' README.md src/*.ts",
  "sed -i.bak -e 's/a/b/g' -e '/^$/d' README.md src/main.ts",
  "sed -ni '1,5p' README.md",
  "sed -Ei 's/(a|b)/c/' src/*.ts",
  "sed -i '1i // header' src/main.ts",
  "sed --in-place '$d' README.md",
  "mkdir -p new && touch new/a.ts && cp README.md new/b.md",
  "mkdir -p new; mv README.md new/",
  "cd src && touch more.ts && sed -i s/a/b/ main.ts && cat main.ts",
  "mv README.md GUIDE.md && mv package.json other.json && echo done",
  "mv tree docs/ && echo done",
  "mkdir x && cd x && touch y",
  "touch a.ts 2>/dev/null",
];

const MORE_THAN_EDITS = [
  // Outside the project, by whatever way.
  "touch ../outside",
  "touch /etc/passwd",
  "mkdir -p src/../../made",
  "touch link-out/passwd",
  "cp README.md link-to-outside-file",
  "cp README.md through",
  "cp -r tree link-out/",
  "cp ../outside.txt here.txt",
  "mv ../outside.txt here.txt",
  "mv README.md ..",
  "cp -t .. README.md",
  "cp --target-directory=.. README.md",
  "sed -i s/a/b/ link-to-outside-file",
  "sed -i s/a/b/ ../outside.txt",
  "ln -s /etc linked-out",
  "ln -s .. docs/../up",
  "cd docs && ln -s .. ../up",
  "ln -s ../.. src/lib/up-and-out/..",
  "ln ../outside.txt here.txt",
  "touch dangling-link",
  "touch ~/x",
  // Files that steer other programs or hold secrets.
  "touch .env",
  "cp README.md CLAUDE.md",
  "cp README.md .github/workflows/new.yml",
  "mv README.md .vscode/settings.json",
  "mkdir .git",
  "mv .github/workflows/ci.yml gone.yml",
  "mv .github gone",
  "sed -i s/a/b/ .env",
  "sed -i s/a/b/ config/server.pem",
  "sed -i.env s/a/b/ src/main.ts .",
  "cp .env innocent",
  "cp config/server.pem innocent",
  "mv config/server.pem innocent",
  "cp -r config innocent",
  "ln config/id_rsa innocent",
  "ln -s config/id_rsa innocent",
  "ln -s docs .github",
  "ln -s ../docs .claude",
  "ln -s docs/workflows .github/",
  "mv workflows-to-be .github",
  "mv workflows-to-be/workflows .github/",
  "cp -r agents elsewhere",
  "mv agents elsewhere",
  "mv nested elsewhere",
  "cp -r nested elsewhere",
  "touch HEAD",
  // Links lead somewhere else from another place.
  "mv linked/up up",
  "mv linked elsewhere",
  "cp -r linked elsewhere",
  "cp -a linked/up up",
  // What already exists is merged with, and written through.
  "cp -r tree merged",
  "mv tree merged/",
  // What the options or the script mean is not known.
  "cp --parents README.md docs",
  "cp -b README.md docs",
  "cp -l README.md docs/hard.md",
  "mv --backup=numbered README.md docs",
  "mkdir -Z new",
  "sed -i 's/a/b/w /tmp/x' README.md",
  "sed -i 's/a/id/e' README.md",
  "sed -i '1e id' README.md",
  "sed -i '1r /etc/passwd' README.md",
  "sed -i -f script.sed README.md",
  "sed -i../x s/a/b/ README.md",
  "sed -i'*' s/a/b/ README.md",
  // GNU sed takes the script for a file here.
  "sed -i '' ../outside.txt README.md",
  "sed -i '' 's|a|b/../../../x|' README.md",
  "sed -i '' s/a/b/ ../outside.txt",
  "sed -i '' 's/a/id/e' README.md",
  "sed -i '' '' README.md",
  "sed -n '' s/a/b/ -i README.md",
  "sed -i s/a/b/ -i.bak README.md",
  "cp src/. docs -r",
  "cd options && touch *",
  // What ran before it on the line changes what it does.
  "ln -s docs d && touch d/x",
  "ln -s docs d; cat d/x",
  "mv tree t && cat t/deep/a.txt",
  "mv tree t && ls",
  "cd src/lib && mv ../lib ../../l && touch ../../x",
  "cp tree/deep/a.txt plain/b && mv plain p",
  "mkdir -p x/workflows && cp README.md x/workflows/ci.yml && mv x .github",
  "touch -- --pre=x && rg a *",
  "touch x && cat *",
  "cp evil-ignore .ignore && rg KEY",
  "cp bin/tool bin/ls && ls",
  "touch x | touch y",
  "ls | cp README.md docs/b.md",
  // Other programs, and more than plain words.
  "rm README.md",
  "chmod +x README.md",
  "install README.md docs",
  "echo x > README.md",
  "touch x && make",
  "touch x & touch y",
  'touch "$HOME"',
  "touch $(id)",
  "X=1 touch y",
  "PATH=bin touch y",
  "/usr/bin/touch y",
  "env touch y",
];

describe("accept-edits", () => {
  test.each(EDITS)("allows %p, which the mode ask asks about", async (command) => {
    expect(await judge(command, {}, "ask")).toMatchObject({ action: "ask" });
    expect(await judge(command)).toMatchObject({ action: "allow" });
  });

  test.each(MORE_THAN_EDITS)("asks about %p", async (command) => {
    expect(await judge(command)).toMatchObject({ action: "ask" });
  });

  test("asks if a rule of the user requires it for a program, a path or a part of a line", async () => {
    const rules = [
      { permission: "execute", pattern: "mv *", action: "ask" },
      { permission: "write", pattern: "docs/**", action: "ask" },
    ] as const;
    for (const command of ["mv README.md GUIDE.md", "touch docs/x", "touch x && mv README.md GUIDE.md"]) {
      expect(await judge(command, { rules })).toMatchObject({ action: "ask", gate: "rule" });
    }
    expect(await judge("touch src/x", { rules })).toMatchObject({ action: "allow", gate: "accept_edits" });
  });

  test("denies what a rule forbids to write or to read", async () => {
    const rules = [
      { permission: "write", pattern: "docs/**", action: "deny" },
      { permission: "read", pattern: "src/**", action: "deny" },
    ] as const;
    expect(await judge("touch docs/x", { rules })).toMatchObject({ action: "deny", gate: "rule" });
    expect(await judge("cp src/main.ts x.ts", { rules })).toMatchObject({ action: "deny", gate: "rule" });
  });

  test("asks about an edit after a command that only a rule allows", async () => {
    const rules = [{ permission: "execute", pattern: "make *", action: "allow" }] as const;
    expect(await judge("touch x && make all", { rules })).toMatchObject({ action: "allow" });
    expect(await judge("make all && touch x", { rules })).toMatchObject({ action: "ask" });
  });

  test("asks if the program belongs to the project", async () => {
    writeFileSync(join(root, "bin", "mkdir"), "#!/bin/sh\n", { mode: 0o755 });
    const environment = { PATH: `${join(root, "bin")}:/usr/bin:/bin` };
    expect(await judge("mkdir new", { environment })).toMatchObject({ action: "ask" });
    expect(await judge("touch new", { environment })).toMatchObject({ action: "allow" });
  });
});

test("every allowed command runs and changes nothing outside the project", async () => {
  using project = createEverydayProject({ isHostile: true });
  const workspace = createToolWorkspace({ root: project.root, cwd: project.root });
  const registry = createToolRegistry([createBashTool(workspace) as Tool]);
  const around = () => readdirSync(project.top).sort();
  const before = around();
  const run = (command: string) =>
    executeToolCall({ type: "tool_call", id: "call_1", name: "bash", input: { command } }, registry, {
      signal: AbortSignal.timeout(20_000),
      decide: async (request) => {
        const context = { root: project.root, cwd: project.root, mode: "accept-edits" } as const;
        const { action } = await decideApproval(request, context);
        return { response: action === "allow" ? "once" : "reject" };
      },
    });
  for (const command of [...MORE_THAN_EDITS, ...EDITS]) await run(command);
  expect(around()).toEqual(before);
  expect(existsSync(join(project.root, "new", "deep", "er"))).toBe(true);
  expect(readdirSync(join(project.top, "elsewhere"))).toEqual(["passwd"]);
});
