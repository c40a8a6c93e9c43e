import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { commitTree, pluginFiles } from "../../../core/test/support/plugin-source.ts";
import { startInPty } from "../support/pty-program.ts";
import { runDiligent } from "../support/run-diligent.ts";
import { createTemporaryProject, type TemporaryProject } from "../support/temporary-project.ts";

let place: TemporaryProject;
let source: string;
let commit: string;

beforeEach(() => {
  place = createTemporaryProject();
  source = join(place.top, "source");
  commit = commitTree(source, pluginFiles("tidy"));
});

afterEach(() => place.remove());

const plugins = (...args: string[]) => runDiligent(place, ["plugins", ...args]);
const listed = async () => JSON.parse((await plugins("list", "--json")).stdout);

describe("diligent plugins", () => {
  test("add shows what would become active; without a terminal it needs --yes, else exit code 2", async () => {
    const { stdout, stderr, exitCode } = await plugins("add", "../source");
    expect([exitCode, stderr]).toEqual([
      2,
      "diligent: Activate tidy in all your projects? No terminal to confirm; use --yes\n",
    ]);
    expect(stdout.split("\n")).toEqual([
      "Plugin     tidy 1.0.0",
      "           A plugin.",
      `Source     ${source}`,
      `Commit     ${commit}`,
      "Runs code:",
      "  Hooks: programs that run by themselves",
      "    tidy  (tidy/hooks/hooks.json)",
      `      PostToolUse[0] = Write: \${CLAUDE_PLUGIN_ROOT}/scripts/hook.sh`,
      "  Servers (MCP) that are started or contacted",
      "    tidy:db  (tidy/.mcp.json)",
      `      command = \${CLAUDE_PLUGIN_ROOT}/server.sh`,
      "      env = TOKEN",
      "  Commands that stand for a prompt",
      "    tidy:git:review  (commands/git/review.md)",
      "      description = Reviews.",
      "      runs = git diff",
      "Becomes active:",
      "  Skills that the model is offered",
      "    tidy:deploy  (skills/deploy/SKILL.md)",
      "      description = Deploys.",
      "  Sub-agents that the model may use",
      "    tidy:critic  (tidy/agents/critic.md)",
      "      description = Criticises.",
      "      tools = Read",
      "Programs in it, which its hooks, servers and commands can run:",
      "    scripts/hook.sh",
      "",
    ]);
    expect(await listed()).toEqual([]);

    expect((await plugins("add", "../source", "--yes")).stdout).toEndWith("Added tidy\n");
    expect(await listed()).toEqual([{ name: "tidy", source, commit, enabled: true }]);
    expect((await plugins()).stdout).toBe(
      `tidy  ${source}  ${commit.slice(0, 12)}\n    1 file with hooks, 1 server, 1 command, 1 skill, 1 sub-agent\n`,
    );
  });

  test("add asks in a terminal, and takes only yes for an answer", async () => {
    await using refused = startInPty(place, ["plugins", "add", source], { rows: 40 });
    await refused.waitFor("Activate tidy in all your projects? [y/N]");
    refused.send("x\r");
    await refused.waitFor("Not activated; nothing was changed.");
    expect(await refused.exitCode).toBe(0);
    expect(await listed()).toEqual([]);
    await using agreed = startInPty(place, ["plugins", "add", source], { rows: 40 });
    await agreed.waitFor("Activate tidy in all your projects? [y/N]");
    agreed.send("y\r");
    await agreed.waitFor("Added tidy");
    expect(await agreed.exitCode).toBe(0);
    expect(await listed()).toMatchObject([{ name: "tidy", enabled: true }]);
  });

  test("update shows the differences and changes nothing without agreement; remove removes", async () => {
    await plugins("add", source, "--yes");
    expect((await plugins("update")).stdout).toBe("tidy is up to date\n");
    const newer = commitTree(source, pluginFiles("tidy", "echo other \u001b[2J"));
    const shown = await plugins("update", "tidy");
    expect(shown.exitCode).toBe(2);
    expect(shown.stdout.split("\n").slice(2)).toEqual([
      `Source     ${source}`,
      `Commit     ${newer}`,
      `Before     ${commit}`,
      "Changes:",
      "  ~ tidy  (tidy/hooks/hooks.json, runs code)",
      `      - PostToolUse[0] = Write: \${CLAUDE_PLUGIN_ROOT}/scripts/hook.sh`,
      "      + PostToolUse[0] = Write: echo other \\x1b[2J",
      "Files:",
      "    ~ hooks/hooks.json",
      "Programs in it, which its hooks, servers and commands can run:",
      "    scripts/hook.sh",
      "",
    ]);
    expect(await listed()).toMatchObject([{ commit }]);
    expect((await plugins("update", "--yes")).stdout).toEndWith("Updated tidy\n");
    expect(await listed()).toMatchObject([{ commit: newer, enabled: true }]);
    expect((await plugins("remove", "tidy")).stdout).toBe("Removed tidy\n");
    expect(await listed()).toEqual([]);
    expect((await plugins()).stdout).toBe("There are no plugins. Add one with diligent plugins add.\n");
  });

  test("bad arguments are exit code 2, and a source that cannot be used is exit code 1", async () => {
    expect((await plugins("ad", source)).stderr).toBe(
      "diligent: plugins: unknown action ad (did you mean add?)\n",
    );
    expect((await plugins("add")).stderr).toBe("diligent: plugins add: URL or PATH is missing\n");
    expect((await plugins("list", "x")).exitCode).toBe(2);
    const missing = await plugins("add", "./missing", "--yes");
    expect([missing.exitCode, missing.stderr]).toEqual([
      1,
      "diligent: ./missing does not exist, and is no address such as https://host/plugin.git.\n",
    ]);
    const unknown = await plugins("remove", "tidy");
    expect([unknown.exitCode, unknown.stderr]).toEqual([
      1,
      'diligent: There is no plugin "tidy" (the plugins are: none).\n',
    ]);
  });
});
