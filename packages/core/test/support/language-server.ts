// A language server for tests: `bun language-server.ts BEHAVIOUR…`. In a text, `BAD(word)` is an error with the message
// "word is bad", also if another open document has `BREAKS(word)` and this one `USES(word)`.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";

const behaviours = process.argv.slice(2);
const has = (name: string) => behaviours.includes(name);
const settingOf = (name: string) =>
  behaviours.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);

interface Message {
  id?: number | string;
  method?: string;
  params?: Partial<Place>;
  result?: unknown;
}

const documents = new Map<string, { version: number; text: string }>();
const journal = settingOf("journal");
const note = (text: string) => {
  if (journal) appendFileSync(journal, `${text}\n`);
};

function send(message: object): void {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
}

function diagnose(text: string) {
  const broken = [...documents.values()].flatMap((other) =>
    [...other.text.matchAll(/BREAKS\((\w+)\)/g)].map((match) => match[1]),
  );
  return text.split("\n").flatMap((line, number) =>
    [...line.matchAll(/(BAD|USES)\((\w+)\)/g)].flatMap(({ 0: whole, 1: kind, 2: word, index }) =>
      kind === "USES" && !broken.includes(word)
        ? []
        : [
            {
              range: {
                start: { line: number, character: index },
                end: { line: number, character: index + whole.length },
              },
              severity: 1,
              code: 7,
              message: `${word} is bad`,
            },
          ],
    ),
  );
}

const delayMs = Number(settingOf("delay") ?? 0);
let calls = 0;

function publish(uri: string): void {
  const document = documents.get(uri);
  if (!document || has("silent")) return;
  const { version, text } = document;
  const shownVersion = has("unversioned") ? {} : { version: has("old-version") ? version - 1 : version };
  const answer = () => {
    if (documents.get(uri)?.version !== version) return;
    send({
      method: "textDocument/publishDiagnostics",
      params: { uri, ...shownVersion, diagnostics: diagnose(text) },
    });
  };
  setTimeout(answer, delayMs);
}

function publishAll(): void {
  if (has("pull")) return;
  for (const uri of documents.keys()) publish(uri);
}

function misbehave(uri: string): void {
  calls += 1;
  if (has("crash") && calls > 1) process.exit(3);
  if (has("other-files"))
    send({
      method: "textDocument/publishDiagnostics",
      params: { uri: "file:///etc/passwd", version: 1, diagnostics: diagnose("BAD(foreign)") },
    });
  if (has("stale"))
    send({
      method: "textDocument/publishDiagnostics",
      params: { uri, version: 1, diagnostics: diagnose("BAD(stale)") },
    });
  if (has("apply-edit"))
    send({
      id: `edit-${calls}`,
      method: "workspace/applyEdit",
      params: { edit: { changes: { [uri]: [], "file:///tmp/outside.txt": [] } } },
    });
  if (has("progress"))
    setInterval(
      () => send({ method: "$/progress", params: { token: 1, value: { kind: "report", message: "x" } } }),
      1,
    );
  if (has("flood")) {
    const line = JSON.stringify({
      jsonrpc: "2.0",
      method: "window/logMessage",
      params: { message: "x".repeat(1_000_000) },
    });
    const flood = () => {
      process.stdout.write(`Content-Length: ${line.length}\r\n\r\n${line}`);
      setImmediate(flood);
    };
    flood();
  }
  if (has("garbage")) process.stdout.write("x".repeat(10_000));
  if (has("huge")) process.stdout.write("Content-Length: 99999999999\r\n\r\n{");
  if (has("memory")) {
    const held = Buffer.alloc(300 * 1024 * 1024, 1);
    setInterval(() => note(`held ${held.length}`), 1_000);
  }
  const target = settingOf("write");
  if (target) {
    try {
      writeFileSync(target, "written by the server");
      note("wrote");
    } catch (error) {
      note(`refused ${error instanceof Error && "code" in error ? String(error.code) : ""}`);
    }
  }
}

interface Place {
  textDocument: { uri: string; version: number; text: string };
  contentChanges: { text: string }[];
  position: { line: number; character: number };
  newName: string;
  query: string;
}

const NOTHING: Place = {
  textDocument: { uri: "", version: 0, text: "" },
  contentChanges: [],
  position: { line: 0, character: 0 },
  newName: "",
  query: "",
};

/** The files of `rename=` (relative to the first one's directory) as the server has seen them first. */
const cached = new Map<string, string>();

/** Renames the word at a position in the files that the setting `rename` lists. */
function rename(uri: string, { line, character }: Place["position"], newName: string): unknown {
  const text = documents.get(uri)?.text.split("\n")[line] ?? "";
  const word = /^\w*/.exec(text.slice(character))?.[0] ?? "";
  const documentChanges: object[] = (settingOf("rename") ?? "").split(",").map((name) => {
    const target = new URL(name, uri).href;
    if (!cached.has(target)) cached.set(target, readFileSync(new URL(target), "utf8"));
    const open = documents.get(target);
    const lines = (open?.text ?? cached.get(target) ?? "").split("\n");
    const edits = lines.flatMap((content, number) =>
      [...content.matchAll(new RegExp(`\\b${word}\\b`, "g"))].map(({ index }) => ({
        range: {
          start: { line: number, character: index },
          end: { line: number, character: index + word.length },
        },
        newText: newName,
      })),
    );
    if (has("overlap")) edits.push(...edits);
    if (has("beyond")) for (const { range } of edits) range.end.line += 1_000;
    return { textDocument: { uri: target, version: open?.version ?? null }, edits };
  });
  if (has("create-file")) documentChanges.push({ kind: "create", uri: new URL("new.txt", uri).href });
  return { documentChanges };
}

