import { relative } from "node:path";
import { isInside } from "../../infrastructure/fs/real-path.ts";
import type { ToolResult } from "../../tool/types.ts";
import type { LspArguments } from "../../tools/parameters.ts";
import type { LanguageServer, RunningServer } from "./language-server.ts";
import { type Place, readHover, readPlaces, readSymbols } from "./messages.ts";
import type { RenamePlace } from "./rename.ts";
import { type LanguageServers, readFileText } from "./servers.ts";

/** A question to a server; `path` is that of `file_path`, absolute and real. */
interface Question extends LspArguments {
  path: string | undefined;
}

interface QuestionContext extends RenamePlace {
  /** Of the project. */
  root: string;
}

// The first answer of a server may need it to read the whole project.
const TIMEOUT_MS = 60_000;
const MAX_LINES = 100;
const MAX_HOVER_CHARACTERS = 4_000;
const MAX_NAME_CHARACTERS = 200;

/** Starts the server if necessary. @throws Error for the model. */
export async function askServer(
  servers: LanguageServers,
  question: Question,
  context: QuestionContext,
): Promise<ToolResult> {
  const { action, path, query } = question;
  if (action === "symbols" && path === undefined) return findInProject(servers, query, context);
  if (path === undefined) throw new Error(`Give file_path: ${action} is about a file.`);
  if (!isInside(path, context.root)) throw new Error("Language servers only know the files of the project.");
  const server = servers.serverOf(path);
  if (!server)
    throw new Error(`There is no language server for this file. There are: ${servers.describe()}.`);
  const text = readFileText(path);
  if (text === undefined) throw new Error("The file does not exist, is larger than 1 MB, or is not UTF-8.");
  const running = await waitFor(server, context.signal);
  servers.refresh(running);
  const { uri } = running.documents.show(path, text);
  const ask = (method: string, params: object = {}) =>
    request(running, method, { textDocument: { uri }, ...params }, context);
  const position = () => ({ position: findPosition(text, question) });
  switch (action) {
    case "definition":
      return listPlaces(readPlaces(await ask("textDocument/definition", position())), context);
    case "references": {
      const params = { ...position(), context: { includeDeclaration: true } };
      return listPlaces(readPlaces(await ask("textDocument/references", params)), context);
    }
    case "hover":
      return describeHover(readHover(await ask("textDocument/hover", position())));
    case "symbols":
      return listSymbols(await ask("textDocument/documentSymbol"), path);
    case "rename": {
      const { new_name: newName } = question;
      if (!newName) throw new Error("Give new_name.");
      const at = position();
      const { renameSymbol } = await import("./rename.ts");
      const renaming = {
        server: running,
        oldName: findName(text, at.position),
        newName,
        extensions: server.definition.extensions,
        ask: () => ask("textDocument/rename", { ...at, newName }),
      };
      return renameSymbol(renaming, context);
    }
    case "diagnostics":
      return listProblems(running, path, context);
  }
}

async function waitFor(server: LanguageServer, signal: AbortSignal): Promise<RunningServer> {
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(new Error("Interrupted."));
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([server.ready(), promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function request(
  { connection }: RunningServer,
  method: string,
  params: object,
  { signal }: QuestionContext,
): Promise<unknown> {
  return connection.request(method, params, { timeoutMs: TIMEOUT_MS, signal });
}

async function findInProject(
  servers: LanguageServers,
  query: string | undefined,
  context: QuestionContext,
): Promise<ToolResult> {
  if (!query) throw new Error("Give file_path for the symbols of a file, or query for those of the project.");
  const started = servers.running;
  if (started.length === 0)
    throw new Error("No language server runs yet. Give a file_path of the language once, then try again.");
  const answers = await Promise.allSettled(
    started.map((running) => request(running, "workspace/symbol", { query }, context)),
  );
  const found = answers.flatMap((each) =>
    each.status === "fulfilled" ? readSymbols(each.value, undefined) : [],
  );
  return list(
    found.map(({ name, kind, ...place }) => `${describePlace(place, context)} ${kind} ${toLine(name)}`),
    "No symbol matches.",
  );
}

/** From 0, as the protocol counts. @throws Error that says what to give. */
function findPosition(text: string, { line, column, query }: Question): { line: number; character: number } {
  if (line === undefined) throw new Error("Give line, and column or the name in that line as query.");
  const content = text.split("\n")[line - 1];
  if (content === undefined) throw new Error(`The file has no line ${line}.`);
  if (column !== undefined) {
    if (column > content.length + 1)
      throw new Error(`Line ${line} has no column ${column}: ${content.trim()}`);
    return { line: line - 1, character: column - 1 };
  }
  if (!query) throw new Error("Give column, or the name in that line as query.");
  const character = content.indexOf(query);
  if (character === -1) throw new Error(`Line ${line} does not contain ${query}: ${content.trim()}`);
  return { line: line - 1, character };
}

/** The name at, or directly before, a position. */
function findName(
  text: string,
  { line, character }: { line: number; character: number },
): string | undefined {
  const content = text.split("\n")[line] ?? "";
  const names = [...content.matchAll(/[\p{L}\p{N}_$]+/gu)];
  return names.find(({ index, 0: name }) => index <= character && character <= index + name.length)?.[0];
}

function describePlace({ path, line, column }: Place, { root }: QuestionContext): string {
  const shown = isInside(path, root) ? relative(root, path) : path;
  return `${toLine(shown)}:${line}:${column}`;
}

function listPlaces(places: readonly Place[], context: QuestionContext): ToolResult {
  return list([...new Set(places.map((place) => describePlace(place, context)))], "Nothing was found.");
}

function describeHover(text: string): ToolResult {
  const plain = text.replace(/[\p{Cc}\p{Cf}]/gu, (each) => (each === "\n" || each === "\t" ? each : ""));
  return { output: plain.slice(0, MAX_HOVER_CHARACTERS).toWellFormed() || "Nothing is known about it." };
}

function listSymbols(result: unknown, path: string): ToolResult {
  const lines = readSymbols(result, path).map(
    ({ name, kind, line, depth }) => `${"  ".repeat(depth)}${line}: ${kind} ${toLine(name)}`,
  );
  return list(lines, "The file defines no symbols.");
}

async function listProblems(
  { documents }: RunningServer,
  path: string,
  context: QuestionContext,
): Promise<ToolResult> {
  const problems = await documents.problemsOf(path, { timeoutMs: TIMEOUT_MS, signal: context.signal });
  if (!problems) throw new Error("The language server has not answered in time.");
  const lines = problems.map(
    ({ line, column, message, code }) =>
      `${describePlace({ path, line, column }, context)} ${message}${code === "" ? "" : ` (${code})`}`,
  );
  return list(lines, "No errors.");
}

function list(lines: readonly string[], none: string): ToolResult {
  if (lines.length === 0) return { output: none };
  const shown = lines.slice(0, MAX_LINES);
  const more = lines.length > shown.length ? [`… ${lines.length - shown.length} more.`] : [];
  return { output: [...shown, ...more].join("\n") };
}

/** On one line; the text is another program's. */
function toLine(text: string): string {
  const plain = text.replace(/[\s\p{Cc}\p{Cf}]+/gu, " ").trim();
  return plain.length > MAX_NAME_CHARACTERS
    ? `${plain.slice(0, MAX_NAME_CHARACTERS).toWellFormed()}…`
    : plain;
}
