import { loadConfig } from "@diligent/core/harness";
import { nearestName } from "@diligent/core/light";
import {
  addServer,
  enableServer,
  findImportable,
  type ImportableServer,
  type ManagedPlace,
  type McpServerSetting,
  removeServer,
  type TestedServer,
  testServers,
  UnknownServerError,
} from "@diligent/core/mcp";
import { EXIT_FAILURE, EXIT_SUCCESS, UsageError } from "../errors.ts";
import { type CliIo, writeLine } from "../io/io.ts";
import { readInputLines } from "../line-prompt/input.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { toJsonText } from "../text/format.ts";
import { sanitizeTerminalText, toSingleLine } from "../text/terminal-text.ts";
import {
  limitHostsOf,
  readSubcommandArguments,
  type SubcommandArguments,
  unknownAction,
} from "./arguments.ts";

const MAX_TEXT_COLUMNS = 300;
const MAX_NAME_COLUMNS = 64;

/**
 * @param directory as given with `-C`.
 * @throws UsageError for an unknown action or server, and for incomplete arguments.
 */
export async function runMcp(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const given = readSubcommandArguments("mcp", rest);
  await limitHostsOf(given.lists);
  const [action = "list", name, ...more] = given.words;
  const cwd = resolveDirectory(directory, io.cwd);
  if (action === "serve" && name === undefined) return (await import("./mcp-serve.ts")).serveMcp(io, cwd);
  const { readPlugins } = await import("@diligent/core/definitions");
  const { active: plugins } = await readPlugins(io.environment);
  const place = { loaded: await loadConfig(cwd, io.environment), environment: io.environment, plugins };
  if (action === "list" && name === undefined)
    return listServers(place, { io, isJson: given.switches.has("json") });
  if (action === "import" && name === undefined)
    return importServers(place, { io, isAgreed: given.switches.has("yes") });
  if (!["add", "remove", "enable", "disable", "test", "login", "logout"].includes(action))
    throw unknownAction("mcp", action);
  if (name === undefined) throw new UsageError(`mcp ${action} needs the NAME of a server`);
  if (action !== "add" && more.length > 0) throw new UsageError(`mcp ${action} takes one NAME`);
  try {
    if (action === "add") return await add(place, { name, given, io, cwd });
    return await runAction(action, name, { place, io, isJson: given.switches.has("json") });
  } catch (error) {
    if (error instanceof UnknownServerError) throw unknownServer(error);
    if (error instanceof Error && !(error instanceof UsageError)) throw new UsageError(error.message);
    throw error;
  }
}

interface CommandPlace {
  place: ManagedPlace;
  io: CliIo;
  isJson: boolean;
}

async function runAction(action: string, name: string, { place, io, isJson }: CommandPlace): Promise<number> {
  if (action === "test") return testOne(name, { place, io, isJson });
  if (action === "login") return logIn(name, place, io);
  if (action === "logout") {
    const { signOut } = await import("@diligent/core/mcp-sign-in");
    const wasSignedIn = await signOut(place, name);
    writeLine(io.stdout, wasSignedIn ? `Signed out of ${name}` : `Nobody was signed in to ${name}`);
    return EXIT_SUCCESS;
  }
  if (action === "remove") {
    writeLine(io.stdout, `Removed ${name} from ${await removeServer(place, name)}`);
    return EXIT_SUCCESS;
  }
  const isEnabled = action === "enable";
  await enableServer(place, { name, isEnabled });
  writeLine(io.stdout, `${isEnabled ? "Enabled" : "Disabled"} ${name}`);
  return EXIT_SUCCESS;
}

