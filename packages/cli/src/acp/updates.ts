import { resolve } from "node:path";
import type {
  ContentBlock as AcpContent,
  SessionUpdate,
  ToolCallContent,
  ToolCallLocation,
  ToolKind,
} from "@agentclientprotocol/sdk";
import type { AgentEvent, ContentBlock, SessionEntry, TodoItem, Usage } from "@diligent/core/run";

/** What the updates of one session need to know. */
export interface UpdateContext {
  /** Absolute: the protocol has no relative paths. */
  cwd: string;
  /** In tokens, of the model of the next request. */
  contextWindow(): number;
  /** The text of a file now; undefined for a missing file and for one that is too large to show. */
  textOf(path: string): string | undefined;
}

const KINDS: Readonly<Record<string, ToolKind>> = {
  read: "read",
  edit: "edit",
  write: "edit",
  apply_patch: "edit",
  bash: "execute",
  job_output: "execute",
  job_kill: "execute",
  grep: "search",
  glob: "search",
  ls: "search",
  recall: "search",
  lsp: "search",
  web_fetch: "fetch",
  todo: "think",
};

// The texts of their files are in no argument.
const SHOWN_AS_DIFF: ReadonlySet<string> = new Set(["apply_patch", "lsp"]);

/** How a call appears in the editor. */
export interface ShownCall {
  title: string;
  kind: ToolKind;
  locations: ToolCallLocation[];
  content: ToolCallContent[];
}

/**
 * Describes a call by its name and arguments.
 * @param textOf the texts of files before the call; left out for a call of the past.
 */
export function describeCall(
  toolName: string,
  input: unknown,
  { cwd, textOf }: Pick<UpdateContext, "cwd"> & Partial<UpdateContext>,
): ShownCall {
  const values = new Map<string, unknown>(
    typeof input === "object" && input !== null ? Object.entries(input) : [],
  );
  const about = ["command", "file_path", "pattern", "url", "path", "description", "query"]
    .map((name) => values.get(name))
    .find((value) => typeof value === "string" && value !== "");
  const path = values.get("file_path") ?? values.get("path");
  const line = values.get("offset");
  const place = typeof path === "string" && !path.includes("\0") ? resolve(cwd, path) : undefined;
  const isCommand = toolName === "bash" && typeof about === "string";
  return {
    title: isCommand ? `${about}` : about === undefined ? toolName : `${toolName}: ${about}`,
    kind: toolName === "lsp" && values.get("action") === "rename" ? "edit" : (KINDS[toolName] ?? "other"),
    locations:
      place === undefined
        ? findPatched(values.get("patch")).map((path) => ({ path: resolve(cwd, path) }))
        : [{ path: place, ...(isLine(line) && { line }) }],
    content: place === undefined ? [] : toDiffs(toolName, values, { path: place, textOf }),
  };
}

/** The files that a patch names, as it names them. */
function findPatched(patch: unknown): string[] {
  if (typeof patch !== "string") return [];
  const names = patch.matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm);
  return [...new Set(Array.from(names, ([, name = ""]) => name.trim()))].filter(
    (name) => !name.includes("\0"),
  );
}

function isLine(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1;
}

/** The changes of `edit` and `write`, as far as the arguments say. */
function toDiffs(
  toolName: string,
  values: ReadonlyMap<string, unknown>,
  { path, textOf }: { path: string; textOf: UpdateContext["textOf"] | undefined },
): ToolCallContent[] {
  const content = values.get("content");
  if (toolName === "write" && typeof content === "string")
    return [{ type: "diff", path, oldText: textOf?.(path) ?? null, newText: content }];
  if (toolName !== "edit") return [];
  const edits = values.get("edits");
  const replacements: unknown[] =
    Array.isArray(edits) && edits.length > 0 ? edits : [Object.fromEntries(values)];
  return replacements.flatMap((each) => {
    const { old_string: oldText, new_string: newText } = Object(each);
    return typeof oldText === "string" && typeof newText === "string"
      ? [{ type: "diff" as const, path, oldText, newText }]
      : [];
  });
}

function text(value: string): ToolCallContent[] {
  return value === "" ? [] : [{ type: "content", content: { type: "text", text: value } }];
}

/** True if the changes are sent with the call: what its end says must not replace them. */
function sendsDiffs(toolName: string): boolean {
  return toolName === "edit" || toolName === "write";
}

/** Turns the events of a session into updates of the protocol. */
export class SessionUpdates {
  /** Of the whole session since it was opened, in US dollars; null once a price is unknown. */
  private cost: number | null = 0;

  constructor(private readonly context: UpdateContext) {}