// It has read the project at its start.
if (settingOf("rename") && settingOf("root"))
  for (const name of settingOf("rename")?.split(",") ?? []) {
    const target = new URL(name, `file://${settingOf("root")}/`);
    if (existsSync(target)) cached.set(target.href, readFileSync(target, "utf8"));
  }

/** Our own client sends exactly what the protocol says. */
function answer(method: string, { textDocument, position, newName, query }: Place): unknown {
  const at = { start: position, end: position };
  switch (method) {
    case "initialize":
      return {
        capabilities: {
          textDocumentSync: 1,
          ...(has("pull") && { diagnosticProvider: { interFileDependencies: true } }),
          definitionProvider: true,
          referencesProvider: true,
          hoverProvider: true,
          documentSymbolProvider: true,
          workspaceSymbolProvider: true,
          renameProvider: true,
        },
      };
    case "textDocument/diagnostic":
      return { kind: "full", items: diagnose(documents.get(textDocument.uri)?.text ?? "") };
    case "textDocument/definition":
      return has("lost") ? null : { uri: textDocument.uri, range: at };
    case "textDocument/references":
      return [
        { uri: textDocument.uri, range: at },
        { uri: "file:///usr/lib/outside.d.ts", range: at },
      ];
    case "textDocument/hover":
      return { contents: { kind: "markdown", value: `const word: string\u001b[31m ${position.character}` } };
    case "textDocument/documentSymbol":
      return [
        {
          name: "Thing",
          kind: 5,
          range: { start: { line: 0, character: 0 }, end: { line: 9, character: 0 } },
          selectionRange: { start: { line: 0, character: 6 }, end: { line: 0, character: 11 } },
          children: [
            {
              name: "act",
              kind: 6,
              range: { start: { line: 1, character: 2 }, end: { line: 1, character: 5 } },
              selectionRange: { start: { line: 1, character: 2 }, end: { line: 1, character: 5 } },
            },
          ],
        },
      ];
    case "workspace/symbol":
      return [
        {
          name: query,
          kind: 12,
          location: {
            uri: [...documents.keys()][0],
            range: { start: { line: 2, character: 0 }, end: { line: 2, character: 1 } },
          },
        },
      ];
    case "textDocument/rename":
      if (settingOf("rename")) return rename(textDocument.uri, position, newName);
      return {
        changes: {
          [textDocument.uri]: [{ range: at, newText: newName }],
          "file:///usr/lib/outside.d.ts": [{ range: at, newText: newName }],
        },
      };
    default:
      return undefined;
  }
}

function handle({ id, method, params, result }: Message): void {
  if (method === undefined) {
    note(`answer ${id} ${JSON.stringify(result)}`);
    return;
  }
  const given = { ...NOTHING, ...params };
  if (id !== undefined) {
    if (method === "initialize" && has("never-starts")) return;
    if (has("hang") && method !== "initialize" && calls > 1) return;
    const reply = answer(method, given);
    const outcome =
      reply === undefined ? { error: { code: -32601, message: `no ${method}` } } : { result: reply };
    const gate = method === "initialize" ? settingOf("gate") : undefined;
    const respond = () => {
      if (gate === undefined || existsSync(gate)) send({ id, ...outcome });
      else setTimeout(respond, 20);
    };
    respond();
    return;
  }
  if (method === "initialized") note("started");
  if (method === "textDocument/didOpen" || method === "textDocument/didChange") {
    const { uri, version, text } = given.textDocument;
    documents.set(uri, { version, text: given.contentChanges[0]?.text ?? text });
    note(`${method} ${version}`);
    misbehave(uri);
    publishAll();
  }
  if (method === "textDocument/didClose") documents.delete(given.textDocument.uri);
}

let buffer = Buffer.alloc(0);
process.stdin.on("data", (chunk: Buffer) => {
  buffer = Buffer.concat([buffer, chunk]);
  for (;;) {
    const end = buffer.indexOf("\r\n\r\n");
    if (end === -1) return;
    const length = Number(/Content-Length: (\d+)/.exec(buffer.subarray(0, end).toString())?.[1]);
    if (buffer.length < end + 4 + length) return;
    const message: Message = JSON.parse(buffer.subarray(end + 4, end + 4 + length).toString());
    buffer = buffer.subarray(end + 4 + length);
    handle(message);
  }
});
process.stdin.on("end", () => {
  if (!has("ignore-end")) process.exit(0);
});
if (has("ignore-term")) process.on("SIGTERM", () => {});
if (has("ignore-end")) setInterval(() => {}, 1_000);
