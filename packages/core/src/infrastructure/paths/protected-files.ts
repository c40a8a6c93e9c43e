import { splitPath } from "../fs/real-path.ts";
import { foldName } from "../text/unicode.ts";

/**
 * Files and directories whose content runs, or steers an agent or editor, by itself: when a directory is opened, a shell
 * or a session is started, something is committed or pushed. Not what a person builds with on purpose, such as
 * `package.json` or a Makefile. From the manuals of the programs; in lower case; `*` is anything within a name.
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

const EDITORS: readonly string[] = [
  ...[".vscode", "*.code-workspace", ".idea", ".zed", ".vs", ".fleet", ".nova", ".devcontainer"],
  ...[".devcontainer.json", ".gitpod.yml", ".gitpod.yaml", ".gitpod.dockerfile", ".replit", ".idx"],
  ...[
    "*.sublime-project",
    "*.sublime-workspace",
    ".vimrc",
    "_vimrc",
    ".gvimrc",
    ".exrc",
    ".nvimrc",
    ".nexrc",
  ],
  ...[
    ".vimrc.local",
    ".nvim.lua",
    ".lvimrc",
    ".vim",
    ".nvim",
    ".ideavimrc",
    ".emacs",
    ".emacs.d",
    ".dir-locals*.el",
  ],
  ...[".spacemacs", ".kakrc", ".helix", ".nanorc"],
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

/** Read by a package manager, version manager, interpreter or debugger whenever it starts here. */
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
  ...[".ssh", ".gnupg", ".env*", ".profile", ".login", ".logout", ".rhosts", ".shosts", ".forward"],
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

/** All of the lists above: they count wherever in a project the name stands. */
const CONTROL_NAMES: readonly string[] = [
  ...VERSION_CONTROL,
  ...AGENTS,
  ...EDITORS,
  ...CONTINUOUS_INTEGRATION,
  ...TOOLS,
  ...SHELLS_AND_SESSIONS,
];

/** Successive components of a path; a file at the end, or a directory of which everything counts. */
const CONTROL_PLACES: readonly (readonly string[])[] = [
  ...["workflows", "actions", "instructions", "prompts", "chatmodes", "agents", "hooks", "skills"].map(
    (name) => [".github", name],
  ),
  ...[".forgejo", ".gitea"].flatMap((name) => [
    [name, "workflows"],
    [name, "actions"],
  ]),
  [".gitlab", "ci"],
  [".gitlab", "duo"],
  [".cargo", "config"],
  [".cargo", "config.toml"],
  // What sessions and programs start with, in a home directory and in repositories that are put there.
  ...[
    ...["autostart", "systemd", "environment.d", "git", "fish", "diligent", "mise", "nvim", "emacs", "zsh"],
    ...["helix", "zed", "direnv", "tmux", "kitty", "alacritty", "wezterm", "i3", "sway", "hypr", "awesome"],
    ...["bspwm", "sxhkd", "openbox", "pip", "npm", "opencode", "crush", "goose", "github-copilot", "xonsh"],
    ...["nushell", "ipython", "user-tmpfiles.d", "plasma-workspace", "mimeapps.list"],
  ].map((name) => [".config", name]),
  [".local", "bin"],
  [".local", "state", "diligent"],
  ...["systemd", "applications", "dbus-1", "nautilus", "gnome-shell"].map((name) => [
    ".local",
    "share",
    name,
  ]),
  ["library", "launchagents"],
];

/** In a home directory, beside everything that begins with a dot: programs on the PATH and settings. */
const HOME_NAMES: ReadonlySet<string> = new Set(["bin", "library"]);

/** Where a path is looked at from; absolute. */
export interface ProtectedFileView {
  /** The project that the path lies in. What this directory itself is called says nothing about a file in it. */
  root?: string | undefined;
  home?: string | undefined;
}

/**
 * `listed`: its name, or that of a directory it lies in, is known to decide what other programs do. `home`: it is one of
 * the settings that lie in a home directory, whatever reads them.
 */
