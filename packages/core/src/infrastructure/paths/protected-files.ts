import { splitPath } from "../fs/real-path.ts";
import { foldName } from "../text/unicode.ts";
import { isExampleName } from "./example-names.ts";

/** Consecutive components of a path, in lower case. */
type Location = readonly string[];

function below(directories: readonly string[], ...names: readonly string[]): Location[] {
  return directories.flatMap((directory) => names.map((name) => [directory, name]));
}

/** A row of the table of protected paths. */
interface ProtectedGroup {
  /**
   * These count anywhere in a project, in lower case; `*` matches anything within a name. Examples of settings
   * (`.env.example`) do not count.
   */
  names: readonly string[];
  /** Consecutive components of a path, ending in a file, or in a directory whose contents all count. */
  locations?: readonly Location[];
  /** Only where nothing reads it before a person has pushed or started something: what its content does then, a clause. */
  usedLater?: string;
}

/**
 * The files that need approval before they are written: their content runs programs, instructs agents or holds secrets.
 * `security.md` gives the reason for each row.
 */
const PROTECTED: readonly ProtectedGroup[] = [
  { names: [".git"] },
  { names: [".diligent", "diligent.jsonc", "diligent.json"] },
  { names: ["agents.md", "claude.md"] },
  {
    names: [".mcp.json"],
    locations: below([".claude"], "settings.json", "settings.local.json", "hooks"),
  },
  {
    names: [
      ...[".husky", ".githooks", ".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.yml"],
      ...["lefthook.yaml", ".lefthook.yml", ".lefthook.yaml", "lefthook-local.yml", "lefthook-local.yaml"],
      ".lefthook",
    ],
  },
  { names: [".vscode", ".idea"] },
  { names: [".envrc"] },
  {
    names: [
      ...[".profile", ".login", ".logout", ".bashrc", ".bash_profile", ".bash_login", ".bash_logout"],
      ...[".bash_aliases", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc"],
      ...[".cshrc", ".tcshrc"],
    ],
    locations: [
      [".config", "fish"],
      [".config", "zsh"],
    ],
  },
  {
    names: [
      ...[".circleci", ".buildkite", ".woodpecker", ".woodpecker.yml", ".woodpecker.yaml", ".gitlab-ci.yml"],
      ...[".gitlab-ci.yaml", ".travis.yml", ".drone.yml", ".drone.yaml", ".cirrus.yml", "jenkinsfile"],
      ...["azure-pipelines*.yml", "azure-pipelines*.yaml", "bitbucket-pipelines.yml", "appveyor.yml"],
    ],
    locations: [...below([".github", ".forgejo", ".gitea"], "workflows", "actions"), [".gitlab", "ci"]],
    usedLater: "it is run once it is pushed",
  },
  { names: [".env", ".env.*"], usedLater: "programs take settings from it when they are started" },
  { names: [".npmrc"] },
];

/**
 * Further files that a program obeys by itself, whatever it is called for in their directory: other version control,
 * package and version managers, interpreters, debuggers, editors, agents, and the start files of sessions. A file tool
 * may write them in a project, where their content is seen. In the sandbox, where a command may write files that nobody
 * sees, they are protected, and so are they in a home directory.
 */
const SELF_RUNNING: readonly ProtectedGroup[] = [
  {
    names: [
      ...[".hg", ".svn", ".jj", ".bzr", ".gitattributes", ".gitmodules", ".lfsconfig", ".gitconfig"],
      ...[".gitconfig-*", ".gitconfig.*", ".hgrc", ".huskyrc*", ".pre-commit-hooks.yaml", ".overcommit.yml"],
      ...["lefthook.*", ".lefthook.*", "lefthook-local.*", ".lefthook-local.*", ".lefthook-local"],
    ],
  },
  {
    names: [
      ...[".claude", ".claude.json", ".agents", ".agent", ".codex", ".gemini", ".qwen", ".opencode"],
      ...["opencode.json", "opencode.jsonc", ".crush", "crush.json", ".crush.json", ".pi", ".goose", ".amp"],
      ...[".amazonq", ".kiro", ".cursor", ".windsurf", ".cline", ".roo", ".kilocode", ".continue", ".junie"],
      ...[
        ".augment",
        ".trae",
        ".aider.conf.yml",
        "mcp.json",
        ".copilot",
        ".openhands*",
        ".factory",
        ".qoder",
      ],
    ],
    locations: below([".github"], "hooks"),
  },
  {
    names: [
      ...["*.code-workspace", ".zed", ".vs", ".fleet", ".nova", ".devcontainer", ".devcontainer.json"],
      ...[".gitpod.yml", ".gitpod.yaml", ".gitpod.dockerfile", ".replit", ".idx", "*.sublime-project"],
      ...["*.sublime-workspace", ".vimrc", "_vimrc", ".gvimrc", ".exrc", ".nvimrc", ".nexrc", ".vimrc.local"],
      ...[".nvim.lua", ".lvimrc", ".vim", ".nvim", ".ideavimrc", ".emacs", ".emacs.d", ".dir-locals*.el"],
      ...[".spacemacs", ".kakrc", ".helix", ".nanorc"],
    ],
  },
  {
    names: [
      ...["bunfig.toml", ".bunfig.toml", ".yarnrc", ".yarnrc.yml", ".yarnrc.yaml", ".yarn", ".pnpmfile.cjs"],
      ...[".pnpmfile.mjs", ".pnpmfile.js", "pnpmfile.js", ".pnp.cjs", ".pnp.loader.mjs", "mise*.toml"],
      ...[".mise*.toml", ".mise", ".rtx.toml", ".volta", ".direnvrc", ".envrc*", ".bundle", ".mvn"],
      ...["sitecustomize.py", "usercustomize.py", ".pdbrc", ".pdbrc.py", ".gdbinit", ".gdbearlyinit"],
      ...[".lldbinit", "rust-toolchain", "rust-toolchain.toml", ".rprofile", ".renviron", ".irbrc", ".pryrc"],
      ...[".rdbgrc*", ".byebugrc", ".psqlrc", ".sqliterc", ".octaverc", ".ghci", ".curlrc", "_curlrc"],
      ...[".wgetrc", ".jq", ".magic", ".gemrc", ".pythonrc*", ".condarc", ".bazelrc"],
    ],
    locations: below([".cargo"], "config", "config.toml"),
  },
  {
    names: [
      ...[".ssh", ".gnupg", ".rhosts", ".shosts", ".forward", ".bash_completion", ".zsh_logout", ".xprofile"],
      ...[".inputrc", ".dircolors", ".lesskey", ".lessfilter", ".selected_editor", ".xinitrc", ".xserverrc"],
      ...[".xsession", ".xsessionrc", ".xsessions", ".xresources", ".xdefaults", ".pam_environment"],
      ...[".tmux.conf", ".screenrc", ".wezterm.lua", ".procmailrc", ".mailcap"],
    ],
    locations: [
      ...below(
        [".config"],
        ...[
          "autostart",
          "systemd",
          "environment.d",
          "git",
          "diligent",
          "mise",
          "nvim",
          "emacs",
          "helix",
          "zed",
        ],
        ...["direnv", "tmux", "kitty", "alacritty", "wezterm", "i3", "sway", "hypr", "awesome", "bspwm"],
        ...["sxhkd", "openbox", "pip", "npm", "opencode", "crush", "goose", "github-copilot", "xonsh"],
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
    ],
  },
  // Commands may not read these, whatever follows the name.
  { names: [".env*"], usedLater: "programs take settings from it when they are started" },
];

/** The names and locations of some groups, ready for comparison. */
class PathTable {
  private readonly pattern: RegExp;
  readonly locations: readonly Location[];
  private readonly knownNames = new Map<string, boolean>();

  constructor(groups: readonly ProtectedGroup[]) {
    this.pattern = toPattern(groups.flatMap(({ names }) => names));
    this.locations = groups.flatMap(({ locations = [] }) => locations);
  }

  /** @param name folded; the last component of a path or one above it. */
  hasName(name: string): boolean {
    const known = this.knownNames.get(name);
    if (known !== undefined) return known;
    if (this.knownNames.size >= MAX_KNOWN_NAMES) this.knownNames.clear();
    const isMatch = this.pattern.test(name) && !isExampleName(name);
    this.knownNames.set(name, isMatch);
    return isMatch;
  }

  /** True for folded components of which one below the first `depth` is in the table, or the end of a location is. */
  holds(parts: readonly string[], depth: number): boolean {
    if (parts.some((name, index) => index >= depth && this.hasName(name))) return true;
    return this.locations.some((location) => holdsLocation(parts, location, depth));
  }
}

const MAX_KNOWN_NAMES = 10_000;

function toPattern(names: readonly string[]): RegExp {
  const pattern = names.map((name) => name.replaceAll(".", "\\.").replaceAll("*", ".*")).join("|");
  return new RegExp(`^(?:${pattern})$`, "s");
}

/** True when the location ends below the first `depth` components. */
function holdsLocation(parts: readonly string[], location: Location, depth: number): boolean {
  return parts.some(
    (_, start) =>
      start + location.length > depth && location.every((part, offset) => parts[start + offset] === part),
  );
}

const PROTECTED_TABLE = new PathTable(PROTECTED);
const SELF_RUNNING_TABLE = new PathTable(SELF_RUNNING);
const SANDBOX_GROUPS: readonly ProtectedGroup[] = [...PROTECTED, ...SELF_RUNNING];
const SANDBOX_TABLE = new PathTable(SANDBOX_GROUPS);

/** In a home directory, in addition to all names that begin with a dot: programs on the PATH and settings. */
const HOME_NAMES: ReadonlySet<string> = new Set(["bin", "library"]);

/** The project that determines the kind of a path. */
export interface ProtectedFileView {
  /** The project that contains the path. The name of this directory itself does not count. */
  root?: string | undefined;
  home?: string | undefined;
}

/**
 * `listed`: its name, or that of a directory above it, is protected anywhere, or a program obeys it in a home directory.
 * `home`: it is one of the other settings in a home directory, whatever program reads them.
 */
export type ProtectedKind = "listed" | "home";

/**
 * The kind of an absolute path whose content runs programs, instructs agents or holds secrets, so that writing it needs
 * approval even inside the project. Names count at any depth, since a project can contain other repositories, and in any
 * case and Unicode form, since some file systems treat `.GIT` and `.g\u200cit` as `.git`.
 */
export function findProtectedKind(
  path: string,
  { root, home }: ProtectedFileView,
): ProtectedKind | undefined {
  const parts = splitPath(path).map(foldName);
  const depth = root === undefined ? 0 : splitPath(root).length;
  if (PROTECTED_TABLE.holds(parts, depth)) return "listed";
  const homeParts = home === undefined ? undefined : splitPath(home).map(foldName);
  if (homeParts === undefined || !isHomeSetting(parts, homeParts)) return undefined;
  if (SELF_RUNNING_TABLE.holds(parts, depth)) return "listed";
  return homeParts.length >= depth ? "home" : undefined;
}

/** What git runs and obeys in a repository; below `.git` at any depth, for submodules and worktrees. */
const GIT_SETTINGS: ReadonlySet<string> = new Set(["hooks", "config", "config.worktree"]);

/**
 * True for the protected files that no rule opens: git's hooks and settings, which run programs with the next git
 * command, and diligent's own directory. `path` is absolute.
 */
export function isBeyondRules(path: string, root: string | undefined): boolean {
  return holdsSetting(path, root, GIT_SETTINGS);
}

/** What commands may not write in the mode `auto` either: git's settings are open there, for `git config` and the like. */
export function isBeyondAuto(path: string, root: string | undefined): boolean {
  return holdsSetting(path, root, HOOKS);
}

const HOOKS: ReadonlySet<string> = new Set(["hooks"]);

function holdsSetting(path: string, root: string | undefined, settings: ReadonlySet<string>): boolean {
  const depth = root === undefined ? 0 : splitPath(root).length;
  const parts = splitPath(path).map(foldName).slice(depth);
  const at = parts.indexOf(".git");
  return parts.includes(".diligent") || (at >= 0 && parts.slice(at).some((name) => settings.has(name)));
}

/** True for a path inside `root` that sandboxed commands may not write, by its name and location. */
export function isProtectedFromCommands(path: string, root: string): boolean {
  return SANDBOX_TABLE.holds(splitPath(path).map(foldName), splitPath(root).length);
}

function isHomeSetting(parts: readonly string[], home: readonly string[]): boolean {
  const name = parts[home.length];
  if (name === undefined || !home.every((part, index) => parts[index] === part)) return false;
  return name.startsWith(".") || HOME_NAMES.has(name);
}

/** The last components of the locations: an entry with another name is in none of them. */
const LOCATION_ENDS: ReadonlySet<string> = new Set(
  SANDBOX_TABLE.locations.map((location) => location.at(-1) ?? ""),
);

/**
 * True for an entry that sandboxed commands may not create or change, in a directory that is `root` or inside it and
 * whose own contents are not all protected: fast enough for thousands of entries.
 */
export function isProtectedEntry(directory: string, name: string, root: string): boolean {
  const folded = foldName(name);
  if (SANDBOX_TABLE.hasName(folded)) return true;
  if (!LOCATION_ENDS.has(folded)) return false;
  return SANDBOX_TABLE.holds(splitPath(`${directory}/${name}`).map(foldName), splitPath(root).length);
}

/** Hidden locations: links with such names are created for the programs that read them. */
const HIDDEN_LOCATIONS = SANDBOX_TABLE.locations.filter(([top = ""]) => top.startsWith("."));
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
  const found = SANDBOX_GROUPS.filter((group) => new PathTable([group]).holds(parts, depth));
  return found.every(({ usedLater }) => usedLater !== undefined) ? found[0]?.usedLater : undefined;
}

/** Changes with the list: a file may be protected now that an earlier version did not protect. */
export function protectedListStamp(): string {
  return Bun.hash(JSON.stringify(SANDBOX_GROUPS)).toString(36);
}