/** The answer comes to a listener on this machine, or is pasted. */
async function logIn(name: string, place: ManagedPlace, io: CliIo): Promise<number> {
  const { signIn } = await import("@diligent/core/mcp-sign-in");
  const input = readInputLines(io.stdin.stream())[Symbol.asyncIterator]();
  const pasted = input.next().then(({ value, done }) => (done || value.trim() === "" ? undefined : value));
  await signIn(place, name, {
    pasted,
    onAddress(address) {
      writeLine(io.stderr, "Open this address to sign in:");
      writeLine(io.stdout, sanitizeTerminalText(address));
      writeLine(
        io.stderr,
        "Waiting for the answer, at most 5 minutes. If it does not come, paste its address here.",
      );
    },
  });
  writeLine(io.stdout, `Signed in to ${name}`);
  return EXIT_SUCCESS;
}

/** Exit code 1 if an enabled server does not answer. */
async function listServers(
  place: ManagedPlace,
  { io, isJson }: Omit<CommandPlace, "place">,
): Promise<number> {
  const servers = await testServers(place);
  if (isJson) io.stdout.write(toJsonText(servers.map(toListed)));
  else for (const line of formatServers(servers)) writeLine(io.stdout, line);
  return servers.some(({ state }) => state === "failed") ? EXIT_FAILURE : EXIT_SUCCESS;
}

/** What programs can rely on. */
function toListed({ name, transport, enabled, state, tools, error }: TestedServer) {
  return { name, transport, enabled, state, tools, ...(error !== undefined && { error }) };
}

function formatServers(servers: readonly TestedServer[]): string[] {
  if (servers.length === 0) return ["No servers are configured. Add one with diligent mcp add."];
  const width = Math.max(...servers.map(({ name }) => Math.min(MAX_NAME_COLUMNS, name.length)));
  return servers.flatMap(({ name, state, tools, target, transport, error, remark }) => {
    const count = state === "ready" ? `, ${tools} ${tools === 1 ? "tool" : "tools"}` : "";
    const hint = state === "untrusted" ? ' (see "diligent trust")' : "";
    return [
      `${toSingleLine(name, MAX_NAME_COLUMNS).padEnd(width)}  ${state}${count}${hint}  ${transport}: ${toSingleLine(target, MAX_TEXT_COLUMNS)}`,
      ...[error, state === "ready" ? undefined : remark].flatMap((text) =>
        text === undefined ? [] : [`    ${toSingleLine(text, MAX_TEXT_COLUMNS)}`],
      ),
    ];
  });
}

async function testOne(name: string, { place, io, isJson }: CommandPlace): Promise<number> {
  const [server] = await testServers(place, [name]);
  if (server === undefined) return EXIT_FAILURE;
  if (isJson) io.stdout.write(toJsonText(toListed(server)));
  else for (const line of [...formatServers([server]), ...formatOffer(server)]) writeLine(io.stdout, line);
  return server.state === "ready" ? EXIT_SUCCESS : EXIT_FAILURE;
}

function formatOffer({ offeredTools, offeredPrompts }: TestedServer): string[] {
  const lines = [
    ...offeredTools.map(({ name, description }) => `  ${name}  ${description}`),
    ...offeredPrompts.map(({ name, description }) => `  prompt ${name}  ${description}`),
  ];
  return lines.map((line) => `  ${toSingleLine(line.trim(), MAX_TEXT_COLUMNS)}`);
}

function unknownServer({ server, known }: UnknownServerError): UsageError {
  const nearest = nearestName(server, known);
  const hint =
    nearest === undefined ? `the servers are: ${known.join(", ") || "none"}` : `did you mean ${nearest}?`;
  return new UsageError(`mcp: there is no server ${server} (${hint})`);
}

/** Shows the servers of other programs, and takes them over if that is agreed. */
async function importServers(
  place: ManagedPlace,
  { io, isAgreed }: { io: CliIo; isAgreed: boolean },
): Promise<number> {
  const found = await findImportable(place);
  const usable = found.filter(({ setting }) => setting !== undefined);
  for (const server of found) for (const line of formatImportable(server)) writeLine(io.stdout, line);
  if (usable.length === 0) {
    writeLine(io.stdout, "Nothing to import: no other servers were found.");
    return EXIT_SUCCESS;
  }
  if (!isAgreed) {
    writeLine(io.stdout, "Take them over with: diligent mcp import --yes");
    return EXIT_SUCCESS;
  }
  for (const { name, setting } of usable) {
    if (!setting) continue;
    try {
      const path = await addServer(place, { name, setting, isProject: false });
      writeLine(io.stdout, `Added ${toSingleLine(name, MAX_NAME_COLUMNS)} to ${path}`);
    } catch (error) {
      throw new UsageError(error instanceof Error ? error.message : String(error));
    }
  }
  return EXIT_SUCCESS;
}

