import { accessSync, constants, existsSync, lstatSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import {
  certificateProblem,
  describeDefaultModel,
  loadCatalog,
  loadConfig,
  openScriptedModel,
  VENDORS,
} from "@diligent/core/harness";
import {
  createProgramFetch,
  findRipgrep,
  probeSandbox,
  resolveExecutable,
  systemErrorText,
} from "@diligent/core/interactive";
import {
  type DiligentPaths,
  findDiligentDirProblem,
  findProjectRoot,
  homeDirectory,
  resolvePaths,
  unknownModel,
  userStateDirectory,
} from "@diligent/core/light";
import {
  DEFAULT_MODEL,
  describeConnectionFailure,
  inferProvider,
  type LoadedConfig,
  SessionTempDir,
} from "@diligent/core/run";
import { describeError, EXIT_FAILURE, EXIT_SUCCESS, UsageError } from "../errors.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { type ModelProvider, placeOf } from "../model/models-table.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { formatSize, toJsonText } from "../text/format.ts";
import { askForVersion, describeUpdate, UpdateError } from "../update/update.ts";
import { describeVersion, VERSION } from "../version.ts";
import { readSubcommandArguments } from "./arguments.ts";
import { listProviders } from "./models.ts";

/** `problem`: diligent cannot work like this; `warning`: some feature does not work, or not well. */
type CheckStatus = "ok" | "warning" | "problem" | "skipped";

/** The result of checking one thing diligent needs. */
interface Check {
  /** What was checked, in a word or two. */
  name: string;
  status: CheckStatus;
  /** The finding, in one line. Never a key. */
  message: string;
  /** What to do about it, if anything. */
  hint?: string;
}

/** All good. @param message the finding. */
export function ok(name: string, message: string): Check {
  return { name, status: "ok", message };
}

/** Works partly or not as expected. @param hint what to do about it. */
function warning(name: string, message: string, hint?: string): Check {
  return { name, status: "warning", message, ...(hint !== undefined && { hint }) };
}

/** Does not work. @param hint what to do about it. */
function problem(name: string, message: string, hint?: string): Check {
  return { name, status: "problem", message, ...(hint !== undefined && { hint }) };
}

/** Not checked. @param message why. */
function skipped(name: string, message: string): Check {
  return { name, status: "skipped", message };
}

const MARKS: Readonly<Record<CheckStatus, string>> = {
  ok: "ok      ",
  warning: "warning ",
  problem: "PROBLEM ",
  skipped: "skipped ",
};
const NAME_COLUMNS = 14;

/**
 * Checks everything diligent needs and reports problems. Exit code 1 if it cannot work.
 * @param directory as given with `-C`.
 * @throws UsageError for unexpected arguments.
 */
export async function runDoctor(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches, values } = readSubcommandArguments("doctor", rest);
  if (words[0] !== undefined)
    throw new UsageError(`doctor takes no arguments; for another directory: -C ${words[0]}`);
  const cwd = resolveDirectory(directory, io.cwd);
  const questions = { modelId: values.get("model"), isOffline: switches.has("offline") };
  const checks = await checkAll(cwd, questions, io);
  const isWell = checks.every(({ status }) => status !== "problem");
  if (switches.has("json")) io.stdout.write(toJsonText({ ok: isWell, checks }));
  else for (const line of checks.flatMap(formatCheck)) writeLine(io.stdout, line);
  return isWell ? EXIT_SUCCESS : EXIT_FAILURE;
}

interface Questions {
  /** Undefined: the configured one. */
  modelId: string | undefined;
  isOffline: boolean;
}

async function checkAll(cwd: string, { modelId, isOffline }: Questions, io: CliIo): Promise<Check[]> {
  const { environment, platform } = io;
  const root = findProjectRoot(cwd, homeDirectory(environment));
  const configuration = await checkConfiguration(cwd, io);
  const { loaded } = configuration;
  const model = loaded ? await checkModel(loaded, { cwd, modelId }) : { checks: [] };
  const endpoint = model.provider && checkConnection(model.provider, { isOffline, environment });
  const state = userStateDirectory(environment);
  return [
    ...(await checkProgram(platform)),
    ...(configuration.loaded ? [await checkUpdates(configuration.loaded.config, { isOffline })] : []),
    ...configuration.checks,
    ...model.checks,
    ...(endpoint ? [await endpoint] : []),
    ...(await checkTools({ environment, root })),
    await checkSandbox(configuration.loaded?.config ?? {}, { environment, platform, root }),
    checkTerminal(io),
    checkProjectLocation(resolvePaths(root)),
    state === undefined
      ? warning("state", "there is no home directory to store it in")
      : checkLocation("state", state),
  ];
}

