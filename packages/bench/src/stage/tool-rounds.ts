import { type ToolCall, textAnswer, toolCallAnswer } from "./answers.ts";
import type { Answer, MessagesServer, ReceivedRequest } from "./messages-server.ts";
import { SOURCE_FILES, sourcePath, versionLine } from "./project.ts";

/** Calls for the project of `createProject`; no two of a kind are alike, so that no run is taken for a loop. */
export const CALLS = {
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

/** As many rounds of one call each, and a last word. At most as many as the project has files. */
export function toolRounds(kind: CallKind, count: number): Answer[] {
  if (count > SOURCE_FILES) throw new Error(`There are only ${SOURCE_FILES} files to work on.`);
  const rounds = Array.from({ length: count }, (_, number) => toolCallAnswer(CALLS[kind](number), number));
  return [...rounds, textAnswer("Done.")];
}

/** @throws when not each of `count` calls was made and answered without an error: a quick failure is no speed. */
export function assertAllSucceeded({ requests }: MessagesServer, count: number): void {
  if (requests.length !== count + 1) throw new Error(`${requests.length} requests came, not ${count + 1}.`);
  const results = toolResultsOf(requests.at(-1));
  const failed = results.find((result) => result.is_error === true);
  if (failed) throw new Error(`A tool call failed: ${JSON.stringify(failed.content)}`);
  if (results.length !== count) throw new Error(`${results.length} calls were answered, not ${count}.`);
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
