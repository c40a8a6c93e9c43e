import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { git } from "./git-repository.ts";

/** The files of a plugin with one of everything; `hook` is the command of its hook. */
export function pluginFiles(name: string, hook = `\${CLAUDE_PLUGIN_ROOT}/scripts/hook.sh`) {
  return {
    ".claude-plugin/plugin.json": JSON.stringify({ name, version: "1.0.0", description: "A plugin." }),
    "commands/git/review.md":
      "---\ndescription: Reviews.\n---\nReview $1 of $" + "{CLAUDE_PLUGIN_ROOT}. !`git diff`\n",
    "agents/critic.md": `---\nname: critic\ndescription: Criticises.\ntools: Read\n---\nSee \${CLAUDE_PLUGIN_ROOT}.\n`,
    "skills/deploy/SKILL.md": `---\nname: deploy\ndescription: Deploys.\n---\nRun \${CLAUDE_PLUGIN_ROOT}/x.\n`,
    "hooks/hooks.json": JSON.stringify({
      description: "Hooks.",
      hooks: { PostToolUse: [{ matcher: "Write", hooks: [{ type: "command", command: hook }] }] },
    }),
    ".mcp.json": JSON.stringify({ db: { command: `\${CLAUDE_PLUGIN_ROOT}/server.sh`, env: { TOKEN: "t" } } }),
    "scripts/hook.sh": "#!/bin/sh\necho ran\n",
  };
}

/** Writes files into a directory; those with the extension .sh are programs. */
export function writeTree(directory: string, files: Readonly<Record<string, string>>): string {
  mkdirSync(directory, { recursive: true });
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
    if (path.endsWith(".sh")) chmodSync(join(directory, path), 0o755);
  }
  return directory;
}

/** Writes files into a repository, which is created if necessary, and commits them. @returns the commit. */
export function commitTree(directory: string, files: Readonly<Record<string, string>>): string {
  writeTree(directory, files);
  git(directory, "init", "-q");
  git(directory, "add", "-A");
  git(directory, "commit", "-q", "--allow-empty", "-m", "change");
  return git(directory, "rev-parse", "HEAD").trim();
}