function formatCheck({ name, status, message, hint }: Check): string[] {
  const line = `${MARKS[status]}${name.padEnd(NAME_COLUMNS)} ${message}`;
  return hint === undefined ? [line] : [line, `${" ".repeat(MARKS.ok.length + NAME_COLUMNS)} ${hint}`];
}

/** The settings for a directory, and the problems in them. */
async function checkConfiguration(
  cwd: string,
  { environment }: Pick<CliIo, "environment">,
): Promise<{ checks: Check[]; loaded?: LoadedConfig }> {
  try {
    const loaded = await loadConfig(cwd, environment);
    const warnings = loaded.warnings.map(({ message }) => warning("configuration", message));
    const files = loaded.sources.length === 0 ? "no file; using defaults" : loaded.sources.join(", ");
    return { checks: [ok("configuration", files), ...warnings], loaded };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { checks: [problem("configuration", error.message)] };
  }
}

// A long session with its tool results is some ten megabytes.
const LITTLE_SPACE_BYTES = 100 * 1024 * 1024;
const GIGABYTE = 1024 ** 3;
const OTHERS_MAY_WRITE = 0o022;
// Magic numbers of Linux (statfs(2)): proc, sysfs, cgroups. They claim to be writable, even for root, but cannot hold
// new directories.
const KERNEL_FILE_SYSTEMS: ReadonlySet<number> = new Set([0x9fa0, 0x62656572, 0x63677270, 0x27e0eb]);

/** Whether sessions can be saved in a project. */
export function checkProjectLocation(paths: DiligentPaths): Check {
  const name = "project";
  try {
    const problem = findDiligentDirProblem(paths);
    return problem === undefined ? checkLocation(name, paths.root) : unusable(name, problem);
  } catch (error) {
    return unusable(name, `${paths.root} cannot be used: ${systemErrorText(error)}`);
  }
}

/**
 * Whether a directory, which may not exist yet, can store files, and how much. Writes nothing.
 * @param name its name for the user.
 */
export function checkLocation(name: string, directory: string): Check {
  const existing = findExisting(directory);
  try {
    if (!existsSync(existing)) return unusable(name, `${existing} is a broken symbolic link`);
    if (!statSync(existing).isDirectory()) return unusable(name, `${existing} is a file, not a directory`);
    accessSync(existing, constants.W_OK | constants.X_OK);
    const { bavail, bsize, blocks, type } = statfsSync(existing);
    if (KERNEL_FILE_SYSTEMS.has(type))
      return unusable(name, `${directory} cannot be created: ${existing} stores no files`);
    // A file system without a size, such as a tmpfs without a limit, reports no free space either.
    const free = blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
    const facts = Number.isFinite(free) ? `${directory}, ${formatSpace(free)} free` : directory;
    if (free < LITTLE_SPACE_BYTES)
      return warning(name, `${facts}: low disk space`, "free space on this disk");
    const isOpen = existing === directory && (statSync(existing).mode & OTHERS_MAY_WRITE) !== 0;
    return isOpen
      ? warning(name, `${facts}; others may write to it`, `chmod go-w ${directory}`)
      : ok(name, facts);
  } catch (error) {
    return unusable(name, `${existing} cannot be written to: ${systemErrorText(error)}`);
  }
}

function unusable(name: string, reason: string): Check {
  return warning(name, reason, "nothing can be saved there");
}

function formatSpace(bytes: number): string {
  return bytes < GIGABYTE ? formatSize(bytes) : `${Math.round(bytes / GIGABYTE)} GB`;
}

/** The path, or its nearest existing ancestor. A broken link counts as existing. */
function findExisting(path: string): string {
  return isThere(path) || dirname(path) === path ? path : findExisting(dirname(path));
}

function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // Below a file, or in an unreadable directory: the ancestor tells more.
    return false;
  }
}

// Providers answer within one second; a network slower than this is unusable.
const TIMEOUT_MS = 5_000;

const SERVER_FAULT = 500;
// A server that does not support HEAD says so, and is reachable.
const NOT_IMPLEMENTED = 501;

/**
 * Checks that the model's provider is reachable, with one request without content and key. Any answer proves that, and
 * without a key nothing more can be checked; a server error is a warning.
 */
