import { splitPath } from "../fs/real-path.ts";
import { foldName } from "../text/unicode.ts";

/**
 * Files and directories whose content is run, or instructs an agent or editor, automatically: when a directory is
 * opened, a shell or session starts, or a commit is made or pushed. Files for deliberate builds, such as `package.json`
 * or a Makefile, are not included. From the manuals of the programs; in lower case; `*` matches anything within a name.
 */
const VERSION_CONTROL: readonly string[] = [
  ...[".git", ".hg", ".svn", ".jj", ".bzr", ".husky", ".githooks"],
  ...[
    ".gitattributes",
    ".gitmodules",
    ".lfsconfig",
    ".gitconfig",
    ".gitconfig-*",
    ".gitconfig.*",
    ".hgrc",
    ".huskyrc*",
  ],
  ...[".pre-commit-config.yaml", ".pre-commit-config.yml", ".pre-commit-hooks.yaml", ".overcommit.yml"],
  ...["lefthook.*", ".lefthook.*", "lefthook-local.*", ".lefthook-local.*", ".lefthook", ".lefthook-local"],
];

const AGENTS: readonly string[] = [
  ...[".diligent", "diligent.jsonc", "diligent.json", "claude.md", "claude.local.md", "agents.md"],
  ...["agents.override.md", "agents.local.md", "gemini.md", "qwen.md", "warp.md", ".claude", ".claude.json"],
  ...[".agents", ".agent", ".codex", ".gemini", ".qwen", ".opencode", "opencode.json", "opencode.jsonc"],
  ...[".crush", "crush.json", ".crush.json", ".pi", ".goose", ".goosehints", ".amp", ".amazonq", ".kiro"],
  ...[
    ".cursor",
    ".cursorrules",
    ".windsurf",
    ".windsurfrules",
    ".clinerules",
    ".cline",
    ".roo",
    ".roorules*",
  ],
  ...[".roomodes", ".kilocode", ".kilocodemodes", ".continue", ".continuerules", ".junie", ".augment"],
  ...[".augment-guidelines", ".trae", ".rules", ".aider.conf.yml", ".aider.model.settings.yml", ".mcp.json"],
  ...["mcp.json", "copilot-instructions.md", ".copilot", "agent.md", "crush.md", ".openhands*", ".factory"],
  ...[".qoder"],
];

/** What editors keep with a project, and use at once where the project is trusted. */
const EDITOR_PROJECTS: readonly string[] = [
  ...[".vscode", "*.code-workspace", ".idea", ".zed", ".vs", ".fleet", ".nova", ".devcontainer"],
  ...[".devcontainer.json", ".gitpod.yml", ".gitpod.yaml", ".gitpod.dockerfile", ".replit", ".idx"],
  ...["*.sublime-project", "*.sublime-workspace"],
];

/** What editors start with in a directory. */
const EDITOR_START_FILES: readonly string[] = [
  ...[".vimrc", "_vimrc", ".gvimrc", ".exrc", ".nvimrc", ".nexrc", ".vimrc.local", ".nvim.lua", ".lvimrc"],
  ...[".vim", ".nvim", ".ideavimrc", ".emacs", ".emacs.d", ".dir-locals*.el", ".spacemacs", ".kakrc"],
  ...[".helix", ".nanorc"],
];

const CONTINUOUS_INTEGRATION: readonly string[] = [
  ...[".ci", ".circleci", ".buildkite", ".woodpecker", ".teamcity", ".tekton", ".semaphore", ".harness"],
  ...[".azure-pipelines", ".azuredevops", ".jenkins", ".builds", ".cirrus.yml", ".cirrus.star"],
  ...["appveyor.yml", ".appveyor.yml", ".gitlab-ci.yml", ".gitlab-ci.yaml", ".travis.yml", ".travis.yaml"],
  ...[".drone.yml", ".drone.yaml", ".drone.star", ".drone.jsonnet", ".woodpecker.yml", ".woodpecker.yaml"],
  ...["azure-pipelines*.yml", "azure-pipelines*.yaml", "bitbucket-pipelines.yml", "bitbucket-pipelines.yaml"],
  ...["jenkinsfile", "jenkinsfile.*", "*.jenkinsfile", "buildspec*.yml", "buildspec*.yaml", ".build.yml"],
  ...["cloudbuild.yaml", "cloudbuild.yml", "codefresh.yml", "wercker.yml", "screwdriver.yaml"],
];

