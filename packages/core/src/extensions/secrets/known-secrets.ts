import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { locateFile, readHead, readSmallText } from "../../infrastructure/fs/read.ts";
import { isExampleName } from "../../infrastructure/paths/example-names.ts";
import { type Environment, homeDirectory } from "../../infrastructure/runtime.ts";
import { isPassword, isRandom } from "./entropy.ts";
import { findSecrets } from "./find-secrets.ts";

/** Files of the home directory that hold keys and passwords of other programs. */
const HOME_FILES: readonly string[] = [
  ...[
    ".env",
    ".netrc",
    "_netrc",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".git-credentials",
    ".pgpass",
    ".my.cnf",
  ],
  ...[".aws/credentials", ".aws/config", ".config/gh/hosts.yml", ".config/glab-cli/config.yml"],
  ...[".config/git/credentials", ".docker/config.json", ".kube/config", ".cargo/credentials.toml"],
  ...[".cargo/credentials", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties"],
  ...[".terraformrc", ".terraform.d/credentials.tfrc.json", ".vault-token", ".s3cfg", ".boto", ".dockercfg"],
  ...[".config/gcloud/application_default_credentials.json", ".azure/accessTokens.json"],
  ...[".cache/huggingface/token", ".huggingface/token", ".config/openai/auth.json", ".codex/auth.json"],
  ...[".claude/.credentials.json", ".config/hub", ".config/doctl/config.yaml", ".fly/config.yml"],
];

/** Names of such files in the root of a project. */
const PROJECT_FILE =
  /^(?:\.env.*|.*\.env|\.npmrc|\.yarnrc\.yml|\.netrc|\.pypirc|\.envrc|\.dev\.vars|credentials\.json|service[-_]account.*\.json|secrets\.(?:json|ya?ml|toml|properties)|.*\.tfvars|master\.key|local\.settings\.json)$/i;
const MAX_PROJECT_FILES = 100;
const MAX_FILE_BYTES = 2 * 1024 * 1024;

/**
 * The secrets in the known files of a home directory and of the root of a project. What cannot be read holds none.
 * @param warn called with a sentence for the user for a file of which only the beginning is read.
 */
export function readKnownSecrets(
  root: string,
  environment: Environment,
  warn?: (message: string) => void,
): string[] {
  const home = homeDirectory(environment);
  const ofHome = home === undefined ? [] : HOME_FILES.map((name) => join(home, name));
  // Almost all are missing, and an exception for each takes longer.
  const paths = [...new Set([...ofHome, ...findProjectFiles(root)])].filter((path) => existsSync(path));
  return [...new Set(paths.flatMap((path) => findValues(readText(path, warn))))];
}

function findProjectFiles(root: string): string[] {
  try {
    const names = readdirSync(root).filter((name) => PROJECT_FILE.test(name) && !isExampleName(name));
    return names.slice(0, MAX_PROJECT_FILES).map((name) => join(root, name));
  } catch {
    return [];
  }
}

function readText(path: string, warn?: (message: string) => void): string {
  try {
    const { realPath } = locateFile(path);
    return readSmallText(realPath, MAX_FILE_BYTES) ?? readBeginning(path, realPath, warn);
  } catch {
    return ""; // A dangling link, or a directory that cannot be entered.
  }
}

function readBeginning(path: string, realPath: string, warn?: (message: string) => void): string {
  const bytes = readHead(realPath, MAX_FILE_BYTES);
  if (bytes.length < MAX_FILE_BYTES) return "";
  const megabytes = MAX_FILE_BYTES / 1024 / 1024;
  warn?.(
    `${path} is larger than ${megabytes} MB: values after that are masked only if their form shows them.`,
  );
  return new TextDecoder().decode(bytes);
}

// What a setting in such a file may be called, and its value: `NAME=value`, `name: value`, `"name": "value"`.
const SETTING =
  /^[ \t]*(?:export[ \t]+|-[ \t]+)?["']?([\w./:@-]{1,200})["']?[ \t]*[=:][ \t]*(?:"([^"\n]{0,4096})"|'([^'\n]{0,4096})'|([^\n#]{0,4096}))/gm;
const NETRC_PASSWORD = /\bpassword[ \t]+(\S{6,})/g;
const PASSWORD_NAME = /pass|pwd|secret|token|auth|key|credential/i;

/** Everything that looks like a secret, wherever it stands in such a file. */
function findValues(text: string): string[] {
  const found = findSecrets(text).map(({ start, end }) => text.slice(start, end));
  const settings = [...text.matchAll(SETTING)].flatMap(([, name = "", double, single, bare]) => {
    const value = (double ?? single ?? bare ?? "").trim().replace(/,$/, "");
    const isSecret = PASSWORD_NAME.test(name) ? isPassword(value) || isRandom(value) : isRandom(value);
    return isSecret ? [value] : [];
  });
  const passwords = [...text.matchAll(NETRC_PASSWORD)].map(([, password = ""]) => password);
  const whole = /^[\w.+/~-]{16,4096}\s*$/.test(text) && isRandom(text.trim()) ? [text.trim()] : [];
  return [...found, ...settings, ...passwords.filter(isPassword), ...whole];
}