/** Values of variables and headers may be secrets, so only their names are shown. */
function formatImportable({ name, agent, path, target, setting, problem }: ImportableServer): string[] {
  const title = `${toSingleLine(name, MAX_NAME_COLUMNS)}  from ${agent}: ${toSingleLine(path, MAX_TEXT_COLUMNS)}`;
  if (problem !== undefined) return [title, `    not usable: ${toSingleLine(problem, MAX_TEXT_COLUMNS)}`];
  const names = [...Object.keys(setting?.env ?? {}), ...Object.keys(setting?.headers ?? {})].join(", ");
  return [
    title,
    `    ${toSingleLine(target, MAX_TEXT_COLUMNS)}`,
    ...(names === "" ? [] : [`    with ${toSingleLine(names, MAX_TEXT_COLUMNS)}`]),
  ];
}

interface Addition {
  name: string;
  given: SubcommandArguments;
  io: CliIo;
  cwd: string;
}

async function add(place: ManagedPlace, { name, given, io, cwd }: Addition): Promise<number> {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name))
    throw new UsageError("mcp add: a NAME is made of letters, digits, dots, dashes and underscores");
  const setting = toSetting(given);
  const isProject = given.switches.has("project");
  const { describeProjectTrust } = await import("@diligent/core/definitions");
  const before = isProject ? await describeProjectTrust(cwd, io.environment) : undefined;
  const path = await addServer(place, { name, setting, isProject });
  writeLine(io.stdout, `Added ${name} to ${path}`);
  // What the user has just written needs no second question.
  if (before && (before.state === "none" || before.state === "trusted")) {
    const { trustProject } = await import("@diligent/core/config");
    await trustProject(await describeProjectTrust(cwd, io.environment), io.environment);
  } else if (before) writeLine(io.stdout, 'The project is not trusted: see "diligent trust".');
  writeLine(io.stdout, `Test it with: diligent mcp test ${name}`);
  return EXIT_SUCCESS;
}

/** @throws UsageError for arguments that do not describe one server. */
function toSetting({ words, separated, values, lists }: SubcommandArguments): McpServerSetting {
  const [command, ...args] = separated;
  const url = values.get("url");
  const between = words.length - separated.length - 2;
  if (between > 0)
    throw new UsageError("mcp add: the COMMAND follows --, as in: diligent mcp add NAME -- COMMAND");
  if ((command === undefined) === (url === undefined))
    throw new UsageError("mcp add needs either -- COMMAND or --url URL");
  const env = toPairs(lists.get("env"), "--env");
  const headers = toPairs(lists.get("header"), "--header");
  if (url === undefined) {
    if (headers) throw new UsageError("mcp add: --header needs --url");
    return { command: command ?? "", ...(args.length > 0 && { args }), ...(env && { env }) };
  }
  if (env) throw new UsageError("mcp add: --env needs -- COMMAND");
  if (!/^https?:\/\/./i.test(url))
    throw new UsageError("mcp add: --url needs an address such as https://host/mcp");
  return { type: "http", url, ...(headers && { headers }) };
}

/** Undefined for none. The value is never repeated in a message: it may be a key. */
function toPairs(given: readonly string[] = [], option: string): Record<string, string> | undefined {
  if (given.length === 0) return undefined;
  const pairs = given.map((text): [string, string] => {
    const at = text.indexOf("=");
    if (at <= 0) throw new UsageError(`mcp add: ${option} needs NAME=VALUE`);
    return [text.slice(0, at), text.slice(at + 1)];
  });
  return Object.fromEntries(pairs);
}
