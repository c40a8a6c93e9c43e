import { basename } from "node:path";
import type { ContentBlock, StopReason, Usage } from "../../../types.ts";
import { readRecords } from "./json-lines.ts";
import { type JsonRecord, numberOf, objectOf, objectsIn, textOf, timeOf } from "./json-value.ts";
import { ForeignTranscript } from "./transcript.ts";
import type { ForeignLocation, ForeignSession, ReadLimits } from "./types.ts";

/** A session of pi: a tree like ours, or in version 1 a list. The branch of its last entry is the conversation. */
export async function readPiSession(
  { path, size }: ForeignLocation,
  limits: ReadLimits,
  signal?: AbortSignal,
): Promise<ForeignSession | undefined> {
  const transcript = new ForeignTranscript("pi", limits);
  let header: JsonRecord | undefined;
  const entries: PiEntry[] = [];
  for await (const record of readRecords(path, { counter: transcript, limits, signal })) {
    if (record.type === "session") header ??= record;
    else entries.push(toPiEntry(record, entries));
  }
  if (!header && entries.length === 0) return undefined;
  const branch = selectBranch(entries, transcript);
  let name: string | undefined;
  for (const entry of branch) {
    if (entry.record.type === "session_info") name = textOf(entry.record.name) ?? name;
    else addEntry(entry, transcript);
  }
  const version = header?.version;
  return {
    agent: "pi",
    id: textOf(header?.id) ?? basename(path, ".jsonl"),
    path,
    size,
    version: typeof version === "number" ? `session format ${version}` : undefined,
    cwd: textOf(header?.cwd) ?? "",
    name,
    createdMs: timeOf(header?.timestamp) || (entries.find(({ at }) => at > 0)?.at ?? 0),
    items: transcript.finish(),
    skipped: transcript.skipped,
    children: [],
  };
}

interface PiEntry {
  id: string;
  parent: string | undefined;
  at: number;
  record: JsonRecord;
}

/** Entries of version 1 have no ids: their place in the file is used. */
function toPiEntry(record: JsonRecord, before: readonly PiEntry[]): PiEntry {
  const id = textOf(record.id) ?? `#${before.length}`;
  const isLinear = record.id === undefined;
  const parent = isLinear ? before.at(-1)?.id : textOf(record.parentId);
  return { id, parent, at: timeOf(record.timestamp), record };
}

function selectBranch(entries: readonly PiEntry[], transcript: ForeignTranscript): PiEntry[] {
  const positions = new Map(entries.map(({ id }, index) => [id, index]));
  const selected = new Set<number>();
  let at: number | undefined = entries.length - 1;
  while (at !== undefined && at >= 0 && !selected.has(at)) {
    selected.add(at);
    const parent: string | undefined = entries[at]?.parent;
    // A parent whose line is damaged: the entry before continues the conversation.
    at = parent === undefined ? undefined : (positions.get(parent) ?? at - 1);
  }
  return entries.filter((_, index) => {
    if (!selected.has(index)) transcript.skip("other_branch");
    return selected.has(index);
  });
}

function addEntry({ id, at, record }: PiEntry, transcript: ForeignTranscript): void {
  const type = textOf(record.type) ?? "unknown";
  switch (type) {
    case "message":
      addMessage({ id, at, message: objectOf(record.message) ?? {} }, transcript);
      return;
    case "compaction": {
      const { firstKeptEntryId, firstKeptEntryIndex, tokensBefore } = record;
      const index = typeof firstKeptEntryIndex === "number" ? `#${firstKeptEntryIndex}` : undefined;
      const keptKey = textOf(firstKeptEntryId) ?? index;
      const summary = textOf(record.summary) ?? "";
      transcript.compaction(at, { key: id, summary, keptKey, tokensBefore: numberOf(tokensBefore) });
      return;
    }
    case "branch_summary":
      transcript.branchSummary(at, textOf(record.summary) ?? "", id);
      return;
    case "model_change":
      transcript.model(at, textOf(record.provider) ?? "unknown", textOf(record.modelId) ?? "");
      return;
    case "label": {
      const target = textOf(record.targetId);
      const label = textOf(record.label);
      if (target !== undefined && label !== undefined) transcript.label(at, target, label);
      undefined;
      return;
    }
    case "custom_message":
      transcript.note(at, "extension", textOfContent(record.content));
      return;
    default:
      transcript.skip(type);
      return;
  }
}