export async function checkConnection(
  { name, baseUrl }: ModelProvider,
  { isOffline, environment }: { isOffline: boolean; environment: CliIo["environment"] },
): Promise<Check> {
  const certificates = certificateProblem(environment);
  if (certificates !== undefined) return problem("endpoint", certificates);
  const url = baseUrl ?? VENDORS.find((vendor) => vendor.name === name)?.address;
  if (url === undefined) return skipped("endpoint", `${name} has no known address`);
  const place = placeOf(url);
  if (isOffline) return skipped("endpoint", `${place} was not contacted`);
  const startedAt = performance.now();
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const send = createProgramFetch({ purpose: "provider", by: "diligent doctor" });
    const { status } = await send(place, { method: "HEAD", redirect: "manual", signal });
    const facts = `${place} answered ${status} after ${Math.round(performance.now() - startedAt)} ms`;
    return status >= SERVER_FAULT && status !== NOT_IMPLEMENTED
      ? warning("endpoint", facts, "the service or a proxy before it has a problem: try again later")
      : ok("endpoint", facts);
  } catch (error) {
    return problem(
      "endpoint",
      `${place} does not answer: ${describe(error)}`,
      "check the network and HTTPS_PROXY",
    );
  }
}

function describe(error: unknown): string {
  if (error instanceof Error && error.name === "TimeoutError") return `no answer for ${TIMEOUT_MS / 1_000} s`;
  return describeConnectionFailure(error);
}

const SCRIPTED_PREFIX = "scripted/";

/** The model to check, and where its settings come from. */
interface ModelQuestion {
  /** Directory for script paths, absolute. */
  cwd: string;
  /** From `-m`; the configured one if omitted. */
  modelId: string | undefined;
}

/** The model that would be used, and its provider; none for a script. */
async function checkModel(
  loaded: LoadedConfig,
  { cwd, modelId }: ModelQuestion,
): Promise<{ checks: Check[]; provider?: ModelProvider }> {
  const { provider: servers } = loaded.config;
  const id = modelId ?? loaded.config.model ?? DEFAULT_MODEL;
  try {
    if (id.startsWith(SCRIPTED_PREFIX)) {
      await openScriptedModel(id.slice(SCRIPTED_PREFIX.length), { cwd });
      return { checks: [ok("model", `${id}, which needs no key`)] };
    }
    const catalog = await loadCatalog(loaded.config);
    const names = Object.keys(servers?.compatible ?? {});
    if (!catalog.find(id) && inferProvider(id) === undefined)
      throw unknownModel(id, { catalog, servers: names });
    const { provider: name } = catalog.resolve(id);
    const provider = listProviders(loaded, []).find((each) => each.name === name);
    const reason = modelId === undefined ? describeDefaultModel(loaded) : undefined;
    const checks = [
      ok("model", `${id} (${name})${reason ? `: ${reason}` : ""}`),
      ...(provider ? [checkKey(provider)] : []),
    ];
    return { checks, ...(provider && { provider }) };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { checks: [problem("model", error.message)] };
  }
}

function checkKey({ name, hasKey, keyVariable }: ModelProvider): Check {
  if (hasKey) return ok("key", `found for ${name}`);
  if (keyVariable === undefined) return warning("key", `none for ${name}; many servers need none`);
  const keyPage = VENDORS.find((vendor) => vendor.name === name)?.keyPage;
  return problem(
    "key",
    `none for ${name}`,
    `run diligent login ${name}, or set ${keyVariable}${keyPage ? `; get one at ${keyPage}` : ""}`,
  );
}

// As in the repository's package.json; the tests do not run on an older Bun.
const TESTED_BUN = "1.4.5";

/** The version of diligent, and its runtime. */
async function checkProgram(platform: string): Promise<Check[]> {
  const system = `${platform} ${process.arch}`;
  const isOld = Bun.semver.order(Bun.version, TESTED_BUN) < 0;
  const bun = isOld
    ? warning(
        "bun",
        `${Bun.version} on ${system}`,
        `diligent needs Bun ${TESTED_BUN} or later; run: bun upgrade`,
      )
    : ok("bun", `${Bun.version} on ${system}`);
  return [ok("diligent", `${await describeVersion()}, from ${programLocation()}`), bun];
}

/** Whether the program is a single executable with everything bundled. */
function isExecutable(): boolean {
  return Bun.main.startsWith("/$bunfs/");
}

/** Paths inside the executable are not real files. */
function programLocation(): string {
  return isExecutable() ? process.execPath : Bun.main;
}

/** What the sandbox check needs. */
interface SandboxLocation extends Pick<CliIo, "environment" | "platform"> {
  /** The project, absolute and real. */
  root: string;
}

type SandboxConfig = Pick<LoadedConfig["config"], "sandbox" | "sandboxWritable">;

const WITHOUT = "commands need confirmation instead";

