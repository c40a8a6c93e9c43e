import type { TerminalRun } from "../measure/terminal-run.ts";
import type { Answer, MessagesServer, ReceivedRequest } from "./messages-server.ts";
import type { ScriptedTurn } from "./program-runs.ts";
import { SOURCE_FILES, sourcePath, versionLine } from "./stage.ts";

/** A call that the model requests. */
interface ToolCall {
  name: string;
  input: Record<string, unknown>;
}

const MODEL = "claude-sonnet-5";
const encoder = new TextEncoder();

/** An answer with a text that ends the run. */
export function textAnswer(text: string): Answer {
  return encode([...textEvents([text]), ...endEvents("end_turn")]);
}

/** The same, with each chunk of the text and each event around it written separately. */
export function streamedAnswer(chunks: readonly string[]): Answer {
  return [...textEvents(chunks), ...endEvents("end_turn")].map((event) => encode([event]));
}

/** An answer that requests one tool call. @param number makes its id unique within a run. */
export function toolCallAnswer({ name, input }: ToolCall, number: number): Answer {
  const block = { type: "tool_use", id: `toolu_${number}`, name, input: {} };
  const delta = { type: "input_json_delta", partial_json: JSON.stringify(input) };
  return encode([
    messageStart(),
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    ...endEvents("tool_use"),
  ]);
}

/** The same as `textAnswer`, as OpenAI's Responses API sends it. */
export function openAITextAnswer(text: string): Answer {
  const part = { type: "output_text", text, annotations: [] };
  const item = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [part] };
  const at = { output_index: 0, item_id: item.id, content_index: 0 };
  const usage = { input_tokens: 1000, output_tokens: 20, total_tokens: 1020 };
  return encode([
    { type: "response.created", response: { id: "resp_1", status: "in_progress" } },
    { type: "response.output_item.added", output_index: 0, item: { ...item, content: [] } },
    { type: "response.content_part.added", ...at, part: { ...part, text: "" } },
    { type: "response.output_text.delta", ...at, delta: text },
    { type: "response.output_text.done", ...at, text },
    { type: "response.content_part.done", ...at, part },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id: "resp_1", status: "completed", usage } },
  ]);
}

interface WireEvent {
  type: string;
  [field: string]: unknown;
}

function textEvents(chunks: readonly string[]): WireEvent[] {
  return [
    messageStart(),
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    ...chunks.map((text) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text },
    })),
    { type: "content_block_stop", index: 0 },
  ];
}

function messageStart(): WireEvent {
  const usage = { input_tokens: 1000, output_tokens: 1 };
  const message = { id: "msg_1", type: "message", role: "assistant", model: MODEL, content: [], usage };
  return { type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null } };
}

function endEvents(stopReason: string): WireEvent[] {
  const delta = { stop_reason: stopReason, stop_sequence: null };
  return [{ type: "message_delta", delta, usage: { output_tokens: 20 } }, { type: "message_stop" }];
}

function encode(events: readonly WireEvent[]): Uint8Array<ArrayBuffer> {
  return encoder.encode(
    events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
  );
}

/**
 * An answer in Markdown of exactly this many characters, all ASCII: typical sections of models, no two alike.
 */
export function createMarkdownAnswer(chars: number): string {
  return repeat(createSection, chars);
}

/** The same in paragraphs without any Markdown. */
export function createProse(chars: number): string {
  return repeat(createParagraph, chars);
}

/** The same in code blocks that are longer than a screen. */
export function createCodeAnswer(chars: number): string {
  return repeat(createCodeBlock, chars);
}

const CODE_LINES = 60;

function repeat(create: (number: number) => string, chars: number): string {
  let answer = "";
  for (let number = 1; answer.length < chars; number++) answer += create(number);
  return answer.slice(0, chars);
}

function createParagraph(number: number): string {
  return `The loader of part ${number} reads each file once and keeps ${number * 7} entries in its table. Nothing else looks at \
them, so the order in which they come does not matter, and a file that is missing is only noticed when it is asked for. \
The caller gets an error that names the file.

`;
}

function createCodeBlock(number: number): string {
  const lines = Array.from(
    { length: CODE_LINES },
    (_, line) => `  const value${line} = readPart(${number}, ${line}).filter((entry) => entry.isKnown);`,
  );
  return `This is part ${number}:\n\n\`\`\`ts\n${lines.join("\n")}\n\`\`\`\n\n`;
}

function createSection(number: number): string {
  return `## Part ${number}: what was found

The **loader** of part ${number} reads each file once and keeps \`${number * 7}\` entries in its table. Nothing else looks at
them, so the order in which they come does not matter, and a file that is missing is only noticed when it is asked for.

- first the directory is read, which takes about ${number} ms
- then every entry is compared with the one before
    - entries that are equal are skipped
- at last the table is written, *once*

\`\`\`ts
export function readPart${number}(path: string): Entry[] {
  const lines = readFileSync(path, "utf8").split("\\n");
  return lines.filter((line) => line !== "").map((line) => parseEntry(line, ${number}));
}
\`\`\`

| file | lines | changed |
| --- | ---: | --- |
| src/part-${number}.ts | ${number * 13} | yes |
| src/part-${number + 1}.ts | ${number * 11} | no |

`;
}

/** The last words of every long answer. */
export const LAST_WORD = "ALL-IS-SAID";

