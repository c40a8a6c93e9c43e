import {
  findProjectRoot,
  findSession,
  forgetCheckpoints,
  homeDirectory,
  splitEntry,
} from "@diligent/core/light";
import {
  assertNever,
  type CompactionEntry,
  type ContentBlock,
  findLeafId,
  forgetSessionGrants,
  formatTodos,
  type Message,
  messageText,
  pathTo,
  type RequestEntry,
  readConversation,
  type SecretRedactor,
  type SessionEntry,
  type SessionInfo,
  toolCallsOf,
  type UserMessage,
} from "@diligent/core/run";
import {
  archiveSession,
  findEntryId,
  labelSessionEntry,
  listSessions,
  listUnreadableSessions,
  readLabels,
  readSessionFile,
  removeSession,
  renameSession,
  type SessionFile,
} from "@diligent/core/sessions";
import { isSubcommandWord } from "../arguments/subcommands.ts";
import { EXIT_SUCCESS, orUsageError, UsageError } from "../errors.ts";
import type { CliIo } from "../io/io.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { openMaskingRedactor } from "../session/saved-secrets.ts";
import { SESSION_FORMATTER } from "../session/session-formatter.ts";
import { formatLocalMinute, formatMessageCount, toJsonText } from "../text/format.ts";
import { sanitizeTerminalText, toSingleLine } from "../text/terminal-text.ts";
import { firstLines, moreLines } from "../tui/text.ts";
import { askYesNo, readSubcommandArguments, unknownAction } from "./arguments.ts";
import { projectSessionsDir, runList } from "./list.ts";

/**
 * @param directory as given with `-C`.
 * @throws UsageError for an unknown action, session or entry, and for file system errors.
 */
export async function runSessions(rest: readonly string[], io: CliIo, directory?: string): Promise<number> {
  const { words, switches, values } = readSubcommandArguments("sessions", rest);
  const [action = "list", reference, ...more] = words;
  const isJson = switches.has("json");
  const areArchivedShown = switches.has("archived");
  if (!isSubcommandWord("sessions", action)) throw unknownAction("sessions", action);
  if (action === "list") return runList({ directory, isJson, areArchivedShown }, io);
  const cwd = resolveDirectory(directory, io.cwd);
  if (action === "find") {
    const text = [reference ?? "", ...more].join(" ").trim();
    const { findSessions } = await import("./find-sessions.ts");
    return findSessions({ text, cwd, isJson, areArchivedShown, isEverywhere: switches.has("all") }, io);
  }
  if (reference === undefined)
    throw new UsageError(`sessions ${action} needs a REF, such as 1 (see diligent --list)`);
  const sessionsDir = projectSessionsDir(cwd, io);
  const redactor = await openMaskingRedactor(cwd, io.environment);
  const sessions = await listSessions(sessionsDir, { redactor });
  const find = (wanted: string) =>
    findSession(sessions, redactor.redact(wanted), {
      listUnreadable: () => listUnreadableSessions(sessionsDir),
      areArchivedNumbered: true,
      formatter: SESSION_FORMATTER,
    });
  switch (action) {
    case "show": {
      const shown = { isFull: switches.has("full"), isOutline: switches.has("entries"), isJson };
      return showSession(find(reference), { ...shown, redactor }, io);
    }
    case "compact": {
      const { compactSession } = await import("../session/compact-session.ts");
      const focus = more.join(" ").trim() || undefined;
      const { id } = find(reference);
      return compactSession({ reference: id, focus, isJson, model: values.get("model"), directory }, io);
    }
    case "name":
      return nameSession(find(reference), { name: more.join(" ").trim(), redactor }, io);
    case "archive":
    case "unarchive":
      return moveToArchive(find(reference), action === "archive", io);
    case "label": {
      const { reference: wanted, entry } = splitEntry(reference, sessions);
      if (entry === undefined)
        throw new UsageError(
          `sessions label ${redactor.redact(reference)}: needs REF@ENTRY; ENTRY is an id of 8 hexadecimal digits or a label: see diligent sessions show REF --entries`,
        );
      const session = find(wanted);
      const entryId = await orUsageError(() => findEntryId(readSessionFile(session.path), entry));
      return labelEntry(session, { entryId, label: more.join(" ").trim(), redactor }, io);
    }
    case "rm": {
      const session = find(reference);
      const isDeleted = await deleteSession(session, switches.has("yes"), io);
      const root = findProjectRoot(cwd, homeDirectory(io.environment));
      if (!isDeleted) return EXIT_SUCCESS;
      const { environment } = io;
      await forgetCheckpoints({ root, environment, sessionId: session.id });
      await orUsageError(() => forgetSessionGrants(environment, session.id));
      return EXIT_SUCCESS;
    }
  }
}

