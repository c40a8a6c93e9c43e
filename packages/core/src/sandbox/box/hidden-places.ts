import { accessSync, constants, readdirSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { type Environment, homeDirectory, processAccount } from "../../infrastructure/environment.ts";
import { isSecretFile, SECRET_HOME_PLACES } from "../../infrastructure/places/secret-files.ts";
import { userConfigDirectory, userStateDirectory } from "../../infrastructure/places/user-directories.ts";
import { isReachable } from "./reachable-place.ts";

/** Further places in a home directory where programs keep what lets somebody in, or what was said elsewhere. */
const HOME_PLACES: readonly string[] = [
  ...SECRET_HOME_PLACES,
  // Whole, so that what comes about in them later is hidden as well.
  ...[".aws", ".docker", ".kube", ".oci", ".aliyun", ".fly", ".netlify", ".vercel", ".terraform.d"],
  ...[".1password", ".mozilla", ".librewolf", ".thunderbird", ".claude", ".claude.json", ".codex", ".gemini"],
  ...[".local/share/keyrings", ".local/share/kwalletd", ".local/share/opencode", ".yarnrc.yml"],
  ...[".databrickscfg", ".Xauthority", ".ICEauthority", ".python_history", ".node_repl_history"],
  // Keys of services, of packages and of models; and what was typed.
  ...[".pulumi/credentials.json", ".sbt/.credentials", ".ivy2/.credentials", ".composer/auth.json"],
  ...[".sentryclirc", ".circleci", ".cloudflared", ".wrangler", ".kaggle", ".cache/huggingface/token"],
  ...[".huggingface", ".continue", ".codeium", ".aider.conf.yml", ".local/share/com.vercel.cli", ".railway"],
  ...[".supabase", ".expo", ".bluemix", ".snowsql", ".snowflake", ".dbt/profiles.yml", ".rclone.conf"],
  ...[".msmtprc", ".fetchmailrc", ".smbcredentials", ".passwd-s3fs", ".mylogin.cnf", ".vnc", ".pki"],
  ...[".ngrok2", ".bitcoin", ".ethereum", ".electrum", ".ollama/id_ed25519", ".local/share/atuin"],
  ...[".mysql_history", ".sqlite_history", ".rediscli_history", ".irb_history", ".histfile", ".lesshst"],
  ...[".viminfo", ".local/share/fish/fish_history", ".local/share/goose", ".local/share/crush"],
  // What runs in packages of its own keeps settings, profiles and keys there.
  ...[".var/app", "snap/firefox", "snap/chromium", "snap/thunderbird"],
];

/** In the directory for settings, which the environment may name. */
const CONFIG_PLACES: readonly string[] = [
  ...["google-chrome", "chromium", "BraveSoftware", "microsoft-edge", "vivaldi", "opera", "librewolf"],
  ...["Code", "Code - Insiders", "VSCodium", "Cursor", "gh", "hub", "glab-cli", "op", "rclone", "heroku"],
  ...["doctl", "github-copilot", "containers", "sops", "age", "pulumi", "1Password", "gcloud"],
  ...["git/credentials", "Bitwarden", "Bitwarden CLI", "Signal", "Slack", "discord"],
  ...["configstore", "stripe", "ngrok", ".wrangler", "solana", "pypoetry/auth.toml", "composer/auth.json"],
  ...["hcloud", "scw", "linode-cli", "openstack", "turborepo", "huggingface", "remmina"],
];

/** Of the system's own, what only an administrator may read: hidden from one. */
const SYSTEM_PLACES: readonly string[] = [
  ...["/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-", "/etc/krb5.keytab", "/etc/sudoers"],
  ...["/etc/sudoers.d", "/etc/ssl/private", "/etc/wireguard", "/etc/NetworkManager/system-connections"],
  ...["/etc/kubernetes", "/var/lib/kubelet", "/var/run/secrets"],
  ...["rsa", "ecdsa", "ed25519", "dsa"].map((kind) => `/etc/ssh/ssh_host_${kind}_key`),
];

/** Keys, credentials, and what diligent keeps for itself and for other projects: places that are there, absolute. */
export function findSecretPlaces(environment: Environment): string[] {
  const own = [userConfigDirectory(environment), userStateDirectory(environment)];
  const inHomes = [...findHomes(environment)].flatMap((home) => [
    ...HOME_PLACES.map((place) => join(home, place)),
    ...CONFIG_PLACES.map((place) => join(home, ".config", place)),
    ...namesIn(home)
      .filter((name) => isSecretFile(name))
      .map((name) => join(home, name)),
  ]);
  const system = SYSTEM_PLACES.filter(isReadable);
  const runtime = environment.XDG_RUNTIME_DIR || undefined;
  const named = environment.XDG_CONFIG_HOME;
  // The XDG specification wants relative paths ignored.
  const inConfig = named && isAbsolute(named) ? CONFIG_PLACES.map((place) => join(named, place)) : [];
  return [...own, runtime, ...inHomes, ...inConfig, ...system]
    .flatMap((place) => place ?? [])
    .filter(isReachable);
}

/** The user's own, as the environment and the system name it; for an administrator everybody's. */
function findHomes(environment: Environment): Set<string> {
  const { isAdministrator } = processAccount();
  const others = isAdministrator ? ["/root", ...namesIn("/home").map((name) => join("/home", name))] : [];
  return new Set([...findOwnHomes(environment), ...others]);
}

/** The user's home directories: that of the environment, and the account's where it is another one. */
export function findOwnHomes(environment: Environment): string[] {
  const homes = [homeDirectory(environment), processAccount().home];
  return [...new Set(homes.flatMap((home) => (home && home !== "/" ? [home] : [])))];
}

function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // Not there, or not for this user.
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false; // The system hides it by itself.
  }
}