const STOP_REASONS: Readonly<Record<string, StopReason>> = {
  stop: "end_turn",
  toolUse: "tool_use",
  length: "max_tokens",
  error: "error",
  aborted: "aborted",
};

function addMessage(
  { id, at, message }: { id: string; at: number; message: JsonRecord },
  transcript: ForeignTranscript,
): void {
  const time = timeOf(message.timestamp) || at;
  switch (message.role) {
    case "user":
      transcript.user(time, toBlocks(message.content, transcript), { key: id });
      return;
    case "assistant": {
      const blocks = toBlocks(message.content, transcript);
      if (blocks.length === 0) {
        transcript.skip("empty_reply");
        return;
      }
      const model = textOf(message.model) ?? "";
      transcript.model(time, textOf(message.provider) ?? "unknown", model);
      const stopReason = STOP_REASONS[textOf(message.stopReason) ?? ""];
      transcript.reply(time, { blocks, model, usage: toUsage(message.usage), stopReason, key: id });
      undefined;
      return;
    }
    case "toolResult":
      transcript.result(time, {
        toolCallId: textOf(message.toolCallId) ?? "",
        toolName: textOf(message.toolName),
        blocks: toBlocks(message.content, transcript),
        isError: message.isError === true,
      });
      return;
    case "bashExecution": {
      if (message.excludeFromContext === true) {
        transcript.skip("bashExecution");
        return;
      }
      const code = typeof message.exitCode === "number" ? ` Exit code: ${message.exitCode}.` : "";
      const lead = `The user ran this command in their own shell, not through you.${code} Its output:\n\n`;
      const texts = [`!${textOf(message.command) ?? ""}`, lead + (textOf(message.output) ?? "")];
      transcript.user(
        time,
        texts.map((text) => transcript.text(text)),
        { key: id },
      );
      return;
    }
    case "custom":
    case "hookMessage":
      transcript.note(time, "extension", textOfContent(message.content));
      return;
    case "branchSummary":
      transcript.branchSummary(time, textOf(message.summary) ?? "", id);
      return;
    default:
      transcript.skip(`message/${textOf(message.role) ?? "unknown"}`);
      return;
  }
}

function textOfContent(content: unknown): string {
  if (typeof content === "string") return content;
  return objectsIn(content)
    .flatMap(({ text }) => textOf(text) ?? [])
    .join("\n");
}

function toBlocks(content: unknown, transcript: ForeignTranscript): ContentBlock[] {
  if (typeof content === "string") return content.trim() === "" ? [] : [transcript.text(content)];
  return objectsIn(content).flatMap((block) => {
    switch (block.type) {
      case "text":
        return textOf(block.text)?.trim() ? [transcript.text(String(block.text))] : [];
      case "thinking":
        return [transcript.thinking(textOf(block.thinking) ?? "", block.thinkingSignature)];
      case "toolCall":
        return [transcript.call(textOf(block.id) ?? "", textOf(block.name) ?? "", block.arguments)];
      case "image":
        return [transcript.image(block.data ?? objectOf(block.source)?.data)];
      default:
        return [transcript.opaque(block)];
    }
  });
}

function toUsage(value: unknown): Usage | undefined {
  const usage = objectOf(value);
  return (
    usage && {
      inputTokens: numberOf(usage.input),
      outputTokens: numberOf(usage.output),
      cacheReadTokens: numberOf(usage.cacheRead),
      cacheWriteTokens: numberOf(usage.cacheWrite),
    }
  );
}
