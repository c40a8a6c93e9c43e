import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decideApproval } from "../../src/approval/policy.ts";
import type { ApprovalContext, PermissionRule } from "../../src/approval/types.ts";

const top = realpathSync(mkdtempSync(join(tmpdir(), "approval-control-")));
const home = join(top, "home");
const root = join(home, "work", "app");
const dotfiles = join(home, ".config");
for (const directory of [
  join(root, "src"),
  join(dotfiles, "nvim"),
  join(home, ".local"),
  join(top, "state"),
]) {
  mkdirSync(directory, { recursive: true });
}
writeFileSync(join(top, "state", "grants.json"), "{}");

afterAll(() => rmSync(top, { recursive: true, force: true }));

interface Asked {
  permission?: "read" | "write";
  tool?: string;
}

async function decide(
  path: string,
  using: Partial<ApprovalContext>,
  { permission = "write", tool = "write" }: Asked = {},
) {
  const context = { root, cwd: using.root ?? root, home, environment: { HOME: home }, ...using };
  return decideApproval({ permission, toolName: tool, description: "", details: { path } }, context);
}

async function gateOf(
  path: string,
  using: Partial<ApprovalContext> = {},
  asked: Asked = {},
): Promise<string> {
  const { action, gate } = await decide(path, using, asked);
  return `${action} ${gate}`;
}

const allow = (pattern: string): PermissionRule => ({ permission: "write", pattern, action: "allow" });

describe("a file that makes a directory a repository", () => {
  test("asks, since git obeys the settings beside it", async () => {
    for (const path of ["HEAD", "src/HEAD", "src/head", "a/b/commondir"])
      expect([path, await gateOf(path)]).toEqual([path, "ask control_file"]);
    expect((await decide("src/HEAD", {})).reason).toBe(
      "src/HEAD can make its directory a repository, whose settings git obeys",
    );
    for (const path of ["src/HEAD.md", "src/HEAD/x", "src/header", "src/config", "objects/x"])
      expect([path, await gateOf(path)]).toEqual([path, "allow project"]);
  });

  test("is allowed by a rule that names it, not by one for the whole directory", async () => {
    expect(await gateOf("src/HEAD", { rules: [allow("src/**")] })).toStartWith("ask ");
    expect(await gateOf("src/HEAD", { rules: [allow("src/HEAD")] })).toStartWith("allow ");
  });
});

