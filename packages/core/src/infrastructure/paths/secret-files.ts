import { splitPath } from "../fs/real-path.ts";
import { foldName } from "../text/unicode.ts";
import { isExampleName } from "./example-names.ts";

/**
 * Files that contain keys or passwords, recognized by name alone, since reading them is what must be prevented. The
 * names are documented by OpenSSH, OpenSSL, Java, cloud tools, package managers and databases. In lower case; `*`
 * matches anything within a name. Examples (`.env.example`) are excluded.
 */
const SECRET_NAMES: readonly string[] = [
  ...[".env*", "*.env"],
  ...["id_rsa", "id_dsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk", "id_xmss"],
  ...[
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.p8",
    "*.pk8",
    "*.ppk",
    "*.jks",
    "*.jceks",
    "*.keystore",
    "*.bcfks",
  ],
  ...["*.kdbx", "*.gpg", "*.age", "*.ovpn", "*.tfvars", "*.tfvars.json", "*.tfstate", "*.tfstate.backup"],
  ...[".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".pgpass", ".my.cnf"],
  ...[".htpasswd", ".dockercfg", ".s3cfg", ".boto", ".vault-token", ".terraformrc", "terraform.rc"],
  ...[
    "credentials.json",
    "service-account*.json",
    "service_account*.json",
    "application_default_credentials.json",
  ],
  ...["master.key", "kubeconfig", "*.kubeconfig", ".bash_history", ".zsh_history", ".psql_history"],
];

/** The last components of a path, in lower case. */
const SECRET_LOCATIONS: readonly (readonly string[])[] = [
  [".aws", "credentials"],
  [".aws", "config"],
  [".kube", "config"],
  [".docker", "config.json"],
  [".config", "gh", "hosts.yml"],
  [".config", "git", "credentials"],
  [".cargo", "credentials"],
  [".cargo", "credentials.toml"],
  [".gem", "credentials"],
  [".m2", "settings.xml"],
  [".gradle", "gradle.properties"],
];

/** Directories whose contents are all secret, in lower case. */
const SECRET_DIRECTORIES: readonly (readonly string[])[] = [
  [".ssh"],
  [".gnupg"],
  [".aws", "sso"],
  [".aws", "cli"],
  [".azure"],
  [".config", "gcloud"],
  [".password-store"],
  // Diligent's own keys, and the conversations and grants of other projects.
  [".config", "diligent"],
  [".local", "state", "diligent"],
];

// Public keys and certificates, which are meant to be shared.
const PUBLIC_NAMES = /\.(?:pub|crt|cer|csr)$/;

const NAME_PATTERN = new RegExp(
  `^(?:${SECRET_NAMES.map((name) => name.replaceAll(".", "\\.").replaceAll("*", ".*")).join("|")})$`,
  "s",
);

/** True for a path whose name suggests keys or passwords, whether it exists or not, in any case and Unicode form. */
export function isSecretFile(path: string): boolean {
  const parts = splitPath(path);
  return toSecretCheck(parts.slice(0, -1))(parts.at(-1) ?? "");
}

/** `isSecretFile` for the names in a directory, fast enough for thousands of them. */
export function createSecretCheck(directory: string): (name: string) => boolean {
  return toSecretCheck(splitPath(directory));
}

const SECRET_ENDINGS = [...SECRET_LOCATIONS, ...SECRET_DIRECTORIES];
const SECRET_ENDING_NAMES: ReadonlySet<string | undefined> = new Set(
  SECRET_ENDINGS.map((parts) => parts.at(-1)),
);

function toSecretCheck(directory: readonly string[]): (name: string) => boolean {
  const around = directory.map(foldName);
  const isAllSecret = SECRET_DIRECTORIES.some((sequence) => containsSequence(around, sequence));
  return (written) => {
    const name = foldName(written);
    if (PUBLIC_NAMES.test(name) && !name.startsWith(".env")) return false;
    if (isAllSecret || (NAME_PATTERN.test(name) && !isExampleName(name))) return true;
    if (!SECRET_ENDING_NAMES.has(name)) return false;
    const parts = [...around, name];
    return SECRET_ENDINGS.some((ending) =>
      ending.every((part, index) => parts.at(index - ending.length) === part),
    );
  };
}

function containsSequence(parts: readonly string[], sequence: readonly string[]): boolean {
  return parts.some((_, start) => sequence.every((part, offset) => parts[start + offset] === part));
}

/** The same locations relative to a home directory. */
export const SECRET_HOME_LOCATIONS: readonly string[] = [...SECRET_DIRECTORIES, ...SECRET_LOCATIONS].map(
  (location) => location.join("/"),
);

/**
 * The same files as .gitignore globs, for searches that exclude them: as `--iglob=!GLOB` after every other glob, since
 * in ripgrep the last one applies. No glob matches `.env.*` without its examples: `isSecretFile` finds these files.
 */
export const SECRET_FILE_GLOBS: readonly string[] = [
  ...SECRET_NAMES.flatMap((name) => (name === ".env*" ? [".env", ".env[!.]*"] : [name])),
  ...SECRET_LOCATIONS.map((location) => `**/${location.join("/")}`),
  ...SECRET_DIRECTORIES.map((directory) => `**/${directory.join("/")}/**`),
];
