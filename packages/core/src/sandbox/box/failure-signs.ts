/** The part of the sandbox that a failed command met. */
export type SandboxRule = "write" | "network" | "service" | "privilege";

interface Sign {
  pattern: RegExp;
  rule: SandboxRule;
  /** Only meaningful where there is no network at all; elsewhere the program may be right. */
  isOffline?: true;
}

const NAME_OR_CONNECTION = "EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ENETUNREACH|EHOSTUNREACH|EADDRNOTAVAIL";

/**
 * Lines that a program prints only if it failed, each from the program's own output or its reports. They count whatever
 * the exit code: a filter behind the program hides it.
 */
const OWN_LINES: readonly Sign[] = [
  // pip
  {
    pattern:
      /\bRetrying \(Retry\(total=\d.*(?:name resolution|NewConnectionError|Name or service not known|nodename nor)/,
    rule: "network",
  },
  { pattern: /^(?:ERROR: )?No matching distribution found for \S/, rule: "network", isOffline: true },
  {
    pattern:
      /^(?:ERROR: | {2})?Could not find a version that satisfies the requirement .*\(from versions: ?(?:none)?\)/,
    rule: "network",
    isOffline: true,
  },
  // npm, pnpm, yarn, bun
  { pattern: new RegExp(`^npm (?:error|ERR!) .*\\b(?:${NAME_OR_CONNECTION})\\b`), rule: "network" },
  {
    pattern: new RegExp(`^\\s*(?:ERR_PNPM_\\w+|WARN|ERROR) .*\\b(?:${NAME_OR_CONNECTION})\\b`),
    rule: "network",
  },
  {
    pattern: new RegExp(`^(?:error|warning|info) .*getaddrinfo (?:${NAME_OR_CONNECTION}) `),
    rule: "network",
  },
  {
    pattern:
      /^(?:info|warning) (?:There appears to be trouble with your network|You don't appear to have an internet)/,
    rule: "network",
  },
  { pattern: /^➤ YN\d+: .*(?:RequestError|getaddrinfo )/, rule: "network" },
  {
    pattern:
      /^(?:error|warn): (?:DNSResolveFailed|FailedToOpenSocket|Connection(?:Refused|Closed)|UnreachableHost)\b/,
    rule: "network",
  },
  // cargo and rustup
  { pattern: /^warning: spurious network error/, rule: "network" },
  { pattern: /^\s*\[\d+\] Could(?:n't| not) (?:resolve|connect)/, rule: "network" },
  {
    pattern: /^(?:As a reminder, you're using|.*you are in the) offline mode \(--offline\)/,
    rule: "network",
    isOffline: true,
  },
  {
    pattern: /^\s*attempting to make an HTTP request, but --offline was specified/,
    rule: "network",
    isOffline: true,
  },
  { pattern: /^error: could not download file from '/, rule: "network" },
  { pattern: /^error: could not create temp file \S/, rule: "write" },
  // uv and others that are written in Rust
  {
    pattern:
      /^(?:error: |warning: |\s*(?:[×╰├│]|Caused by:|\d+:)).*(?:dns error|failed to lookup address|error sending request for url|Failed to fetch: `https?:|Could not connect, are you offline)/,
    rule: "network",
  },
  // go
  { pattern: /: module lookup disabled by GOPROXY=off$/, rule: "network", isOffline: true },
  { pattern: /\b(?:Get|Head|Post) "https?:\/\/\S+": (?:dial|proxyconnect) tcp\b/, rule: "network" },
  // gem and bundler
  { pattern: /^ERROR: {1,2}Could not find a valid gem '/, rule: "network", isOffline: true },
  { pattern: /^\s*(?:ERROR: .*)?Unable to download data from https?:/, rule: "network" },
  {
    pattern:
      /^(?:Could not (?:reach host|fetch specs from) |Network error while fetching |Retrying (?:fetcher|dependency api) due to error)/,
    rule: "network",
  },
  // maven and gradle
  {
    pattern:
      /^\[(?:ERROR|WARNING|FATAL)\] .*(?:Unknown host |from\/to \S+ \(https?:.*(?:transfer failed|\.lock \(|Connect to |Name or service|name resolution))/,
    rule: "network",
  },
  {
    pattern:
      /^\s*> (?:Could not (?:GET|HEAD) 'https?:|[\w.-]+: (?:Name or service not known|Temporary failure))/,
    rule: "network",
  },
  {
    pattern:
      /^(?:Exception in thread|Caused by:|\s*>).*java\.net\.(?:UnknownHostException|NoRouteToHostException|ConnectException)\b/,
    rule: "network",
  },
  // apt and dpkg
  { pattern: /^(?:[WE]|Warning|Error): Failed to fetch (?:https?|ftp):/, rule: "network" },
  {
    pattern: /^\s+(?:Temporary failure resolving|Could not resolve|Could not connect to) '?[\w.-]+/,
    rule: "network",
  },
  { pattern: /^[WE]: .*(?:\(30: Read-only file system\)|read only lock file )/, rule: "write" },
  { pattern: /^E: (?:Unable to (?:lock|acquire) .*are you root\?|setgroups \d+ failed)/, rule: "privilege" },
  // docker and podman
  {
    pattern:
      /^(?:\S+: |error during connect: .*|.*\bGot )?(?:Cannot connect to (?:the Docker daemon|Podman)|permission denied while trying to connect to the (?:Docker daemon|docker API)|Couldn't connect to Docker daemon|failed to connect to the docker API)/i,
    rule: "service",
  },
  { pattern: /\bdial unix \S+\.sock: connect: /, rule: "service" },
  // git, ssh, curl, wget
  {
    pattern:
      /^fatal: unable to access '\S+': (?:Could not resolve|Couldn't resolve|Failed to connect|Couldn't connect)/,
    rule: "network",
  },
  { pattern: /^fatal: unable to (?:look up|connect to) \S/, rule: "network" },
  { pattern: /^ssh: (?:Could not resolve hostname|connect to host) /, rule: "network" },
  { pattern: /^curl: \((?:5|6|7)\) /, rule: "network" },
  { pattern: /^wget: unable to resolve host/, rule: "network" },
  // dotnet, composer, conda
  { pattern: /\berror NU1301: /, rule: "network" },
  { pattern: /\bcurl error [67] while downloading https?:/, rule: "network" },
  { pattern: /^CondaHTTPError: /, rule: "network" },
  // Any program that names the reason at the end of its message, as the system words it.
  {
    pattern: /^(?:[^"'`]|"[^"]*"|'[^']*'|`[^`]*`)*: Read-only file system(?: \(os error 30\))?\.?$/,
    rule: "write",
  },
  { pattern: /^\w*(?:Error|Exception): \[Errno 30\] Read-only file system/, rule: "write" },
  { pattern: /^(?:\w*Error: )?EROFS: read-only file system, \w+/, rule: "write" },
  { pattern: /^error: .*: EROFS$/, rule: "write" },
];

/** What any program may print about a rule of the sandbox, in words that also occur in sources and tests. */
const COMMON: readonly Sign[] = [
  {
    pattern: /Read-only file system|\bEROFS\b|read-only filesystem|Device or resource busy|\bEBUSY\b/i,
    rule: "write",
  },
  {
    pattern:
      /Network is unreachable|\bENETUNREACH\b|Could not resolve host|Temporary failure in name resolution|\bEAI_AGAIN\b|\bENOTFOUND\b|Name or service not known|nodename nor servname|unable to resolve host|Failed to resolve|Cannot assign requested address|No address associated|network is down|Operation not permitted.*(?:socket|connect)|Could(?: not|n't) connect|Failed to connect|Connection refused|\bECONNREFUSED\b/i,
    rule: "network",
  },
  {
    pattern: /no new privileges|effective uid is not 0|must be setuid root|gpg failed to sign/i,
    rule: "privilege",
  },
];

/** The programs that print files and words: what they print is no failure of theirs, unless they name themselves. */
const PRINTERS = new Set(
  ": [ awk bat cat cd cut diff echo egrep exit false fgrep file find git-read grep head jq less ls more nl printf pwd rg sed sort tac tail test tree true uniq wc xxd".split(
    " ",
  ),
);

const GIT_READS = /^git\s+(?:-\S+\s+)*(?:log|show|diff|grep|blame|status|ls-files)\b/;

/** Words in front of the program of a command, which are not programs themselves. */
const PREFIX = /^(?:\s|[!({]|(?:do|then|else|elif|if|while|until|time|command)\s|\w+=\S*\s)+/;
const NO_PROGRAM = /^(?:done|fi|esac|for\s.*|case\s.*|[})]*)$/;

/**
 * The rules of the sandbox that a command met, as far as its output shows, without duplicates. A line that quotes an
 * error, such as a match of grep, a line of code or the title of a passed test, does not show one.
 *
 * @param options.line the command line.
 * @param options.hasFailed false for the exit code 0, which a pipe or a later command may give.
 */
export function findMetRules(
  output: string,
  { line, hasFailed, hasNetwork }: { line: string; hasFailed: boolean; hasNetwork: boolean },
): SandboxRule[] {
  const commands = splitCommands(line);
  const isPrinting = commands.length > 0 && commands.every((command) => PRINTERS.has(command));
  const lines = output
    .replace(SEQUENCES, "")
    .split(/\r?\n|\r/)
    .map((text) => text.slice(0, MAX_LINE_CHARS));
  const counted = isPrinting ? lines.filter((text) => namesProgram(text, commands)) : lines;
  const signs = OWN_LINES.filter(({ isOffline }) => !(isOffline && hasNetwork));
  const own = counted.flatMap((text) => signs.find(({ pattern }) => pattern.test(text))?.rule ?? []);
  if (own.length > 0) return [...new Set(own)];
  // A plain exit code of 0 is more reliable than words that occur everywhere.
  if (!hasFailed && !MASKED.test(withoutQuoted(line))) return [];
  const common = counted.filter((text) => !isQuotation(text));
  const first = COMMON.find(({ pattern }) => common.some((text) => pattern.test(text)));
  return first ? [first.rule] : [];
}

// Some patterns take quadratic time; messages of programs are shorter.
const MAX_LINE_CHARS = 2_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: programs colour their errors
const SEQUENCES = /\u001b\[[\d;]*[A-Za-z]/g;

/** Something that can replace the exit code of a failed command. */
const MASKED = /\|\|?|;|\n|&\s*$/;

function withoutQuoted(line: string): string {
  return line.replace(/'[^']*'|"(?:\\.|[^"\\])*"|\\./gs, "_");
}

/** The names of the programs of a line; git that only reads is `git-read`. */
function splitCommands(line: string): string[] {
  return withoutQuoted(line)
    .replace(/\d*>&\d|&>/g, " ")
    .split(/[;&|\n]+/)
    .map((text) => text.replace(PREFIX, "").trim())
    .filter((text) => !NO_PROGRAM.test(text))
    .map((text) => (GIT_READS.test(text) ? "git-read" : (text.split(/\s/)[0] ?? "").replace(/^.*\//, "")));
}

function namesProgram(text: string, commands: readonly string[]): boolean {
  const [, name = ""] = /^(?:\/\S*\/)?([\w-]+): /.exec(text) ?? [];
  return commands.includes(name) || /^(?:ba|da|z)?sh$/.test(name);
}

/** The place of a match or of a line of code: `src/a.ts:12:`, `12:`, `+ ` and the like. */
const PLACED =
  /^\s*(?:[^\s:]*[\w)]\.\w{1,6}[:-]\d+[:-]|[^\s:]+\.\w{1,6}:(?!\d)|\d+[:\-\t|│→ ]|[+\-<>#*|]\s|\/[/*])/;
const PASSED = /^\s*(?:\(pass\)|[✓✔√∙•]|ok \d+|PASS(?:ED)?\b|--- PASS|test .* \.\.\. ok$)|\bPASSED\b/;
const CODE =
  /=>|[{};,]\s*$|[({[]\s*$|\b(?:expect|assert\w*|describe|it|test|require|console\.\w+)\(|\b(?:const|let|var|return|import|throw new|def|func|fn|raise|case|if|else)\b.*[("'`]/;

function isQuotation(text: string): boolean {
  return PLACED.test(text) || PASSED.test(text) || CODE.test(text);
}
