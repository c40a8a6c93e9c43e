import { fileURLToPath, pathToFileURL } from "node:url";
import { z } from "zod";

// What a server says is checked here; everything else works with these types. Unknown fields are ignored.

// Of one file: a server that reports more reports about something else.
const MAX_DIAGNOSTICS = 2_000;
const MAX_PLACES = 2_000;

const position = z.object({ line: z.int().min(0), character: z.int().min(0) });
const range = z.object({ start: position, end: position });

const diagnostic = z.object({
  range,
  severity: z.int().optional(),
  code: z.union([z.string(), z.number()]).optional().catch(undefined),
  source: z.string().optional().catch(undefined),
  message: z.string(),
});

/** A diagnostic of the protocol; line and character count from 0. */
export type Diagnostic = z.infer<typeof diagnostic>;

/** Those of a list that are valid. */
export function readDiagnostics(value: unknown): Diagnostic[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, MAX_DIAGNOSTICS).flatMap((each: unknown) => {
    const read = diagnostic.safeParse(each);
    return read.success ? [read.data] : [];
  });
}

const publication = z.object({
  uri: z.string(),
  version: z.int().nullish(),
  diagnostics: z.array(z.unknown()),
});

/** The diagnostics of a file that a server publishes by itself. */
export interface Publication {
  path: string;
  /** Of the document; undefined if the server does not say. */
  version: number | undefined;
  diagnostics: Diagnostic[];
}

/** Undefined if it is invalid or of something else than a file. */
export function readPublication(params: unknown): Publication | undefined {
  const read = publication.safeParse(params);
  const path = read.success ? toPath(read.data.uri) : undefined;
  if (!read.success || path === undefined) return undefined;
  const { version, diagnostics } = read.data;
  return { path, version: version ?? undefined, diagnostics: readDiagnostics(diagnostics) };
}

const report = z.object({ kind: z.literal("full"), items: z.array(z.unknown()) });

/** The answer to a request for the diagnostics of a file; undefined if it is invalid. */
export function readReport(result: unknown): Diagnostic[] | undefined {
  const read = report.safeParse(result);
  return read.success ? readDiagnostics(read.data.items) : undefined;
}

const tsserverPosition = z.object({ line: z.int().min(1), offset: z.int().min(1) });
const tsserverAnswer = z.object({
  body: z.array(
    z.object({
      start: tsserverPosition,
      end: tsserverPosition,
      text: z.string(),
      code: z.number().optional(),
      category: z.string(),
    }),
  ),
});

/** The same from TypeScript's own server. */
export function readTsserverReport(result: unknown): Diagnostic[] | undefined {
  const read = tsserverAnswer.safeParse(result);
  if (!read.success) return undefined;
  return read.data.body.slice(0, MAX_DIAGNOSTICS).map(({ start, end, text, code, category }) => ({
    range: {
      start: { line: start.line - 1, character: start.offset - 1 },
      end: { line: end.line - 1, character: end.offset - 1 },
    },
    severity: category === "error" ? 1 : 2,
    ...(code !== undefined && { code }),
    source: "ts",
    message: text,
  }));
}

const initialized = z.object({
  capabilities: z.looseObject({
    diagnosticProvider: z.unknown().optional(),
    executeCommandProvider: z
      .object({ commands: z.array(z.string()) })
      .optional()
      .catch(undefined),
  }),
});

/** What a server offers, by the names of the protocol. */
export type Capabilities = z.infer<typeof initialized>["capabilities"];

/** Undefined if it is invalid. */
export function readCapabilities(result: unknown): Capabilities | undefined {
  const read = initialized.safeParse(result);
  return read.success ? read.data.capabilities : undefined;
}

const registrations = z.object({ registrations: z.array(z.object({ method: z.string() })) });

/** The methods that a server registers later. */
export function readRegistrations(params: unknown): string[] {
  const read = registrations.safeParse(params);
  return read.success ? read.data.registrations.map(({ method }) => method) : [];
}

const configuration = z.object({ items: z.array(z.unknown()).max(1_000) });

/** How many settings a server asks for. */
export function countSettings(params: unknown): number {
  const read = configuration.safeParse(params);
  return read.success ? read.data.items.length : 0;
}

/** A place in a file; line and column count from 1. */
export interface Place {
  path: string;
  line: number;
  column: number;
}

const location = z.union([
  z.object({ uri: z.string(), range }),
  z.object({ targetUri: z.string(), targetSelectionRange: range }),
]);

/** The places of an answer: one, several, or none. */
export function readPlaces(result: unknown): Place[] {
  const all = Array.isArray(result) ? result : result === null || result === undefined ? [] : [result];
  return all.slice(0, MAX_PLACES).flatMap((each: unknown) => {
    const read = location.safeParse(each);
    return read.success ? toPlaces(read.data) : [];
  });
}

function toPlaces(found: z.infer<typeof location>): Place[] {
  const [uri, at] = "uri" in found ? [found.uri, found.range] : [found.targetUri, found.targetSelectionRange];
  const path = toPath(uri);
  return path === undefined ? [] : [{ path, ...toLineAndColumn(at.start) }];
}

