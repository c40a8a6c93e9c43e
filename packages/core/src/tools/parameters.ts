import { z } from "zod";
import { KNOWLEDGE_TYPES } from "../knowledge/types.ts";
import { TODO_STATUSES } from "../types.ts";

// The arguments of the tools. Models get them as `input-schemas.json`, which is generated from these.

/** `offset` 0 means 1; without a `limit`, and above it, `DEFAULT_LINES` are read. */
export const readParameters = z.strictObject({
  file_path: z.string(),
  offset: z.int().min(0).optional().describe("First line, from 1"),
  limit: z.int().min(1).optional().describe("Number of lines"),
  encoding: z.string().optional().describe("If not UTF-8 and detected wrongly, such as windows-1251"),
});

/** The schema as a type, for modules that must not load it; the same applies to those below. */
export type ReadParameters = typeof readParameters;

/** The arguments of a call, validated by `readParameters`. */
export type ReadArguments = z.output<ReadParameters>;

/** The content replaces everything in the file. */
export const writeParameters = z.strictObject({
  file_path: z.string(),
  content: z.string().describe("The whole content"),
});

/** See `ReadParameters`. */
export type WriteParameters = typeof writeParameters;

const replacement = z.strictObject({
  old_string: z.string(),
  new_string: z.string(),
  replace_all: z.boolean().optional(),
});

/** Either one replacement, or several as `edits`. Further conditions are checked by `toEditRequests`. */
export const editParameters = z.strictObject({
  file_path: z.string(),
  old_string: z.string().optional().describe("Text as it is in the file, without line numbers"),
  new_string: z.string().optional(),
  replace_all: z.boolean().optional(),
  edits: z.array(replacement).optional().describe("Instead: several replacements in order, all or none"),
});

/** See `ReadParameters`. */
export type EditParameters = typeof editParameters;

/** The arguments of a call, validated by `editParameters`. */
export type EditArguments = z.output<EditParameters>;

/** The text from `*** Begin Patch` to `*** End Patch`. */
export const applyPatchParameters = z.strictObject({ patch: z.string() });

/** See `ReadParameters`. */
export type ApplyPatchParameters = typeof applyPatchParameters;

const MAX_TIMEOUT_MS = 600_000;

/** `outside_sandbox` needs approval, and has no effect when commands are not sandboxed. */
export const bashParameters = z.strictObject({
  command: z.string().min(1),
  timeout: z
    .int()
    .min(1)
    .max(MAX_TIMEOUT_MS, `timeout is at most ${MAX_TIMEOUT_MS} milliseconds`)
    .optional()
    .describe("Milliseconds; default 120000"),
  description: z.string().optional().describe("What it does, in a few words"),
  outside_sandbox: z.boolean().optional().describe("Request to run it outside the sandbox"),
  reason: z.string().optional().describe("Why outside"),
  background: z.boolean().optional().describe("Start it as a job and return at once"),
  on_timeout: z.enum(["kill", "background"]).optional().describe("Default kill"),
  detach: z.boolean().optional().describe("With background: request to let it outlive the session"),
});

/** See `ReadParameters`. */
export type BashParameters = typeof bashParameters;

const MAX_WAIT_MS = 600_000;

// It looks like a number, so models give one.
const jobId = z.preprocess((id) => (typeof id === "number" ? String(id) : id), z.string());

/** A wait that is too long is shortened. */
export const jobOutputParameters = z.strictObject({
  id: jobId,
  wait_ms: z
    .int()
    .min(0)
    .transform((waitMs) => Math.min(waitMs, MAX_WAIT_MS))
    .optional()
    .describe("Wait so long for its end, or for a line that matches filter"),
  filter: z.string().optional().describe("Regular expression; other new lines are dropped"),
});

/** See `ReadParameters`. */
export type JobOutputParameters = typeof jobOutputParameters;

export const jobKillParameters = z.strictObject({ id: jobId });

/** See `ReadParameters`. */
export type JobKillParameters = typeof jobKillParameters;

/** The working directory is searched where `path` is left out or empty. */
export const globParameters = z.strictObject({
  pattern: z.string().min(1).describe("Such as src/**/*.ts"),
  path: z.string().optional().describe("Directory to search in"),
});

/** See `ReadParameters`. */
export type GlobParameters = typeof globParameters;

/** The arguments of a call, validated by `globParameters`. */
export type GlobArguments = z.output<GlobParameters>;

/**
 * Results are sorted before they are truncated, so more are collected than shown; at this number the search is stopped.
 */
export const MAX_COLLECTED = 20_000;
const flag = () => z.boolean().optional();
const contextLines = () => z.int().min(0).max(1_000).optional();

/** `head_limit` 0 means the default number of lines. */
export const grepParameters = z.strictObject({
  pattern: z.string().min(1).describe("Regular expression"),
  path: z.string().optional().describe("File or directory"),
  glob: z.string().optional().describe("Such as *.{ts,tsx}"),
  type: z.string().optional().describe("Such as py"),
  output_mode: z.enum(["files_with_matches", "content", "count"]).optional(),
  "-i": flag().describe("Ignore case"),
  "-n": flag().describe("Line numbers, default true"),
  "-A": contextLines(),
  "-B": contextLines(),
  "-C": contextLines(),
  multiline: flag().describe("Matches may span lines"),
  head_limit: z.int().min(0).max(MAX_COLLECTED).optional().describe("Most lines to show"),
});

