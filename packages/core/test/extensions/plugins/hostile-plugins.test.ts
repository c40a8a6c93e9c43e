import { beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type PluginPlace, preparePlugin } from "../../../src/extensions/plugins/manage.ts";
import { pluginDirectory } from "../../../src/extensions/plugins/plugin-paths.ts";
import { makeConfigPlace } from "../../support/config-place.ts";
import { git } from "../../support/git-repository.ts";
import { commitTree, pluginFiles, writeTree } from "../../support/plugin-source.ts";

let place: PluginPlace & { home: string };
let source: string;

beforeEach(() => {
  const { home, project, environment } = makeConfigPlace({ PATH: process.env.PATH });
  place = { home, environment, cwd: project, signal: new AbortController().signal };
  source = join(home, "source");
});

const prepare = (text = source) => preparePlugin(text, undefined, place);

/** What is left where plugins are kept. */
const leftovers = () => readdirSync(pluginDirectory(place.environment) ?? "");

describe("adding a plugin", () => {
  test("runs no hook, filter or helper of its repository, nor of the user's git configuration", async () => {
    const trap = (name: string) => `touch ${join(place.home, `trap-${name}`)}`;
    commitTree(source, { ...pluginFiles("tidy"), ".gitattributes": "* filter=trap diff=trap\n" });
    for (const name of ["post-checkout", "post-merge", "reference-transaction", "post-index-change"])
      writeFileSync(join(source, ".git", "hooks", name), `#!/bin/sh\n${trap(name)}\n`, { mode: 0o755 });
    const settings = [
      `[filter "trap"]\n\tsmudge = ${trap("smudge")}\n\tclean = ${trap("clean")}\n\tprocess = ${trap("process")}`,
      `[core]\n\tfsmonitor = ${trap("fsmonitor")}\n\tsshCommand = ${trap("ssh")}\n\taskPass = ${trap("ask")}`,
      `[uploadpack]\n\tpackObjectsHook = ${trap("pack")}`,
      `[credential]\n\thelper = "!${trap("credential")}"`,
    ].join("\n");
    writeFileSync(join(source, ".git", "config"), `[core]\n\tbare = false\n${settings}\n`);
    writeFileSync(
      join(place.home, ".gitconfig"),
      `${settings}\n[core]\n\thooksPath = ${source}/.git/hooks\n`,
    );
    const prepared = await prepare();
    await prepared.activate();
    prepared.discard();
    expect(readdirSync(place.home).filter((name) => name.startsWith("trap-"))).toEqual([]);
  });

  test("leaves submodules out and says so", async () => {
    commitTree(source, pluginFiles("tidy"));
    const object = git(source, "rev-parse", "HEAD").trim();
    git(source, "update-index", "--add", "--cacheinfo", `160000,${object},vendor`);
    git(source, "commit", "-qm", "submodule");
    const prepared = await prepare();
    prepared.discard();
    expect(prepared.content.problems).toEqual(["vendor is a submodule, which is left out."]);
  });

  test.each([
    ["ext::sh -c 'touch pwned'", "neither|not an address|Plugins come from"],
    ["file:///etc", "Plugins come from https or ssh addresses"],
    ["git://host.example/plugin", "Plugins come from https or ssh addresses"],
    ["http://host.example/plugin", "use https"],
    ["https://me:secret@host.example/plugin", "Leave the user name and the password out"],
    ["https://token@host.example/plugin", "Leave the user name and the password out"],
    ["ssh://-oProxyCommand=touch%20pwned/x", "not an address"],
    ["-oProxyCommand=touch pwned:x", "does not exist"],
    ["owner/repository", "For GitHub, write https://github.com/owner/repository."],
    ["../source@--upload-pack=touch", "not the name of a branch"],
    ["../source@a..b", "not the name of a branch"],
    ["../source@missing", "git: couldn't find remote ref missing"],
  ])("refuses the source %s", async (text, message) => {
    commitTree(source, pluginFiles("tidy"));
    await expect(prepare(text)).rejects.toThrow(new RegExp(message));
    expect(existsSync(join(place.cwd, "pwned"))).toBe(false);
  });

  test.each<[string, Record<string, string>]>([
    ["an absolute target", { "skills/out": "/etc" }],
    ["a relative target", { "commands/out.md": "../../../../etc/passwd" }],
    ["a detour over another link", { "a/b/up": "../..", out: "a/b/up/../../victim" }],
    ["a target that does not exist yet", { out: "nothing" }],
    ["a circle", { one: "two", two: "one" }],
  ])("refuses a link with %s, and keeps nothing of it", async (_, links) => {
    writeTree(source, { ...pluginFiles("tidy"), "a/b/file": "" });
    mkdirSync(join(place.home, "victim"), { recursive: true });
    for (const [path, target] of Object.entries(links)) symlinkSync(target, join(source, path));
    const message = /Its link .+ leads out of it/;
    await expect(prepare()).rejects.toThrow(message);
    commitTree(source, {});
    await expect(prepare()).rejects.toThrow(message);
    expect(leftovers()).toEqual([]);
  });

  test("keeps links inside", async () => {
    writeTree(source, {
      "skills/one/SKILL.md": "---\nname: one\ndescription: One.\n---\n",
      "commands/a.md": "A.",
    });
    symlinkSync("a.md", join(source, "commands", "b.md"));
    const prepared = await prepare();
    prepared.discard();
    expect(prepared.content.items.map(({ name }) => name)).toEqual(["source:a", "source:one"]);
  });

  test.each([
    ["commands", "../../home"],
    ["commands", "./ok/../../x"],
    ["skills", "/etc"],
    ["agents", "~/agents"],
    ["hooks", "../hooks.json"],
    ["mcpServers", "/etc/servers.json"],
  ])("refuses a manifest whose %s lead to %s", async (key, path) => {
    writeTree(source, { ".claude-plugin/plugin.json": JSON.stringify({ name: "tidy", [key]: [path] }) });
    await expect(prepare()).rejects.toThrow("which is outside of the plugin.");
  });

  test.each([
    [".claude-plugin/plugin.json", "{", "plugin.json is not valid JSON."],
    [".claude-plugin/plugin.json", "[]", "it must be an object."],
    [".claude-plugin/plugin.json", '{"name": 7}', '"name" is invalid.'],
    [".claude-plugin/plugin.json", '{"name": "a:b"}', "is no name for a plugin"],
    [".claude-plugin/plugin.json", '{"name": "skill"}', "is no name for a plugin"],
    [".claude-plugin/plugin.json", '{"name": "\\u001b[2Ja"}', "is no name for a plugin"],
    [".claude-plugin/plugin.json", '{"name": "a", "commands": {"x": 1}}', '"commands" is invalid.'],
    [".claude-plugin/marketplace.json", "{}", '"plugins" is invalid.'],
    ["README.md", "Text.", "There is no plugin in it"],
  ])("refuses the file %s with %s", async (path, text, message) => {
    writeTree(source, { [path]: text });
    await expect(prepare()).rejects.toThrow(message);
  });

  test("names damaged parts and uses the others", async () => {
    writeTree(source, {
      ...pluginFiles("tidy"),
      "hooks/hooks.json": "{",
      ".mcp.json": JSON.stringify({ mcpServers: { good: { command: "x" }, bad: { command: 7 }, worse: 1 } }),
      "skills/none/SKILL.md": "No head.",
      "agents/none.md": "---\nname: none\n---\nText.",
    });
    const prepared = await prepare();
    prepared.discard();
    expect(prepared.content.items.map(({ name }) => name)).toEqual([
      "tidy:good",
      "tidy:git:review",
      "tidy:deploy",
      "tidy:critic",
    ]);
    expect(prepared.content.problems).toEqual([
      "tidy/hooks/hooks.json is not valid JSON.",
      expect.stringContaining("The server tidy:bad is not used:"),
      "The server tidy:worse is not used: Its entry must be an object.",
      "tidy/skills/none is not used: it has no description.",
      "tidy/agents/none.md is not used: it has no description.",
    ]);
  });

  test("refuses 10,000 files, and file names that are not safe", async () => {
    const other = join(place.home, "other");
    writeTree(other, { ...pluginFiles("tidy"), "commands/\u001b[2J.md": "Text." });
    await expect(prepare(other)).rejects.toThrow("a file with an unsafe name: commands/\\u{1b}[2J.md.");
    const nested = join(place.home, "nested");
    commitTree(nested, pluginFiles("tidy"));
    const object = git(nested, "rev-parse", "HEAD:scripts/hook.sh").trim();
    const makeTree = (...entries: string[]) =>
      Bun.spawnSync(["git", "mktree"], { cwd: nested, stdin: Buffer.from(`${entries.join("\n")}\n`) })
        .stdout.toString()
        .trim();
    const setHead = (tree: string) =>
      git(nested, "update-ref", "HEAD", git(nested, "commit-tree", "-m", "made", tree).trim());
    // Trees that git itself does not write.
    for (const name of [".git", ".."]) {
      const inner = makeTree(`100644 blob ${object}\tconfig`);
      setHead(makeTree(`040000 tree ${inner}\t${name}`, `100644 blob ${object}\t.mcp.json`));
      await expect(prepare(nested)).rejects.toThrow(`a file with an unsafe name: ${name}/config.`);
    }
    setHead(makeTree(...Array.from({ length: 10_000 }, (_, index) => `100644 blob ${object}\t${index}`)));
    await expect(prepare(nested)).rejects.toThrow("It has 10000 files; a plugin may have 5000.");
  });

  test("ends git when it is interrupted", async () => {
    const connected = Promise.withResolvers<void>();
    using server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => {
        connected.resolve();
        return new Promise<Response>(() => {});
      },
    });
    const abort = new AbortController();
    const address = `http://127.0.0.1:${server.port}/plugin.git`;
    const preparing = preparePlugin(address, undefined, { ...place, signal: abort.signal });
    await connected.promise;
    abort.abort();
    await expect(preparing).rejects.toThrow("Interrupted.");
    expect(leftovers()).toEqual([]);
  });
});