function write(io: CliIo, text: string): number {
  io.stdout.write(sanitizeTerminalText(text));
  return EXIT_SUCCESS;
}

async function nameSession(
  session: SessionInfo,
  { name, redactor }: { name: string; redactor: SecretRedactor },
  io: CliIo,
): Promise<number> {
  if (name === "") throw new UsageError(`sessions name ${session.id} needs a name`);
  await orUsageError(() => renameSession(session, name, { redactor }));
  return write(io, `${session.id} renamed to ${toSingleLine(redactor.redact(name), 60)}\n`);
}

async function moveToArchive(session: SessionInfo, isArchived: boolean, io: CliIo): Promise<number> {
  const isAlready = (session.archived ?? false) === isArchived;
  if (!isAlready) await orUsageError(() => archiveSession(session, isArchived));
  const how = isAlready ? " already" : "";
  const state = isArchived ? `is${how} archived` : `is${how || " again"} in the list`;
  return write(io, `${session.id} ${state}: ${previewOf(session)}\n`);
}

async function labelEntry(
  session: SessionInfo,
  { entryId, label, redactor }: { entryId: string; label: string; redactor: SecretRedactor },
  io: CliIo,
): Promise<number> {
  await orUsageError(() => labelSessionEntry(session, entryId, label, { redactor }));
  const what = `${entryId} of ${session.id}`;
  const said =
    label === ""
      ? `${what} has no label now`
      : `${what} is now labelled ${toSingleLine(redactor.redact(label), 60)}`;
  return write(io, `${said}\n`);
}

function previewOf({ name, firstUserMessage }: SessionInfo): string {
  return toSingleLine(name ?? firstUserMessage ?? "", 60);
}

async function deleteSession(session: SessionInfo, isSure: boolean, io: CliIo): Promise<boolean> {
  const what = `session ${session.id} of ${formatLocalMinute(session.modified)}: ${previewOf(session)} (${formatMessageCount(session.messageCount)})`;
  if (!isSure && !(await askYesNo(`Delete ${what}? This cannot be undone.`, io))) {
    write(io, "Nothing deleted.\n");
    return false;
  }
  await orUsageError(() => removeSession(session));
  write(io, `Deleted ${what}\n`);
  return true;
}

const MAX_OUTLINE_COLUMNS = 100;
const MAX_LABEL_COLUMNS = 60;

/** How much of the session is printed, and how. */
interface ShowOptions {
  /** The whole branch as stored, instead of what the model sees. */
  isFull: boolean;
  /** Every entry of every branch, one line each. */
  isOutline: boolean;
  isJson: boolean;
  /** Masks keys that an older file holds. */
  redactor: SecretRedactor;
}

/** Prints the conversation that `--continue` would continue. */
function showSession(
  { path, created }: SessionInfo,
  { isFull, isOutline, isJson, redactor }: ShowOptions,
  io: CliIo,
): number {
  const file = readSessionFile(path, { redactor });
  if (isOutline) {
    const outline = outlineOf(file);
    // JSON escapes control characters itself.
    io.stdout.write(isJson ? toJsonText(outline) : sanitizeTerminalText(formatOutline(outline)));
    return EXIT_SUCCESS;
  }
  // JSON escapes control characters itself, without changing the value.
  if (isJson) io.stdout.write(toJsonText(isFull ? fullEntries(file) : seenMessages(file)));
  else {
    const title = `Session ${file.header.id} of ${formatLocalMinute(created)} in ${file.header.cwd}`;
    io.stdout.write(sanitizeTerminalText(`${title}\n`));
    const parts = isFull ? branchOf(file).map(formatEntry) : seenMessages(file).messages.map(formatMessage);
    // One by one: a long session as one string would be in memory several times.
    for (const part of parts) io.stdout.write(sanitizeTerminalText(`\n${part}\n`));
  }
  return EXIT_SUCCESS;
}