/** Read by a package manager, version manager, interpreter or debugger at every start in the directory. */
const TOOLS: readonly string[] = [
  ...["bunfig.toml", ".bunfig.toml", ".npmrc", ".yarnrc", ".yarnrc.yml", ".yarnrc.yaml", ".yarn"],
  ...[".pnpmfile.cjs", ".pnpmfile.mjs", ".pnpmfile.js", "pnpmfile.js", ".pnp.cjs", ".pnp.loader.mjs"],
  ...["mise*.toml", ".mise*.toml", ".mise", ".rtx.toml", ".volta", ".direnvrc", ".bundle", ".mvn"],
  ...[
    "sitecustomize.py",
    "usercustomize.py",
    ".pdbrc",
    ".pdbrc.py",
    ".gdbinit",
    ".gdbearlyinit",
    ".lldbinit",
  ],
  ...["rust-toolchain", "rust-toolchain.toml", ".rprofile"],
  ...[".renviron", ".irbrc", ".pryrc", ".rdbgrc*", ".byebugrc", ".psqlrc", ".sqliterc", ".octaverc", ".ghci"],
  ...[".curlrc", "_curlrc", ".wgetrc", ".jq", ".magic", ".gemrc", ".pythonrc*", ".condarc", ".bazelrc"],
];

