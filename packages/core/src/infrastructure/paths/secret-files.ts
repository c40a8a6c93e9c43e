import { splitPath } from "../fs/real-path.ts";
import { foldName } from "../text/unicode.ts";

/**
 * Files that hold keys or passwords, by name alone: what a program would have to read to know is what is to be
 * protected. The names are those that OpenSSH, OpenSSL, Java, cloud tools, package managers and databases document.
 * In lower case; `*` is anything within a name.
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
const SECRET_PLACES: readonly (readonly string[])[] = [
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

/** Directories of which everything is secret, in lower case. */
const SECRET_DIRECTORIES: readonly (readonly string[])[] = [
  [".ssh"],
  [".gnupg"],
  [".aws", "sso"],
  [".aws", "cli"],
  [".azure"],
  [".config", "gcloud"],
  [".password-store"],
  // Our own keys, and what was said and allowed in other projects.
  [".config", "diligent"],
  [".local", "state", "diligent"],
];

// Public halves and certificates, which are made to be handed on.
const PUBLIC_NAMES = /\.(?:pub|crt|cer|csr)$/;

const NAME_PATTERN = new RegExp(
  `^(?:${SECRET_NAMES.map((name) => name.replaceAll(".", "\\.").replaceAll("*", ".*")).join("|")})$`,
  "s",
);

/** True for a path that holds keys or passwords by its name, whether it exists or not, in any case and Unicode form. */
export function isSecretFile(path: string): boolean {
  const parts = splitPath(path).map(foldName);
  const name = parts.at(-1) ?? "";
  if (PUBLIC_NAMES.test(name) && !name.startsWith(".env")) return false;
  return (
    NAME_PATTERN.test(name) ||
    SECRET_PLACES.some((place) => place.every((part, index) => parts.at(index - place.length) === part)) ||
    SECRET_DIRECTORIES.some((directory) => containsSequence(parts, directory))
  );
}

function containsSequence(parts: readonly string[], sequence: readonly string[]): boolean {
  return parts.some((_, start) => sequence.every((part, offset) => parts[start + offset] === part));
}

/** What the names above mean in a home directory, from there: places of which everything, or one file, is secret. */
export const SECRET_HOME_PLACES: readonly string[] = [...SECRET_DIRECTORIES, ...SECRET_PLACES].map((place) =>
  place.join("/"),
);

/**
 * The same files as globs in the manner of .gitignore, for a search over a directory that leaves them out: as
 * `--iglob=!GLOB` after every other glob, since ripgrep lets the last one count.
 */
export const SECRET_FILE_GLOBS: readonly string[] = [
  ...SECRET_NAMES,
  ...SECRET_PLACES.map((place) => `**/${place.join("/")}`),
  ...SECRET_DIRECTORIES.map((directory) => `**/${directory.join("/")}/**`),
];
