import { instructionHeading } from "../../config/instructions.ts";
import KNOWLEDGE_INSTRUCTION from "../../config/knowledge-instruction.md" with { type: "text" };
import type { SystemPromptSections } from "../../config/system-prompt.ts";
import { IMAGE_CHARACTERS } from "../../history.ts";
import type { StreamContext } from "../../provider/types.ts";
import { assertNever, type ContentBlock, type Message, type ToolDefinition } from "../../types.ts";
import { estimateTextTokens } from "./count-tokens.ts";

/** Tokens by cause. */
export type Parts = Record<string, number>;

// See `IMAGE_CHARACTERS`: four characters count as one token there.
const IMAGE_TOKENS = IMAGE_CHARACTERS / 4;

/**
 * Estimates the tokens of a request by cause: `system`, `instructions`, `skills`, `knowledge` (parts of the system
 * prompt), `tool:NAME` (its definition), `mcp:SERVER` (its tools and its part of the prompt), `summary`, `user`, `assistant`, `thinking`, `calls`,
 * `results:TOOL`, `images`.
 */
export function countParts(context: StreamContext, sections?: SystemPromptSections): Parts {
  const parts: Parts = {};
  addParts(parts, countSystemPrompt(context.systemPrompt, sections));
  // A deferred tool takes nothing until a search has found it.
  for (const tool of context.tools.filter(({ isDeferred }) => !isDeferred))
    addParts(parts, { [toolCause(tool.name)]: countDefinition(tool) });
  addParts(parts, countMessages(context.messages));
  return parts;
}

/** Whole numbers in these proportions that add up to `total`; the estimates themselves, if there is no total. */
export function scaleParts(parts: Parts, total: number): Parts {
  const sum = sumParts(parts);
  const scale = sum > 0 && total > 0 ? total / sum : 1;
  let exact = 0;
  let given = 0;
  return Object.fromEntries(
    Object.entries(parts).map(([cause, tokens]) => {
      exact += tokens * scale;
      const share = Math.round(exact) - given;
      given += share;
      return [cause, share];
    }),
  );
}

/** The tokens of all causes together. */
export function sumParts(parts: Parts): number {
  return Object.values(parts).reduce((sum, tokens) => sum + tokens, 0);
}

function addParts(sum: Parts, more: Parts): void {
  for (const [cause, tokens] of Object.entries(more)) sum[cause] = (sum[cause] ?? 0) + tokens;
}

// Their texts stay the same from one request to the next, so each is counted once.
const definitions = new WeakMap<ToolDefinition, number>();
const messageParts = new WeakMap<Message, Parts>();
let lastMessages: { messages: readonly Message[]; parts: Parts } = { messages: [], parts: {} };
let lastPrompt: { text: string; sections: SystemPromptSections | undefined; parts: Parts } | undefined;

function countDefinition(tool: ToolDefinition): number {
  const known = definitions.get(tool);
  if (known !== undefined) return known;
  const tokens = estimateTextTokens(JSON.stringify(tool));
  definitions.set(tool, tokens);
  return tokens;
}

/** A tool of a server counts as its server. */
function toolCause(name: string): string {
  const [, server] = /^mcp__(.+?)__/.exec(name) ?? [];
  return server === undefined ? `tool:${name}` : `mcp:${server}`;
}

function countSystemPrompt(text: string, sections: SystemPromptSections | undefined): Parts {
  if (lastPrompt?.text === text && lastPrompt.sections === sections) return lastPrompt.parts;
  const parts: Parts = {};
  let rest = text;
  for (const [cause, section] of sections ? listSections(sections) : []) {
    const at = section === "" ? -1 : rest.indexOf(section);
    if (at < 0) continue;
    addParts(parts, { [cause]: estimateTextTokens(section) });
    rest = rest.slice(0, at) + rest.slice(at + section.length);
  }
  const all = { ...(rest.trim() !== "" && { system: estimateTextTokens(rest) }), ...parts };
  lastPrompt = { text, sections, parts: all };
  return all;
}

/** The sections of a prompt besides diligent's own part, as they are in its text. */
function listSections({
  instructions = [],
  additional = [],
  knowledge,
}: SystemPromptSections): [string, string][] {
  return [
    ["knowledge", knowledge?.section.trim() ?? ""],
    ...(knowledge?.isRecorded
      ? [["knowledge", KNOWLEDGE_INSTRUCTION.trim()] satisfies [string, string]]
      : []),
    ...instructions.map((file): [string, string] => [
      "instructions",
      `${instructionHeading(file)}\n${file.content.trimEnd()}`,
    ]),
    ...additional.flatMap(splitAddition),
  ];
}

// How the sections of skills and of servers begin.
const SKILLS = /^## Skills\n/;
const SERVERS = /^# Servers \(MCP\)\n/;

/** The section about servers has a part for each of them. */
function splitAddition(text: string): [string, string][] {
  const section = text.trim();
  if (SKILLS.test(section)) return [["skills", section]];
  if (!SERVERS.test(section)) return [["instructions", section]];
  return section.split(/\n(?=## )/).map((part) => {
    const [, name] = /^## (.+)/.exec(part) ?? [];
    return [name === undefined ? "mcp" : `mcp:${name.replace(/[^A-Za-z0-9_-]/g, "_")}`, part];
  });
}

/** A request begins with the messages of the one before it, as a rule. */
function countMessages(messages: readonly Message[]): Parts {
  const { messages: before, parts: partsBefore } = lastMessages;
  const isContinued = before.every((message, index) => message === messages[index]);
  const parts = isContinued ? { ...partsBefore } : {};
  for (const message of isContinued ? messages.slice(before.length) : messages)
    addParts(parts, countMessageParts(message));
  lastMessages = { messages: [...messages], parts };
  return parts;
}

/** The tokens of a message by cause; the same object for the same message. */
export function countMessageParts(message: Message): Parts {
  const known = messageParts.get(message);
  if (known) return known;
  const parts: Parts = {};
  if (message.role === "tool_result") {
    addParts(parts, { [`results:${message.toolName}`]: estimateTextTokens(message.output) });
    if (message.images?.length) addParts(parts, { images: message.images.length * IMAGE_TOKENS });
  } else if (typeof message.content === "string") {
    addParts(parts, { [textCause(message, message.content)]: estimateTextTokens(message.content) });
  } else for (const block of message.content) addParts(parts, countBlock(block, message));
  messageParts.set(message, parts);
  return parts;
}

function countBlock(block: ContentBlock, message: Message): Parts {
  switch (block.type) {
    case "text":
      return { [textCause(message, block.text)]: estimateTextTokens(block.text) };
    case "thinking":
      // Without a signature or the provider's own data, it is not sent back.
      if (block.signature === undefined && block.replay === undefined) return {};
      return { thinking: estimateTextTokens(block.thinking) };
    case "image":
      return { images: IMAGE_TOKENS };
    case "tool_call":
      return {
        calls: estimateTextTokens(`${block.name} ${block.invalidInput ?? JSON.stringify(block.input)}`),
      };
    case "opaque":
      return {
        [message.role === "assistant" ? "assistant" : "user"]: estimateTextTokens(
          JSON.stringify(block.raw ?? ""),
        ),
      };
    default:
      return assertNever(block);
  }
}

function textCause({ role }: Message, text: string): string {
  if (role === "assistant") return "assistant";
  return /^\[(?:Session|Branch) Summary\]\n/.test(text) ? "summary" : "user";
}