  /** The updates for one event, in order; most events have one or none. */
  toUpdates(event: AgentEvent): SessionUpdate[] {
    switch (event.type) {
      case "message_delta": {
        const { delta, itemId } = event;
        if (delta.type === "tool_call_delta" || delta.delta === "") return [];
        const sessionUpdate = delta.type === "text_delta" ? "agent_message_chunk" : "agent_thought_chunk";
        return [{ sessionUpdate, messageId: itemId, content: { type: "text", text: delta.delta } }];
      }
      case "tool_start":
        return [this.toToolCall(event.toolCallId, event.toolName, event.input, "in_progress", this.context)];
      case "tool_update":
        return [
          {
            sessionUpdate: "tool_call_update",
            toolCallId: event.toolCallId,
            ...(event.input && { rawInput: event.input }),
            ...(event.partialResult !== "" && { content: text(event.partialResult) }),
          },
        ];
      case "tool_end": {
        const { toolCallId, toolName, output, isError, input, metadata } = event;
        const diff = SHOWN_AS_DIFF.has(toolName) && !isError ? metadata?.diff : undefined;
        return [
          {
            sessionUpdate: "tool_call_update",
            toolCallId,
            status: isError ? "failed" : "completed",
            ...((isError || !sendsDiffs(toolName)) && {
              content: text(typeof diff === "string" ? diff : output),
            }),
            ...(input && { rawInput: input }),
            rawOutput: {
              output,
              ...(typeof metadata?.exitCode === "number" && { exitCode: metadata.exitCode }),
            },
          },
        ];
      }
      case "todo":
        return [{ sessionUpdate: "plan", entries: toPlan(event.todos) }];
      case "usage":
        return this.addUsage(event);
      case "notice":
        return event.level === "info"
          ? []
          : [
              {
                sessionUpdate: "agent_thought_chunk",
                content: { type: "text", text: `[${event.level}] ${event.message}\n` },
              },
            ];
      default:
        return [];
    }
  }

  /** The conversation so far, for an editor that opens the session. */
  replay(entries: readonly SessionEntry[]): SessionUpdate[] {
    return entries.flatMap((entry): SessionUpdate[] => {
      if (entry.type === "todo") return [{ sessionUpdate: "plan" as const, entries: toPlan(entry.todos) }];
      if (entry.type !== "message") return [];
      const { message, id: messageId } = entry;
      if (message.role === "tool_result") {
        const { toolCallId, output, isError, toolName } = message;
        const status = isError ? ("failed" as const) : ("completed" as const);
        const isShown = isError || !sendsDiffs(toolName);
        return [
          {
            sessionUpdate: "tool_call_update" as const,
            toolCallId,
            status,
            ...(isShown && { content: text(output) }),
            rawOutput: { output },
          },
        ];
      }
      const blocks =
        typeof message.content === "string"
          ? [{ type: "text" as const, text: message.content }]
          : message.content;
      return blocks.flatMap((block) => this.toReplayed(block, message.role, messageId));
    });
  }

  private toReplayed(block: ContentBlock, role: "user" | "assistant", messageId: string): SessionUpdate[] {
    if (block.type === "tool_call")
      return [this.toToolCall(block.id, block.name, block.input, "pending", { cwd: this.context.cwd })];
    if (block.type === "thinking") {
      const content = { type: "text" as const, text: block.thinking };
      return block.thinking === "" ? [] : [{ sessionUpdate: "agent_thought_chunk", messageId, content }];
    }
    const content = toAcpContent(block);
    if (!content) return [];
    const sessionUpdate = role === "user" ? "user_message_chunk" : "agent_message_chunk";
    return [{ sessionUpdate, messageId, content }];
  }

  private toToolCall(
    toolCallId: string,
    toolName: string,
    input: unknown,
    status: "pending" | "in_progress",
    context: Parameters<typeof describeCall>[2],
  ): SessionUpdate {
    const shown = describeCall(toolName, input, context);
    return { sessionUpdate: "tool_call", toolCallId, name: toolName, status, ...shown, rawInput: input };
  }

  private addUsage({
    usage,
    cost,
    purpose,
  }: {
    usage: Usage;
    cost: number | null;
    purpose?: string;
  }): SessionUpdate[] {
    this.cost = this.cost === null || cost === null ? null : this.cost + cost;
    // A request outside the conversation says nothing about its size.
    if (purpose !== undefined) return [];
    const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
    return [
      {
        sessionUpdate: "usage_update",
        used: inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens,
        size: this.context.contextWindow(),
        ...(this.cost !== null && { cost: { amount: this.cost, currency: "USD" } }),
      },
    ];
  }
}

function toAcpContent(block: ContentBlock): AcpContent | undefined {
  if (block.type === "text") return block.text === "" ? undefined : { type: "text", text: block.text };
  if (block.type !== "image") return undefined;
  return { type: "image", data: block.source.data, mimeType: block.source.mediaType };
}

function toPlan(todos: readonly TodoItem[]) {
  return todos.map(({ content, status }) => ({ content, status, priority: "medium" as const }));
}