/** Whether commands can be sandboxed here: opens a sandbox as a session would and runs a command in it. */
export async function checkSandbox(
  { sandbox = "auto", sandboxWritable: writable }: SandboxConfig,
  { environment, platform, root }: SandboxLocation,
): Promise<Check> {
  if (sandbox === "off") return skipped("sandbox", `the setting "sandbox" is "off": ${WITHOUT}`);
  const temporary = new SessionTempDir();
  try {
    const directory = () => temporary.path();
    const probe = await probeSandbox({ environment, root, platform, writable, directory });
    if (!("problem" in probe)) return ok("sandbox", `${probe.path} works`);
    if (sandbox === "required") {
      return problem(
        "sandbox",
        `no command will run: "sandbox" is "required", and ${probe.problem}`,
        probe.remedy,
      );
    }
    return warning("sandbox", `${probe.problem}: ${WITHOUT}`, probe.remedy);
  } finally {
    temporary.remove();
  }
}

// A diff is hard to read in fewer columns.
const NARROW_COLUMNS = 40;

/** The terminal's properties that the screen needs. */
function checkTerminal({ stdin, stdout, environment }: CliIo): Check {
  const { TERM = "", NO_COLOR } = environment;
  if (!stdin.isTerminal || !stdout.isTerminal) return ok("terminal", "none: print mode would be used");
  if (TERM === "" || TERM === "dumb")
    return warning("terminal", `TERM is ${TERM || "not set"}: plain lines are used instead of the screen`);
  const { columns = 0 } = stdout;
  const facts = [TERM, `${columns} columns`, ...(NO_COLOR ? ["NO_COLOR"] : [])].join(", ");
  if (columns > 0 && columns < NARROW_COLUMNS) return warning("terminal", `${facts}: very narrow`);
  if (!isUtf8(environment))
    return warning(
      "terminal",
      `${facts}; the locale is not UTF-8`,
      "set LANG to a UTF-8 locale such as C.UTF-8",
    );
  return ok("terminal", facts);
}

/** The first variable that is set wins, as usual. */
function isUtf8({ LC_ALL, LC_CTYPE, LANG }: CliIo["environment"]): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG;
  return locale === undefined || locale === "" || /utf-?8/i.test(locale);
}

const TOOL_TIMEOUT_MS = 3_000;

/** Where programs are searched for. */
interface ToolLocation extends Pick<CliIo, "environment"> {
  /** The project: its own programs are not run. */
  root: string;
}

/** The programs that the tools run. */
async function checkTools({ environment, root }: ToolLocation): Promise<Check[]> {
  const search = { environment, outside: root };
  const bash = resolveExecutable("bash", search);
  const git = resolveExecutable("git", search);
  return [
    await checkRipgrep(search),
    bash === undefined ? problem("bash", "not found in PATH") : ok("bash", bash),
    git === undefined ? warning("git", "not found in PATH") : ok("git", git),
  ];
}

/** Locating the ripgrep inside an executable would unpack it, and this check writes nothing. */
async function checkRipgrep(search: { environment: CliIo["environment"]; outside: string }): Promise<Check> {
  if (isExecutable()) return ok("ripgrep", "bundled; unpacked at the first search");
  const ripgrep = await findRipgrep(search).catch(() => undefined);
  return ripgrep === undefined
    ? warning("ripgrep", "not found: searching works with bash only", "install ripgrep")
    : checkRun("ripgrep", [ripgrep, "--version"]);
}

/** Runs a program without input. */
function checkRun(name: string, command: readonly [string, ...string[]]): Check {
  try {
    const run = Bun.spawnSync([...command], { env: {}, stdin: "ignore", timeout: TOOL_TIMEOUT_MS, cwd: "/" });
    const [first = ""] = run.stdout.toString().split("\n", 1);
    if (run.success) return ok(name, [command[0], first].filter((part) => part !== "").join(": "));
    const reason = run.stderr.toString().trim() || `exit code ${run.exitCode}`;
    return warning(name, `${command[0]} does not work: ${reason}`);
  } catch (error) {
    return warning(name, `${command[0]} does not start: ${describeError(error)}`);
  }
}

/** Whether there is a newer version, asked right away if the user has set an address. Nothing is saved. */
export async function checkUpdates(
  { updateUrl }: Pick<LoadedConfig["config"], "updateUrl">,
  { isOffline, version = VERSION }: { isOffline: boolean; version?: string },
): Promise<Check> {
  if (updateUrl === undefined) return skipped("updates", 'not checked: "updateUrl" is not set');
  const place = placeOf(updateUrl);
  if (isOffline) return skipped("updates", `${place} was not contacted`);
  try {
    const newest = await askForVersion(updateUrl);
    const news = describeUpdate(newest, version);
    return news === undefined
      ? ok("updates", `up to date: newest at ${place} is ${newest}`)
      : warning("updates", news, `according to ${place}`);
  } catch (error) {
    if (!(error instanceof UpdateError)) throw error;
    return warning("updates", `${place} could not be reached: ${error.message}`);
  }
}