const CHUNKS = 5_000;
const CHUNK_CHARS = 8;
const CHUNK_DELAY_MS = 2;
const TRANSCRIPT_ROWS = 5_000;
// The average number of characters per row, blank rows included, of `createMarkdownAnswer` at 80 columns.
const CHARS_PER_ROW = 36;

/** An answer in 5,000 chunks, 2 ms apart. */
export function streamedTurn(text = createMarkdownAnswer(CHUNKS * CHUNK_CHARS)) {
  const chunkChars = Math.ceil(text.length / CHUNKS);
  return { text: `${text}\n\n${LAST_WORD}`, chunkChars, chunkDelayMs: CHUNK_DELAY_MS };
}

/** An answer of more than 5,000 rows, at once. */
export const LONG_TRANSCRIPT = {
  text: `${createMarkdownAnswer(TRANSCRIPT_ROWS * CHARS_PER_ROW)}\n\n${LAST_WORD}`,
  chunkChars: 400,
};

/** How many model replies one prompt gets: all except the last make a call. */
export const TURNS_PER_PROMPT = 10;

const REST_MS = 2_000;

/** A script of this many turns, in rounds of `TURNS_A_PROMPT`, with enough summaries. */
export function createLargeTurns(turns: number): { turns: ScriptedTurn[]; summaries: ScriptedTurn[] } {
  const prompts = Math.ceil(turns / TURNS_PER_PROMPT);
  return {
    turns: Array.from({ length: prompts }, (_, prompt) => promptTurns(prompt)).flat(),
    summaries: Array.from({ length: turns }, (_, number) => ({ text: `Summary ${number}: all went well.` })),
  };
}

/** A call with a unique result of just below 50 KB. */
export function largeCall(number: number): NonNullable<ScriptedTurn["toolCalls"]>[number] {
  const command = `awk 'BEGIN { srand(${number}); for (line = 0; line < 850; line++) printf "const value%d = compute(%d, other%d); // %d\\n", line, rand() * 1e6, rand() * 1e4, rand() * 1e9 }'`;
  return { name: "bash", input: { command } };
}

/** Sends the prompt with this number and waits for its last word. @returns milliseconds. */
export async function askForLargeResults(run: TerminalRun, prompt: number): Promise<number> {
  const askedAt = performance.now();
  run.type(`Go on ${prompt}\r`);
  return (await run.nextOutput(lastWord(prompt))) - askedAt;
}

/**
 * Waits until the runtime has cleaned up after a turn: a turn takes ten milliseconds here, but seconds with a
 * model.
 */
export async function restBriefly(run: TerminalRun): Promise<void> {
  await run.settle();
  await Bun.sleep(REST_MS);
}

function promptTurns(prompt: number): ScriptedTurn[] {
  const calls = Array.from({ length: TURNS_PER_PROMPT - 1 }, (_, index) => ({
    text: `I look, ${prompt}.${index}.`,
    toolCalls: [largeCall(prompt * TURNS_PER_PROMPT + index)],
  }));
  return [...calls, { text: lastWord(prompt) }];
}

function lastWord(prompt: number): string {
  return `END-OF-${prompt}.`;
}

/** Calls for the project of `createProject`; no two of a kind are alike, so that no run looks like a loop. */
const CALLS = {
  bash: (number: number): ToolCall => ({ name: "bash", input: { command: `true ${number}` } }),
  read: (number: number): ToolCall => ({ name: "read", input: { file_path: sourcePath(number) } }),
  grep: (number: number): ToolCall => ({ name: "grep", input: { pattern: `value${number} = ` } }),
  /** Each file is read and edited, and a command is run after it. */
  mixed(number: number): ToolCall {
    const file = Math.floor(number / 3);
    if (number % 3 === 0) return CALLS.read(file);
    if (number % 3 === 2) return CALLS.bash(file);
    const input = { file_path: sourcePath(file), old_string: versionLine(0), new_string: versionLine(1) };
    return { name: "edit", input };
  },
} satisfies Record<string, (number: number) => ToolCall>;

/** Which of the `CALLS` a round makes. */
export type CallKind = keyof typeof CALLS;

/** This many rounds of one call each, and a last text. At most as many as the project has files. */
export function toolRounds(kind: CallKind, count: number): Answer[] {
  if (count > SOURCE_FILES) throw new Error(`There are only ${SOURCE_FILES} files to work on.`);
  const rounds = Array.from({ length: count }, (_, number) => toolCallAnswer(CALLS[kind](number), number));
  return [...rounds, textAnswer("Done.")];
}

/** @throws unless each of `count` calls was made and answered without an error: failing fast is not speed. */
export function assertAllSucceeded({ requests }: MessagesServer, count: number): void {
  if (requests.length !== count + 1)
    throw new Error(`Expected ${count + 1} requests, got ${requests.length}.`);
  const results = toolResultsOf(requests.at(-1));
  const failed = results.find((result) => result.is_error === true);
  if (failed) throw new Error(`A tool call failed: ${JSON.stringify(failed.content)}`);
  if (results.length !== count) throw new Error(`Expected ${count} answered calls, got ${results.length}.`);
}

interface WireBlock {
  type?: unknown;
  is_error?: unknown;
  content?: unknown;
}

function toolResultsOf(request: ReceivedRequest | undefined): WireBlock[] {
  const body: { messages: { content: string | WireBlock[] }[] } = JSON.parse(request?.body ?? "{}");
  return body.messages
    .flatMap(({ content }) => (typeof content === "string" ? [] : content))
    .filter(({ type }) => type === "tool_result");
}