const SHELLS_AND_SESSIONS: readonly string[] = [
  ...[".ssh", ".gnupg", ".envrc*", ".profile", ".login", ".logout", ".rhosts", ".shosts", ".forward"],
  ...[".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".bash_completion"],
  ...[
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".zsh_logout",
    ".xprofile",
    ".kshrc",
    ".mkshrc",
  ],
  ...[".cshrc", ".tcshrc", ".inputrc", ".dircolors", ".lesskey", ".lessfilter", ".selected_editor"],
  ...[".xinitrc", ".xserverrc", ".xsession", ".xsessionrc", ".xsessions", ".xresources", ".xdefaults"],
  ...[".pam_environment", ".tmux.conf", ".screenrc", ".wezterm.lua", ".procmailrc", ".mailcap"],
];

type Location = readonly string[];

function below(directories: readonly string[], ...names: readonly string[]): Location[] {
  return directories.flatMap((directory) => names.map((name) => [directory, name]));
}

/** The start files of sessions and programs, in a home directory and in repositories linked into it. */
const SESSION_LOCATIONS: readonly Location[] = [
  ...below(
    [".config"],
    ...["autostart", "systemd", "environment.d", "git", "fish", "diligent", "mise", "nvim", "emacs", "zsh"],
    ...["helix", "zed", "direnv", "tmux", "kitty", "alacritty", "wezterm", "i3", "sway", "hypr", "awesome"],
    ...["bspwm", "sxhkd", "openbox", "pip", "npm", "opencode", "crush", "goose", "github-copilot", "xonsh"],
    ...["nushell", "ipython", "user-tmpfiles.d", "plasma-workspace", "mimeapps.list"],
  ),
  [".local", "bin"],
  [".local", "state", "diligent"],
  ...["systemd", "applications", "dbus-1", "nautilus", "gnome-shell"].map((name) => [
    ".local",
    "share",
    name,
  ]),
  ["library", "launchagents"],
];

/** A row of the table of protected paths. */
interface ProtectedGroup {
  /** These count anywhere in a project. */
  names: readonly string[];
  /** Consecutive components of a path, ending in a file, or in a directory whose contents all count. */
  locations?: readonly Location[];
  /** Only where nothing reads it before a person has pushed or started something: what its content does then, a clause. */
  usedLater?: string;
}

const GROUPS: readonly ProtectedGroup[] = [
  { names: VERSION_CONTROL },
  {
    names: AGENTS,
    locations: [
      ...below([".github"], "instructions", "prompts", "chatmodes", "agents", "hooks", "skills"),
      [".gitlab", "duo"],
    ],
  },
  { names: EDITOR_PROJECTS },
  { names: EDITOR_START_FILES },
  { names: TOOLS, locations: below([".cargo"], "config", "config.toml") },
  { names: SHELLS_AND_SESSIONS, locations: SESSION_LOCATIONS },
  {
    names: CONTINUOUS_INTEGRATION,
    locations: [...below([".github", ".forgejo", ".gitea"], "workflows", "actions"), [".gitlab", "ci"]],
    usedLater: "it is run once it is pushed",
  },
  { names: [".env*"], usedLater: "programs take settings from it when they are started" },
];

const PROTECTED_NAMES = GROUPS.flatMap(({ names }) => names);
const PROTECTED_LOCATIONS = GROUPS.flatMap(({ locations = [] }) => locations);

/** In a home directory, in addition to all names that begin with a dot: programs on the PATH and settings. */
const HOME_NAMES: ReadonlySet<string> = new Set(["bin", "library"]);

/** The project that determines the kind of a path. */
export interface ProtectedFileView {
  /** The project that contains the path. The name of this directory itself does not count. */
  root?: string | undefined;
  home?: string | undefined;
}

/**
 * `listed`: its name, or that of a directory above it, is known to control other programs. `home`: it is one of the
 * settings in a home directory, whatever program reads them.
 */
export type ProtectedKind = "listed" | "home";

/**
 * The kind of an absolute path whose content controls other programs later, so that writing it needs approval even
 * inside the project. Names count at any depth, since a project can contain other repositories, and in any case and
 * Unicode form, since some file systems treat `.GIT` and `.g\u200cit` as `.git`.
 */
export function findProtectedKind(
  path: string,
  { root, home }: ProtectedFileView,
): ProtectedKind | undefined {
  const parts = splitPath(path).map(foldName);
  const depth = root === undefined ? 0 : splitPath(root).length;
  if (parts.some((name, index) => index >= depth && isProtectedName(name))) return "listed";
  if (PROTECTED_LOCATIONS.some((location) => holdsLocation(parts, location, depth))) return "listed";
  return home !== undefined && isHomeSetting(parts, splitPath(home).map(foldName), depth)
    ? "home"
    : undefined;
}

/** The last components of the locations: an entry with another name is in none of them. */
const LOCATION_ENDS: ReadonlySet<string> = new Set(
  PROTECTED_LOCATIONS.map((location) => location.at(-1) ?? ""),
);

/**
 * `findProtectedKind` for an entry of a directory that is not protected itself and is `root` or inside it: fast enough
 * for thousands of entries. Settings of a home directory do not count.
 */
export function isProtectedEntry(directory: string, name: string, root: string): boolean {
  const folded = foldName(name);
  if (isProtectedName(folded)) return true;
  return LOCATION_ENDS.has(folded) && findProtectedKind(`${directory}/${name}`, { root }) !== undefined;
}

/** Hidden locations: links with such names are created for the programs that read them. */
const HIDDEN_LOCATIONS = PROTECTED_LOCATIONS.filter(([top = ""]) => top.startsWith("."));
const LOCATION_PARENTS: ReadonlySet<string> = new Set(
  HIDDEN_LOCATIONS.flatMap((location) => location.slice(0, -1)),
);

/**
 * The protected paths below a link, relative to its target; empty for most links. A name without a dot (`library`) may
 * belong to any directory, and returns none.
 */
export function findLocationsBehind(link: string, root: string): string[] {
  const name = foldName(link.slice(link.lastIndexOf("/") + 1));
  if (!LOCATION_PARENTS.has(name)) return [];
  const parts = splitPath(link).map(foldName).slice(splitPath(root).length);
  return HIDDEN_LOCATIONS.flatMap((location) =>
    location.flatMap((_, index) => {
      const isHere = index > 0 && location.slice(0, index).every((part, at) => parts.at(at - index) === part);
      return isHere ? [location.slice(index).join("/")] : [];
    }),
  );
}

/**
 * Why a protected path inside `root` can wait for a person: a clause about its content. Undefined where something might
 * run or follow it before anybody looks at it.
 */
export function explainUsedLater(path: string, root: string): string | undefined {
  const parts = splitPath(path).map(foldName);
  const depth = splitPath(root).length;
  const found = GROUPS.filter(({ names, locations = [] }) => {
    const pattern = toPattern(names);
    const isNamed = parts.some((name, index) => index >= depth && pattern.test(name));
    return isNamed || locations.some((location) => holdsLocation(parts, location, depth));
  });
  return found.every(({ usedLater }) => usedLater !== undefined) ? found[0]?.usedLater : undefined;
}

const NAME_PATTERN = toPattern(PROTECTED_NAMES);

function toPattern(names: readonly string[]): RegExp {
  const pattern = names.map((name) => name.replaceAll(".", "\\.").replaceAll("*", ".*")).join("|");
  return new RegExp(`^(?:${pattern})$`, "s");
}

/** Changes with the list: a file may be protected now that an earlier version did not protect. */
export function protectedListStamp(): string {
  return Bun.hash(JSON.stringify([PROTECTED_NAMES, PROTECTED_LOCATIONS])).toString(36);
}

const knownNames = new Map<string, boolean>();
const MAX_KNOWN_NAMES = 10_000;

function isProtectedName(name: string): boolean {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  if (knownNames.size >= MAX_KNOWN_NAMES) knownNames.clear();
  const isMatch = NAME_PATTERN.test(name);
  knownNames.set(name, isMatch);
  return isMatch;
}

/** True when the location ends below the first `depth` components. */
function holdsLocation(parts: readonly string[], location: readonly string[], depth: number): boolean {
  return parts.some(
    (_, start) =>
      start + location.length > depth && location.every((part, offset) => parts[start + offset] === part),
  );
}

function isHomeSetting(parts: readonly string[], home: readonly string[], depth: number): boolean {
  const name = parts[home.length];
  if (name === undefined || home.length < depth || !home.every((part, index) => parts[index] === part)) {
    return false;
  }
  return name.startsWith(".") || HOME_NAMES.has(name);
}
