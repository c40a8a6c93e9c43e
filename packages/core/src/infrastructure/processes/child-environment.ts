import type { Environment } from "../environment.ts";
import { cleanPath } from "./executables.ts";

/**
 * What commands get of our own environment. Names are listed, never filtered: whatever is not here stays away, be it
 * `ANTHROPIC_API_KEY`, `DATABASE_URL` or a token under a name that nobody thought of. `SSH_AUTH_SOCK` is left out
 * because it lets a command sign with the user's keys; `BASH_ENV`, `NODE_OPTIONS` and `LD_PRELOAD` because they run code.
 */
const INHERITED: readonly string[] = [
  ...["HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "HOSTNAME"],
  ...[
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_ADDRESS",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
  ],
  ...["LC_MESSAGES", "LC_MONETARY", "LC_NAME", "LC_NUMERIC", "LC_PAPER", "LC_TELEPHONE", "LC_TIME"],
  ...["XDG_CACHE_HOME", "XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_DIRS", "XDG_DATA_HOME"],
  ...["XDG_RUNTIME_DIR", "XDG_STATE_HOME"],
  ...[
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
  ],
  ...["SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"],
  ...["GIT_SSL_CAINFO"],
  // Where toolchains live: directories, without which `cargo`, `pyenv` or `go` are not the user's own.
  ...["ANDROID_HOME", "CARGO_HOME", "CONDA_PREFIX", "GOPATH", "GOROOT", "JAVA_HOME", "NVM_DIR", "PNPM_HOME"],
  ...["PYENV_ROOT", "RBENV_ROOT", "RUSTUP_HOME", "SDKMAN_DIR", "VIRTUAL_ENV", "VOLTA_HOME"],
  // By this a diligent that runs this one finds our children too.
  "DILIGENT_PROCESS",
];

/** Nobody sits in front of a command: whatever would open an editor, a pager or a question fails or passes at once. */
const UNATTENDED: Readonly<Record<string, string>> = {
  AI_AGENT: "diligent",
  TERM: "dumb",
  PAGER: "cat",
  GIT_PAGER: "cat",
  MANPAGER: "cat",
  EDITOR: "false",
  VISUAL: "false",
  GIT_EDITOR: "false",
  GIT_SEQUENCE_EDITOR: "false",
  GIT_TERMINAL_PROMPT: "0",
  GIT_ASKPASS: "false",
  SSH_ASKPASS: "false",
  SSH_ASKPASS_REQUIRE: "force",
  GCM_INTERACTIVE: "never",
  DEBIAN_FRONTEND: "noninteractive",
};

/** Whose variables a child gets, and what of them it may see beside the usual. */
export interface ChildEnvironmentOptions {
  environment: Environment;
  /** Names of further variables that the user lets commands have. */
  inheritEnvironment?: readonly string[] | undefined;
  sessionId: string;
  /** Both real; see `cleanPath`. */
  root: string;
  cwd: string;
}

/** What any child of ours may have of an environment, and what of it is listed by name beside that. */
export function inheritEnvironment(
  environment: Environment,
  more: readonly string[] = [],
): Record<string, string> {
  const inherited: Record<string, string> = {};
  for (const name of [...INHERITED, ...more]) {
    const value = environment[name];
    if (value !== undefined) inherited[name] = value;
  }
  return inherited;
}

/** The environment of a child process: an allow-listed part of ours, never with a key, and what marks it as unattended. */
export function createChildEnvironment(options: ChildEnvironmentOptions): Record<string, string> {
  const { environment, sessionId } = options;
  return {
    ...inheritEnvironment(environment, options.inheritEnvironment),
    PATH: cleanPath(environment.PATH, options),
    ...UNATTENDED,
    DILIGENT_SESSION_ID: sessionId,
  };
}