/** From 1, as people and the model count. */
export function toLineAndColumn({ line, character }: z.infer<typeof position>): {
  line: number;
  column: number;
} {
  return { line: line + 1, column: character + 1 };
}

const markup = z.union([z.string(), z.object({ value: z.string() })]);
const hover = z.object({ contents: z.union([markup, z.array(markup)]) });

/** The text of an answer about a name; empty if nothing was found. */
export function readHover(result: unknown): string {
  const read = hover.safeParse(result);
  if (!read.success) return "";
  const { contents } = read.data;
  const all = Array.isArray(contents) ? contents : [contents];
  return all
    .map((each) => (typeof each === "string" ? each : each.value))
    .join("\n\n")
    .trim();
}

/** A name that a file or the project defines. */
export interface FoundSymbol extends Place {
  name: string;
  /** Such as `function`. */
  kind: string;
  /** How many names it is inside of. */
  depth: number;
}

interface SymbolNode {
  name: string;
  kind: number;
  range?: z.infer<typeof range> | undefined;
  selectionRange?: z.infer<typeof range> | undefined;
  location?: { uri: string; range?: z.infer<typeof range> | undefined } | undefined;
  children?: unknown[] | undefined;
}

const symbolNode: z.ZodType<SymbolNode> = z.object({
  name: z.string(),
  kind: z.int(),
  range: range.optional(),
  selectionRange: range.optional(),
  location: z.object({ uri: z.string(), range: range.optional() }).optional(),
  children: z.array(z.unknown()).optional(),
});

const MAX_DEPTH = 20;

/** @param path the file that was asked about; undefined if each symbol says where it is. */
export function readSymbols(result: unknown, path: string | undefined, depth = 0): FoundSymbol[] {
  if (!Array.isArray(result) || depth > MAX_DEPTH) return [];
  return result.slice(0, MAX_PLACES).flatMap((each: unknown) => {
    const read = symbolNode.safeParse(each);
    if (!read.success) return [];
    const { name, kind, selectionRange, children, ...node } = read.data;
    const found = node.location ? toPath(node.location.uri) : path;
    const at = selectionRange ?? node.range ?? node.location?.range;
    if (found === undefined) return [];
    const place = at ? toLineAndColumn(at.start) : { line: 1, column: 1 };
    const own = { name, kind: SYMBOL_KINDS[kind - 1] ?? "symbol", depth, path: found, ...place };
    return [own, ...readSymbols(children, path, depth + 1)];
  });
}

// In the order of their numbers in the protocol, from 1.
const SYMBOL_KINDS: readonly string[] = [
  ...["file", "module", "namespace", "package", "class", "method", "property", "field", "constructor"],
  ...["enum", "interface", "function", "variable", "constant", "string", "number", "boolean", "array"],
  ...["object", "key", "null", "enum member", "struct", "event", "operator", "type parameter"],
];

const textEdit = z.object({ range, newText: z.string() });

/** A change of a text; line and character count from 0, in units of UTF-16. */
export type TextEdit = z.infer<typeof textEdit>;

const documentEdit = z.object({
  textDocument: z.object({ uri: z.string(), version: z.int().nullish() }),
  edits: z.array(textEdit),
});
const workspaceEdit = z.object({
  changes: z.record(z.string(), z.array(textEdit)).nullish(),
  documentChanges: z.array(z.unknown()).nullish(),
});

/** The changes that a server proposes for one file. */
export interface FileEdits {
  path: string;
  /** Of the document that they were computed from; undefined if the server does not say. */
  version: number | undefined;
  edits: TextEdit[];
}

/** A change of several files. */
export interface WorkspaceChanges {
  files: FileEdits[];
  /** True if it is invalid in part, or is more than changes of texts. */
  hasOtherChanges: boolean;
}

/** The changes of an answer; without any, the list is empty. */
export function readWorkspaceEdit(result: unknown): WorkspaceChanges {
  if (result === null || result === undefined) return { files: [], hasOtherChanges: false };
  const read = workspaceEdit.safeParse(result);
  if (!read.success) return { files: [], hasOtherChanges: true };
  const { changes, documentChanges } = read.data;
  // A server may give both for clients that know only the older form.
  const documents: unknown[] =
    documentChanges ??
    Object.entries(changes ?? {}).map(([uri, edits]) => ({ textDocument: { uri }, edits }));
  const files = new Map<string, FileEdits>();
  let hasOtherChanges = false;
  for (const each of documents) {
    const { data } = documentEdit.safeParse(each);
    const path = data && toPath(data.textDocument.uri);
    if (!data || path === undefined) {
      hasOtherChanges = true;
      continue;
    }
    const version = data.textDocument.version ?? undefined;
    const file = files.get(path) ?? { path, version, edits: [] };
    file.edits.push(...data.edits);
    if (file.edits.length > 0) files.set(path, file);
  }
  return { files: [...files.values()], hasOtherChanges };
}

/** The address of a file. */
export function toUri(path: string): string {
  return pathToFileURL(path).href;
}

/** Undefined for an address that is not a file's: servers write the same one in different ways. */
function toPath(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}
