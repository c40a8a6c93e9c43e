import { extname } from "node:path";
import { canAsk, type DiagnosticSource, diagnose, type SentDocument } from "./diagnose.ts";
import { toUri } from "./messages.ts";
import { compareProblems, type Problem, toProblems } from "./problems.ts";

/** A file that a call has changed, with its text before (undefined for a new file) and now. */
export interface TextChange {
  path: string;
  before: string | undefined;
  after: string;
}

/** The errors of one file that changes have brought. */
export interface FileProblems {
  path: string;
  problems: readonly Problem[];
}

interface OpenDocument extends SentDocument {
  text: string;
  /** The errors that are no news: those before the first change, and those that were reported. Undefined: not known. */
  known: Problem[] | undefined;
  /** Those that were there when it was last compared. */
  current: Problem[];
  /** The new ones that were not reported yet. */
  added: Problem[];
  /** True if its current text was not compared yet. */
  isPending: boolean;
}

// A server keeps each of them in memory.
const MAX_OPEN = 32;
// Files that a change elsewhere may have broken.
const MAX_OTHERS = 8;
// Where the errors before a change are not known, those after it cannot be compared.
const BASELINE_MS = 20_000;
const CHECK_MS = 20_000;

/**
 * The documents that one server has open. Changes are compared in rounds: the texts before, then all changes, then what
 * is new. What a round finds is valid for the files as they were sent in it, and is not kept for later.
 */
export class OpenDocuments {
  private readonly documents = new Map<string, OpenDocument>();

  constructor(private readonly source: DiagnosticSource) {}

  has(path: string): boolean {
    return this.documents.has(path);
  }

  /** The text that the server has of a file. */
  textOf(path: string): string | undefined {
    return this.documents.get(path)?.text;
  }

  get paths(): string[] {
    return [...this.documents.keys()];
  }

  /** Opens a document, or gives the server its current text; nothing is compared. */
  show(path: string, text: string): SentDocument {
    const document = this.documents.get(path);
    if (!document) return this.open(path, text, undefined);
    if (document.text !== text) this.send(document, text);
    return document;
  }

  close(path: string): void {
    const document = this.documents.get(path);
    if (!document) return;
    this.documents.delete(path);
    this.source.publications.forget(path);
    this.source.connection.notify("textDocument/didClose", { textDocument: { uri: document.uri } });
  }

  /**
   * Sends changes to the server and finds out which errors they have brought, in these files and in others that are open.
   * @param signal aborted when newer changes wait: these are then compared together with them.
   * @returns true if all of them are known now.
   */
  async compare(changes: readonly TextChange[], signal: AbortSignal): Promise<boolean> {
    await this.openBefore(changes);
    for (const { path, after } of changes) {
      const document = this.documents.get(path) ?? this.open(path, after, []);
      this.documents.delete(path);
      this.documents.set(path, document);
      if (document.text !== after) this.send(document, after);
      document.isPending = true;
    }
    const { connection, publications } = this.source;
    const mark = publications.mark();
    const watched = changes.map(({ path, before }) => ({
      uri: toUri(path),
      type: before === undefined ? 1 : 2,
    }));
    connection.notify("workspace/didChangeWatchedFiles", { changes: watched });
    const pending = [...this.documents.values()].filter(({ isPending }) => isPending);
    const others = this.selectOthers();
    const limits = { timeoutMs: CHECK_MS, signal };
    const [compared] = await Promise.all([
      Promise.all(pending.map((document) => this.check(document, limits))),
      Promise.all(others.map((document) => this.check(document, limits))),
    ]);
    for (const document of this.documents.values()) {
      const published = publications.since(document.path, mark);
      if (!pending.includes(document) && !others.includes(document) && published)
        this.keep(document, toProblems(published, document.text));
    }
    this.closeOldest();
    return !signal.aborted && compared.every(Boolean);
  }