/** See `ReadParameters`. */
export type GrepParameters = typeof grepParameters;

/** The arguments of a call, validated by `grepParameters`. */
export type GrepArguments = z.output<GrepParameters>;

/** The working directory is listed when `path` is left out or empty. */
export const lsParameters = z.strictObject({ path: z.string().optional() });

/** See `ReadParameters`. */
export type LsParameters = typeof lsParameters;

/** The arguments of a call, validated by `lsParameters`. */
export type LsArguments = z.output<LsParameters>;

const MAX_RECALLED = 50;

/** Without `entry`, the messages that match all other arguments. */
export const recallParameters = z.strictObject({
  query: z.string().optional().describe("Words that all have to occur"),
  tool: z.string().optional().describe("Name of a tool"),
  path: z.string().optional().describe("File that a call names"),
  entry: z.string().optional().describe("Id of the message to read whole"),
  scope: z.enum(["session", "project"]).optional(),
  limit: z.int().min(1).max(MAX_RECALLED).optional(),
});

/** See `ReadParameters`. */
export type RecallParameters = typeof recallParameters;

/** Without `file`, the skill itself; a `name` that no skill has is searched for. */
export const skillParameters = z.strictObject({
  name: z.string(),
  file: z.string().optional().describe("Path of a file of the skill"),
});

/** See `ReadParameters`. */
export type SkillParameters = typeof skillParameters;

const MAX_TODOS = 100;
const todoText = () => z.string().trim().min(1).max(1_000);

/** The whole checklist; none of its items is kept from the previous one. */
export const todoParameters = z.strictObject({
  todos: z
    .array(
      z.strictObject({
        content: todoText(),
        status: z.enum(TODO_STATUSES),
        activeForm: todoText().optional(),
      }),
    )
    .max(MAX_TODOS),
});

/** See `ReadParameters`. */
export type TodoParameters = typeof todoParameters;

const MAX_QUESTIONS = 4;
const MAX_OPTIONS = 10;
const questionText = (max: number) => z.string().trim().min(1).max(max);

/** Every question can also be answered in the user's own words. */
export const askUserParameters = z.strictObject({
  questions: z
    .array(
      z.strictObject({
        question: questionText(2_000),
        header: questionText(40).optional(),
        options: z
          .array(z.strictObject({ label: questionText(200), description: questionText(1_000).optional() }))
          .max(MAX_OPTIONS),
        multiSelect: z.boolean().optional(),
      }),
    )
    .min(1)
    .max(MAX_QUESTIONS),
});

/** See `ReadParameters`. */
export type AskUserParameters = typeof askUserParameters;

const MAX_TASK_CHARACTERS = 100_000;

/** A task for a sub-agent. */
export const taskParameters = z.strictObject({
  description: z.string().trim().min(1).max(200).describe("The task in three to six words, for the user"),
  prompt: z.string().trim().min(1).max(MAX_TASK_CHARACTERS),
  agent: z.string().optional().describe("general by default"),
  background: z.boolean().optional().describe("Continue while it works; its end is reported to you"),
});

/** See `ReadParameters`. */
export type TaskParameters = typeof taskParameters;

/** The arguments of a call, validated by `taskParameters`. */
export type TaskArguments = z.output<TaskParameters>;

/** A question to a language server; which arguments an action needs is checked when it is asked. */
export const lspParameters = z.strictObject({
  action: z.enum(["definition", "references", "hover", "symbols", "rename", "diagnostics"]),
  file_path: z.string().optional(),
  line: z.int().min(1).optional(),
  column: z.int().min(1).optional(),
  new_name: z.string().optional(),
  query: z.string().optional(),
});

/** See `ReadParameters`. */
export type LspParameters = typeof lspParameters;

/** The arguments of a call, validated by `lspParameters`. */
export type LspArguments = z.output<LspParameters>;

const MAX_CHARACTERS = 2_000;
const MAX_TAGS = 10;
const MAX_TAG_CHARACTERS = 50;

/** `confidence` ranges from 0 to 1 and decides, together with age, what fits into the prompt. */
export const addKnowledgeParameters = z.strictObject({
  type: z.enum(KNOWLEDGE_TYPES),
  content: z
    .string()
    .trim()
    .min(1)
    .max(MAX_CHARACTERS)
    .describe("The knowledge to save. Be specific and actionable."),
  confidence: z.number().min(0).max(1).default(0.8),
  tags: z.array(z.string().trim().min(1).max(MAX_TAG_CHARACTERS)).max(MAX_TAGS).optional(),
  supersedes: z
    .string()
    .min(1)
    .optional()
    .describe("The id of the entry that this one replaces; an unknown id is answered with the likely ones."),
});

/** See `ReadParameters`. */
export type AddKnowledgeParameters = typeof addKnowledgeParameters;

/** `offset` counts the characters of the page as Markdown. */
export const webFetchParameters = z.strictObject({
  url: z.string().min(1),
  offset: z.int().min(0).optional().describe("Where the previous result said it continues"),
});

/** See `ReadParameters`. */
export type WebFetchParameters = typeof webFetchParameters;
