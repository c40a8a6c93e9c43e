import { foldName } from "../infrastructure/fold-name.ts";
import { splitPath } from "../infrastructure/reading/real-path.ts";

/** Directories whose files steer a program that people run: version control, this agent, editors, CI. */
const CONTROL_DIRECTORIES: readonly (readonly string[])[] = [
  [".git"],
  [".diligent"],
  [".vscode"],
  [".ci"],
  [".circleci"],
  [".buildkite"],
  [".woodpecker"],
  [".teamcity"],
  [".husky"],
  [".idea"],
  [".devcontainer"],
  [".claude"],
  [".agents"],
  [".forgejo", "workflows"],
  [".gitea", "workflows"],
  [".github", "workflows"],
  [".github", "actions"],
  [".gitlab", "ci"],
  [".config", "fish"],
];

const CONTROL_FILES: ReadonlySet<string> = new Set([
  "diligent.jsonc",
  "diligent.json",
  "claude.md",
  "agents.md",
  "agents.override.md",
  ".mcp.json",
  "bunfig.toml",
  ".npmrc",
  ".yarnrc.yml",
  ".cirrus.yml",
  "appveyor.yml",
  ".gitlab-ci.yml",
  ".travis.yml",
  ".drone.yml",
  ".woodpecker.yml",
  "azure-pipelines.yml",
  "bitbucket-pipelines.yml",
  "jenkinsfile",
  ".profile",
  ".login",
  ".logout",
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".bash_aliases",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".zlogout",
  ".zsh_logout",
  ".xprofile",
  ".kshrc",
  ".cshrc",
  ".tcshrc",
  ".inputrc",
]);

/**
 * True for a path whose content decides what other programs do later: writing one needs a person's consent even inside
 * the project. Names count at any depth, since a project can hold other repositories, and in any case and Unicode form,
 * since some file systems take `.GIT` and `.g\u200cit` for `.git`.
 */
export function isControlFile(path: string): boolean {
  const parts = splitPath(path).map(foldName);
  const name = parts.at(-1) ?? "";
  if (CONTROL_FILES.has(name) || name.startsWith(".env")) return true;
  return CONTROL_DIRECTORIES.some((directory) => containsSequence(parts, directory));
}

function containsSequence(parts: readonly string[], sequence: readonly string[]): boolean {
  return parts.some((_, start) => sequence.every((part, offset) => parts[start + offset] === part));
}
