import { readFrontmatter, readListField, readTextField } from "../../infrastructure/text/frontmatter.ts";
import { listShellCommands, type PromptTemplate, type TemplateStyle } from "./fill-template.ts";

/** What a file with a command says. */
export interface CommandDefinition {
  /** On one line. */
  description: string;
  argumentHint?: string;
  /** The model that should answer, as written: an id or an alias. */
  model?: string;
  /** The sub-agent that should do it. */
  agent?: string;
  /** What it asks to use without approval. */
  allowedTools: readonly string[];
  template: PromptTemplate;
  /** The shell commands whose output it contains. */
  shellCommands: readonly string[];
}

const OWN: TemplateStyle = {
  missing: "keep",
  marks: "backticks",
  shell: "after_space",
  appended: "labelled",
};

/** The conventions of the agents, by a part of the directory. Ours are those of Claude Code. */
const STYLES: readonly (readonly [part: string, style: TemplateStyle])[] = [
  ["opencode", { ...OWN, missing: "remove", lastTakesRest: true, shell: "anywhere", appended: "plain" }],
  [".codex", { ...OWN, missing: "remove", hasNamedArguments: true, shell: "never", appended: "plain" }],
  [".gemini", { missing: "remove", marks: "braces", shell: "anywhere", appended: "plain" }],
  [".pi", { ...OWN, missing: "remove", shell: "never", appended: "plain" }],
];

/** How the commands in a directory, such as `.claude/commands`, are read. */
export function styleOf(directory: string): TemplateStyle {
  return STYLES.find(([part]) => directory.includes(`${part}/`))?.[1] ?? OWN;
}

/** Reads a file with a command. Anything unusual is accepted; only a file without a prompt is not a command. */
export function parseCommand(text: string, style: TemplateStyle): CommandDefinition | { problem: string } {
  return style.marks === "braces" ? parseToml(text, style) : parseMarkdown(text, style);
}

function parseMarkdown(text: string, style: TemplateStyle): CommandDefinition | { problem: string } {
  const file = readFrontmatter(text);
  const body = file.body.trim();
  if (body === "") return { problem: "it has no text" };
  const argumentHint = readTextField(file, "argument-hint") ?? toHint(readListField(file, "argument-hint"));
  const model = readTextField(file, "model");
  const isOwnConversation = /^(?:false|no|off|0)$/i.test(readTextField(file, "subtask") ?? "");
  const agent = isOwnConversation ? undefined : readTextField(file, "agent");
  const template = { text: body, style, argumentNames: readListField(file, "arguments") ?? [] };
  return {
    description: toOneLine(readTextField(file, "description") ?? firstLine(body)),
    ...(argumentHint !== undefined && { argumentHint: toOneLine(argumentHint) }),
    ...(model !== undefined && { model }),
    ...(agent !== undefined && { agent }),
    allowedTools: readListField(file, "allowed-tools") ?? [],
    template,
    shellCommands: listShellCommands(template),
  };
}

/** `[file]` is a list in YAML. */
function toHint(entries: readonly string[] | undefined): string | undefined {
  return entries === undefined || entries.length === 0 ? undefined : `[${entries.join(", ")}]`;
}

function parseToml(text: string, style: TemplateStyle): CommandDefinition | { problem: string } {
  let value: object;
  try {
    value = Bun.TOML.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    return {
      problem: `it is not valid TOML: ${error instanceof Error ? toOneLine(error.message) : "unreadable"}`,
    };
  }
  const fields = new Map<string, unknown>(Object.entries(value));
  const prompt = fields.get("prompt");
  if (typeof prompt !== "string" || prompt.trim() === "") return { problem: "it has no prompt" };
  const template = { text: prompt.trim(), style, argumentNames: [] };
  return {
    description: toOneLine(readTextField({ fields }, "description") ?? firstLine(prompt.trim())),
    allowedTools: [],
    template,
    shellCommands: listShellCommands(template),
  };
}

const MAX_DESCRIPTION = 500;

function toOneLine(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= MAX_DESCRIPTION ? line : `${line.slice(0, MAX_DESCRIPTION).toWellFormed()}…`;
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0]?.replace(/^#+\s*/, "") ?? "";
}