export type ProtectedKind = "listed" | "home";

/**
 * Says of an absolute path whether its content decides what other programs do later: writing it needs a person's consent
 * even inside the project. Names count at any depth, since a project can hold other repositories, and in any case and
 * Unicode form, since some file systems take `.GIT` and `.g\u200cit` for `.git`.
 */
export function findProtectedKind(
  path: string,
  { root, home }: ProtectedFileView,
): ProtectedKind | undefined {
  const parts = splitPath(path).map(foldName);
  const depth = root === undefined ? 0 : splitPath(root).length;
  if (parts.some((name, index) => index >= depth && isProtectedName(name))) return "listed";
  if (CONTROL_PLACES.some((place) => holdsLocation(parts, place, depth))) return "listed";
  return home !== undefined && isHomeSetting(parts, splitPath(home).map(foldName), depth)
    ? "home"
    : undefined;
}

/** The last components of the places: what bears another name is in none of them. */
const PLACE_ENDS: ReadonlySet<string> = new Set(CONTROL_PLACES.map((place) => place.at(-1) ?? ""));

/**
 * `findProtectedKind` for an entry of a directory that is itself no control file and lies in `root`, or is it: for a look at
 * thousands. Settings of a home directory do not count.
 */
export function isProtectedEntry(directory: string, name: string, root: string): boolean {
  const folded = foldName(name);
  if (isProtectedName(folded)) return true;
  return PLACE_ENDS.has(folded) && findProtectedKind(`${directory}/${name}`, { root }) !== undefined;
}

/** Beginnings of the places that are hidden: links with such names are made for the programs that look there. */
const HIDDEN_PLACES = CONTROL_PLACES.filter(([top = ""]) => top.startsWith("."));
const PLACE_PARENTS: ReadonlySet<string> = new Set(HIDDEN_PLACES.flatMap((place) => place.slice(0, -1)));

/**
 * For a link, what would decide what other programs do below it: paths from where it leads. None for most. A name without a
 * dot (`library`) is any directory's, and has none.
 */
export function findLocationsBehind(link: string, root: string): string[] {
  const name = foldName(link.slice(link.lastIndexOf("/") + 1));
  if (!PLACE_PARENTS.has(name)) return [];
  const parts = splitPath(link).map(foldName).slice(splitPath(root).length);
  return HIDDEN_PLACES.flatMap((place) =>
    place.flatMap((_, index) => {
      const isHere = index > 0 && place.slice(0, index).every((part, at) => parts.at(at - index) === part);
      return isHere ? [place.slice(index).join("/")] : [];
    }),
  );
}

const NAME_PATTERN = new RegExp(
  `^(?:${CONTROL_NAMES.map((name) => name.replaceAll(".", "\\.").replaceAll("*", ".*")).join("|")})$`,
  "s",
);

/** Changes with the list: what was no control file to an earlier version may be one now. */
export function protectedListStamp(): string {
  return Bun.hash(JSON.stringify([CONTROL_NAMES, CONTROL_PLACES])).toString(36);
}

const knownNames = new Map<string, boolean>();
const MAX_KNOWN_NAMES = 10_000;

function isProtectedName(name: string): boolean {
  const known = knownNames.get(name);
  if (known !== undefined) return known;
  if (knownNames.size >= MAX_KNOWN_NAMES) knownNames.clear();
  const isControl = NAME_PATTERN.test(name);
  knownNames.set(name, isControl);
  return isControl;
}

/** True when the place ends below the first `depth` components. */
function holdsLocation(parts: readonly string[], place: readonly string[], depth: number): boolean {
  return parts.some(
    (_, start) =>
      start + place.length > depth && place.every((part, offset) => parts[start + offset] === part),
  );
}

function isHomeSetting(parts: readonly string[], home: readonly string[], depth: number): boolean {
  const name = parts[home.length];
  if (name === undefined || home.length < depth || !home.every((part, index) => parts[index] === part)) {
    return false;
  }
  return name.startsWith(".") || HOME_NAMES.has(name);
}