function seenMessages(file: SessionFile) {
  return { header: file.header, messages: readConversation(file).messages };
}

/** The entries of the branch as stored. */
function fullEntries(file: SessionFile): object[] {
  return branchOf(file).map((entry) => (entry.type === "unknown" ? entry.raw : entry));
}

function branchOf({ entries }: SessionFile) {
  return pathTo(entries, findLeafId(entries));
}

/** An entry, abbreviated. */
interface OutlinedEntry {
  id: string;
  parentId: string | null;
  type: string;
  role?: string;
  /** ISO 8601. */
  timestamp: string;
  text: string;
  label?: string;
  /** It is on the branch that would be continued. */
  isOnBranch: boolean;
}

function outlineOf(file: SessionFile): OutlinedEntry[] {
  const onBranch = new Set(branchOf(file));
  const labels = readLabels(file.entries);
  return file.entries.map((entry) => {
    const { id, parentId, timestamp } = entry;
    const label = labels.get(id);
    return {
      id,
      parentId,
      type: entry.type === "unknown" ? String(entry.raw.type) : entry.type,
      ...(entry.type === "message" && { role: entry.message.role }),
      timestamp,
      text: outlineText(entry),
      ...(label !== undefined && { label }),
      isOnBranch: onBranch.has(entry),
    };
  });
}

function outlineText(entry: SessionEntry): string {
  if (entry.type !== "message")
    return toSingleLine(withoutMark(formatEntry(entry), entry.id), MAX_OUTLINE_COLUMNS);
  const { message } = entry;
  const text = message.role === "tool_result" ? message.output : messageText(message);
  const calls = message.role === "assistant" ? toolCallsOf(message).map(({ name }) => `[${name}]`) : [];
  return toSingleLine([text, ...calls].join(" ").trim(), MAX_OUTLINE_COLUMNS);
}

/** Here an entry's text is just a heading. */
function withoutMark(text: string, id: string): string {
  const [heading = ""] = text.split("\n");
  return heading.replace(/^--- | ---$/g, "").slice(id.length + 1);
}

function formatOutline(entries: readonly OutlinedEntry[]): string {
  const kinds = entries.map(({ type, role }) => role ?? type);
  const width = Math.max(0, ...kinds.map((kind) => kind.length));
  const lines = entries.map(({ id, text, label, isOnBranch }, index) => {
    const mark = label === undefined ? "" : ` [${toSingleLine(label, MAX_LABEL_COLUMNS)}]`;
    return `${isOnBranch ? "●" : "○"} ${id} ${(kinds[index] ?? "").padEnd(width)}${mark} ${text}`.trimEnd();
  });
  return lines.map((line) => `${line}\n`).join("");
}

const SHOWN_OUTPUT_LINES = 10;
const MAX_TITLE_COLUMNS = 200;

/** A message, abbreviated: its text, its calls, and the beginning of each result. */
function formatMessage(message: Message): string {
  switch (message.role) {
    case "user":
      return quoteUser(message);
    case "assistant": {
      const calls = message.content.flatMap((block) =>
        block.type === "tool_call" ? [formatBlock(block)] : [],
      );
      return [messageText(message), ...calls].filter((part) => part !== "").join("\n");
    }
    case "tool_result": {
      const lines = message.output.split("\n");
      const { shown, hidden } = firstLines(lines, SHOWN_OUTPUT_LINES);
      return indent([...shown, ...moreLines(hidden)].join("\n"));
    }
  }
}

/** A model of a compatible server has its provider in its id. */
function modelOf({ provider, modelId }: { provider: string; modelId: string }): string {
  return modelId.startsWith(`${provider}/`) ? modelId : `${provider}/${modelId}`;
}

