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
export const CONTROL_NAMES: readonly string[] = [
  ...VERSION_CONTROL,
  ...AGENTS,
  ...EDITORS,
  ...CONTINUOUS_INTEGRATION,
  ...TOOLS,
  ...SHELLS_AND_SESSIONS,
];

/** Successive components of a path; a file at the end, or a directory of which everything counts. */
export const CONTROL_PLACES: readonly (readonly string[])[] = [
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
export const HOME_NAMES: ReadonlySet<string> = new Set(["bin", "library"]);