describe("in any project", () => {
  const ruled = [
    ...[".git/info/exclude", ".git", "diligent.jsonc", "diligent.json", "AGENTS.md", "CLAUDE.md"],
    ...["docs/claude.MD", ".mcp.json", ".claude/settings.json", ".claude/settings.local.json"],
    ...[".claude/hooks/check.sh", ".husky/pre-push", ".githooks/pre-commit", ".pre-commit-config.yaml"],
    ...["lefthook.yml", ".lefthook.yml", ".vscode/tasks.json", ".idea/workspace.xml", ".envrc"],
    ...[".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".config/fish/config.fish"],
    ...[".github/workflows/ci.yml", ".github/actions/x/action.yml", ".gitlab-ci.yml", ".circleci/config.yml"],
    ...["Jenkinsfile", "ci/JENKINSFILE", "azure-pipelines-nightly.yml", ".travis.yml", ".woodpecker/x.yml"],
    ...[".env", ".env.local", ".env.example.local", ".ENV.production", ".npmrc"],
  ];
  for (const name of ruled)
    test(`writing ${name} asks, unless a rule names it`, async () => {
      const gates = [
        await gateOf(name),
        await gateOf(`vendor/${name}`),
        await gateOf(name, { rules: [allow("**")] }),
      ];
      expect(gates).toEqual(["ask control_file", "ask control_file", "ask control_file"]);
      expect(await gateOf(name, { rules: [allow(name)] })).toBe("allow rule");
      expect(await gateOf(name, { rules: [allow(name)], mode: "deny" })).toBe("allow rule");
    });

  const beyondRules = [
    ...[".git/hooks/pre-commit", ".git/config", ".git/modules/x/hooks/post-checkout", ".GIT/Config"],
    ...[".git/worktrees/x/config.worktree", ".diligent/skills/x/SKILL.md", ".diligent/sessions/1.jsonl"],
  ];
  for (const name of beyondRules)
    test(`writing ${name} asks, whatever the rules allow`, async () => {
      const patterns = [
        "**",
        name,
        `${name.slice(0, name.lastIndexOf("/"))}/**`,
        "**/.git/**",
        ".diligent/**",
      ];
      for (const pattern of patterns)
        expect([pattern, await gateOf(name, { rules: [allow(pattern)] })]).toEqual([
          pattern,
          "ask control_file",
        ]);
    });

  test("all other files need no approval", async () => {
    const plain = [
      ...["package.json", "Makefile", "Dockerfile", ".gitignore", ".gitattributes", ".gitmodules"],
      ...[".editorconfig", ".tool-versions", ".prettierrc", "tsconfig.json", "rust-toolchain.toml"],
      ...[".env.example", ".env.sample", "config/.env.template", ".env.local.dist", "Jenkinsfile.template"],
      ...[".yarnrc.yml", "bunfig.toml", ".cargo/config.toml", ".mise.toml", ".vimrc", "GEMINI.md"],
      ...[".cursorrules", ".claude/agents/x.md", ".claude/commands/x.md", ".github/CODEOWNERS"],
      ...["CLAUDE.local.md", ".devcontainer.json", "src/cursorrules.ts", "docs/jenkinsfile-howto.md"],
      ...["src/config/git/x.ts", "local/bin/x", ".local/bin/x", "environment.ts", "bin/tool", "npmrc"],
      ...["library/x.ts", ".config/app.json", ".config/git/config", ".envy", "env"],
    ];
    for (const name of plain) expect(`${name}: ${await gateOf(name)}`).toBe(`${name}: allow project`);
  });

  test("an example that leads to a secret is that secret", async () => {
    writeFileSync(join(root, ".env"), "KEY=1");
    symlinkSync(".env", join(root, ".env.example"));
    expect(await gateOf(".env.example")).toBe("ask control_file");
    expect(await gateOf(".env.example", {}, { permission: "read" })).toBe("ask secret");
    rmSync(join(root, ".env.example"));
    writeFileSync(join(root, ".env.example"), "KEY=");
    expect(await gateOf(".env.example", {}, { permission: "read" })).toBe("allow project");
    rmSync(join(root, ".env.example"));
    rmSync(join(root, ".env"));
  });
});

describe("a session in the home directory", () => {
  const inHome = { root: home };

  test("asks before any of its settings is written, known or unknown", async () => {
    const names = [
      ".profile.d/x",
      ".whatever-rc",
      ".config/app/settings.json",
      ".local/share/x",
      "bin/ls",
      ".x",
    ];
    for (const name of [...names, ".ssh/config", "Library/LaunchAgents/x.plist", ".BASHRC"]) {
      expect(`${name}: ${await gateOf(name, inHome)}`).toBe(`${name}: ask control_file`);
    }
    expect(await gateOf("notes.txt", inHome)).toBe("allow project");
    expect(await gateOf("work/app/bin/x", inHome)).toBe("allow project");
    expect(await gateOf("home/.whatever-rc", { root: top })).toBe("ask control_file");
  });

  test("a rule for one directory of settings covers it, but not files that programs obey by themselves", async () => {
    const rules = [allow(".config/**"), allow("~/.whatever/**")];
    expect(await gateOf(".config/app/settings.json", { ...inHome, rules })).toBe("allow rule");
    expect(await gateOf(".whatever/x", { ...inHome, rules })).toBe("allow rule");
    expect(await gateOf(".config/systemd/user/x.service", { ...inHome, rules })).toBe("ask control_file");
    const named = [...rules, allow(".*"), allow(".vimrc")];
    expect(await gateOf(".vimrc", { ...inHome, rules: named })).toBe("allow rule");
    expect(await gateOf(".gdbinit", { ...inHome, rules: named })).toBe("ask control_file");
    expect(await gateOf(".other", { ...inHome, rules: [allow("**"), allow("*")] })).toBe("ask control_file");
  });

  test("in one of its directories asks only about files that are started from there", async () => {
    const inDotfiles = { root: dotfiles };
    expect(await gateOf("systemd/user/x.service", inDotfiles)).toBe("ask control_file");
    expect(await gateOf("app/settings.json", inDotfiles)).toBe("allow project");
    expect(await gateOf("gh/hosts.yml", inDotfiles, { permission: "read" })).toBe("ask secret");
    expect(await gateOf("init.lua", { root: join(dotfiles, "nvim") })).toBe("allow project");
  });
});

describe("diligent's own directories", () => {
  const environment = {
    HOME: home,
    XDG_STATE_HOME: join(root, "state"),
    XDG_CONFIG_HOME: join(root, "settings"),
  };
  const own = ["state/diligent/grants.json", "state/diligent/trust.json", "settings/diligent/diligent.jsonc"];

  test("ask for reading and for writing, wherever the environment puts them", async () => {
    for (const name of own) {
      const read = await gateOf(name, { environment }, { permission: "read", tool: "read" });
      expect([name, await gateOf(name, { environment }), read]).toEqual([
        name,
        "ask control_file",
        "ask secret",
      ]);
    }
    expect(await gateOf("state/DILIGENT/grants.json", { environment })).toBe("ask control_file");
    expect(await gateOf("state/other.json", { environment })).toBe("allow project");
  });

  test("are recognized by their real path", async () => {
    symlinkSync(join(top, "state"), join(home, ".local", "state"));
    symlinkSync(join(top, "state"), join(root, "notes"));
    mkdirSync(join(top, "state", "diligent"), { recursive: true });
    const using = { root: top, environment: { HOME: home } };
    expect(await gateOf("state/diligent/grants.json", using)).toBe("ask control_file");
    expect(await gateOf(join(root, "notes", "diligent", "grants.json"), using)).toBe("ask control_file");
    rmSync(join(home, ".local", "state"));
  });

  test("are opened by no rule and no earlier answer, and no grant is offered", async () => {
    const name = "state/diligent/grants.json";
    const rules = [allow("**"), allow("state/**"), allow(name), allow(join(root, name))];
    const grants = [{ kind: "path", permission: "write", tool: "write", path: join(root, name) }] as const;
    const verdict = await decide(name, { environment, rules, grants });
    expect([verdict.action, verdict.gate, verdict.grants]).toEqual(["ask", "control_file", undefined]);
    const inHome = { root: home, rules: [allow(".local/state/diligent/**"), allow("~/.config/diligent/*")] };
    expect(await gateOf(".local/state/diligent/grants.json", inHome)).toBe("ask control_file");
    expect(await gateOf(".config/diligent/diligent.jsonc", inHome)).toBe("ask control_file");
    const outside = await decide(join(home, ".config", "diligent", "diligent.jsonc"), {
      rules: [allow("~/**")],
    });
    expect([outside.action, outside.gate, outside.grants]).toEqual(["ask", "control_file", undefined]);
  });

  test("are excluded from a search that was not asked about", async () => {
    mkdirSync(join(root, "state", "diligent"), { recursive: true });
    writeFileSync(join(root, "state", "diligent", "input-history.jsonl"), "");
    const request = { permission: "execute", toolName: "bash", description: "" } as const;
    const verdictOf = (command: string) =>
      decideApproval({ ...request, details: { command } }, { root, cwd: root, home, environment });
    expect((await verdictOf("grep -r x .")).gate).toBe("secret");
    expect((await verdictOf("cat state/diligent/*")).gate).toBe("secret");
    expect((await verdictOf("grep -r x src")).gate).toBe("read_only_command");
  });
});

describe("a path that another process redirects", () => {
  test("asks although it leads into the project, whatever rule allows it", async () => {
    symlinkSync("/proc/self/cwd", join(root, "here"));
    const through = join("/proc", `${process.pid}`, "root", root, "src", "main.ts");
    const rules: PermissionRule[] = [{ permission: "read", pattern: "**", action: "allow" }];
    for (const path of [through, `/proc/self/root${root}/src/x`]) {
      const gates = [
        await gateOf(path, {}, { permission: "read" }),
        await gateOf(path, { rules }, { permission: "read" }),
      ];
      expect([path, gates]).toEqual([path, ["ask unknown_target", "ask unknown_target"]]);
    }
    const here = join(root, "here", "packages");
    expect(await gateOf(here, { root: "/" }, { permission: "read" })).toBe("ask unknown_target");
  });
});