/** A whole entry, under a line that starts with its id. */
function formatEntry(entry: SessionEntry): string {
  switch (entry.type) {
    case "message":
      return `${toTitle(`${entry.id} ${messageTitle(entry.message)}`)}\n${fullText(entry.message)}`.trimEnd();
    case "compaction":
      return `${mark(entry.id, compactionTitle(entry))}\n${indent(entry.summary)}`;
    case "prune":
      return mark(
        entry.id,
        `prune: ${countResults(entry.cleared)} cleared, ${countResults(entry.trimmed)} trimmed for the model`,
      );
    case "compaction_undo":
      return mark(entry.id, `compaction ${entry.targetId} undone`);
    case "branch_summary":
      return `${mark(entry.id, `summary of the branch ending in ${entry.fromId}`)}\n${indent(entry.summary)}`;
    case "model_change":
      return mark(entry.id, `model: ${modelOf(entry)}`);
    case "session_info":
      return mark(entry.id, `name: ${entry.name ?? "(none)"}`);
    case "label":
      return mark(entry.id, `label on ${entry.targetId}: ${entry.label ?? "(none)"}`);
    case "pin":
      return mark(entry.id, `${entry.targetId} ${entry.pinned ? "pinned" : "unpinned"}`);
    case "settings":
      return mark(entry.id, `thinking: ${entry.effort ?? "(not chosen)"}`);
    case "archive":
      return mark(entry.id, entry.archived ? "archived" : "no longer archived");
    case "todo":
      return [mark(entry.id, "checklist"), indent(formatTodos(entry.todos))].join("\n").trimEnd();
    case "task_link":
      return mark(entry.id, `sub-agent ${entry.agent}: session ${entry.sessionId}`);
    case "rule_violation":
      return mark(entry.id, `rule ${entry.name} (${entry.source}:${entry.line}) refused a call`);
    case "hook":
      return mark(entry.id, `hook ${entry.event}: ${entry.command} (${entry.outcome})`);
    case "request":
      return mark(entry.id, describeRequest(entry));
    case "custom":
      return mark(entry.id, `${entry.customType}: ${JSON.stringify(entry.data)}`);
    case "unknown":
      return mark(entry.id, `${String(entry.raw.type)}, unknown to this version`);
    default:
      return assertNever(entry);
  }
}

function describeRequest({ modelId, purpose, usage, cost }: RequestEntry): string {
  const input = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  const what = purpose === undefined ? "request" : `request (${purpose})`;
  const price = cost === null ? "price unknown" : `$${cost.toFixed(4)}`;
  return `${what} to ${modelId}: ${input} tokens in, ${usage.outputTokens} out, ${price}`;
}

function mark(id: string, text: string): string {
  return `--- ${toTitle(`${id} ${text}`)} ---`;
}

function compactionTitle({ tokensBefore, tokensAfter, firstKeptEntryId }: CompactionEntry): string {
  return `compaction: ${tokensBefore} → ${tokensAfter} tokens; the model sees this summary and everything from ${firstKeptEntryId} on`;
}

function countResults(ids: readonly string[]): string {
  return ids.length === 1 ? "1 result" : `${ids.length} results`;
}

function messageTitle(message: Message): string {
  switch (message.role) {
    case "user":
      return "user";
    case "assistant":
      return `assistant (${[message.model, ...endOf(message.stopReason)].join(", ")})`;
    case "tool_result":
      return `result of ${message.toolName}${message.isError ? " (error)" : ""}`;
  }
}

/** Shown if a reply did not end normally. */
function endOf(stopReason: string): string[] {
  return stopReason === "end_turn" || stopReason === "tool_use" ? [] : [stopReason];
}

function fullText(message: Message): string {
  switch (message.role) {
    case "user":
      return quoteUser(message);
    case "assistant":
      return formatBlocks(message.content);
    case "tool_result":
      return indent([message.output, ...(message.images ?? []).map(formatBlock)].join("\n"));
  }
}

function formatBlocks(blocks: readonly ContentBlock[]): string {
  return blocks
    .map(formatBlock)
    .filter((part) => part !== "")
    .join("\n");
}

function formatBlock(block: ContentBlock): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "thinking":
      return block.thinking === "" ? "" : `[thinking]\n${indent(block.thinking)}`;
    case "tool_call":
      return `[${block.name}] ${block.invalidInput ?? JSON.stringify(block.input)}`;
    case "image":
      return `[image ${block.source.mediaType}]`;
    case "opaque":
      return `[a part only ${block.provider} can read]`;
    default:
      return assertNever(block);
  }
}

function quoteUser({ content }: UserMessage): string {
  const text = typeof content === "string" ? content : formatBlocks(content);
  return `> ${text.replaceAll("\n", "\n> ")}`;
}

function indent(text: string): string {
  return `  ${text.replaceAll("\n", "\n  ")}`;
}

/** Text from others must not look like several entries. */
function toTitle(text: string): string {
  return toSingleLine(text, MAX_TITLE_COLUMNS);
}