  /** The new errors of all files that are compared; they are known from then on. */
  takeAdded(): FileProblems[] {
    const all = [...this.documents.values()].reverse();
    return all.flatMap((document) => {
      const { path, added, isPending } = document;
      if (isPending || added.length === 0) return [];
      document.known = document.current;
      document.added = [];
      return [{ path, problems: added }];
    });
  }

  /** All errors of a file as it was sent; undefined if the server does not say. */
  async problemsOf(
    path: string,
    limits: { timeoutMs: number; signal: AbortSignal },
  ): Promise<Problem[] | undefined> {
    const document = this.documents.get(path);
    if (!document) return undefined;
    // Those that publish do so after a change only.
    if (!canAsk(this.source)) this.send(document, document.text);
    const found = await diagnose(this.source, document, limits);
    return found && toProblems(found, document.text);
  }

  /** Sends files that are changed for the first time as they were before, to learn which errors they had. */
  private async openBefore(changes: readonly TextChange[]): Promise<void> {
    const opened = changes.flatMap(({ path, before }) => {
      const document = this.documents.get(path);
      if (before === undefined || document?.known) return [];
      if (!document) return [this.open(path, before, undefined)];
      this.send(document, before);
      return [document];
    });
    await Promise.all(
      opened.map(async (document) => {
        const limits = { timeoutMs: BASELINE_MS, signal: new AbortController().signal };
        const found = await diagnose(this.source, document, limits);
        document.known = found && toProblems(found, document.text);
      }),
    );
  }

  private open(path: string, text: string, known: Problem[] | undefined): OpenDocument {
    const uri = toUri(path);
    const document: OpenDocument = {
      ...{ path, uri, text, version: 1 },
      ...{ known, current: [], added: [], isPending: false },
    };
    this.documents.set(path, document);
    this.source.connection.notify("textDocument/didOpen", {
      textDocument: { uri, languageId: toLanguageId(path), version: 1, text },
    });
    return document;
  }

  private send(document: OpenDocument, text: string): void {
    document.text = text;
    document.version += 1;
    const { uri, version } = document;
    this.source.connection.notify("textDocument/didChange", {
      textDocument: { uri, version },
      contentChanges: [{ text }],
    });
  }

  /** Files that were not changed now: those with errors that were not reported, and those changed last. */
  private selectOthers(): OpenDocument[] {
    const idle = [...this.documents.values()].filter(({ isPending }) => !isPending).reverse();
    const isAsked = canAsk(this.source);
    const others = idle.filter(({ added }) => isAsked || added.length > 0).slice(0, MAX_OTHERS);
    // A server that publishes does so for a new version.
    if (!isAsked) for (const document of others) this.send(document, document.text);
    return others;
  }

  private async check(
    document: OpenDocument,
    limits: { timeoutMs: number; signal: AbortSignal },
  ): Promise<boolean> {
    const { version } = document;
    const found = await diagnose(this.source, document, limits);
    if (!found || document.version !== version || limits.signal.aborted) {
      document.isPending = true;
      return false;
    }
    this.keep(document, toProblems(found, document.text));
    return true;
  }

  private keep(document: OpenDocument, problems: Problem[]): void {
    // Where those before the change are not known, none can be called new.
    const { kept, added } = compareProblems(document.known ?? problems, problems);
    document.known = kept;
    document.current = problems;
    document.added = added;
    document.isPending = false;
  }

  private closeOldest(): void {
    for (const { path, isPending } of this.documents.values()) {
      if (this.documents.size <= MAX_OPEN) return;
      if (!isPending) this.close(path);
    }
  }
}

const LANGUAGE_IDS: Readonly<Record<string, string>> = {
  ts: "typescript",
  mts: "typescript",
  cts: "typescript",
  tsx: "typescriptreact",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "javascriptreact",
  py: "python",
  pyi: "python",
  rs: "rust",
  yml: "yaml",
  htm: "html",
};

function toLanguageId(path: string): string {
  const extension = extname(path).slice(1).toLowerCase();
  return LANGUAGE_IDS[extension] ?? extension;
}
