import type { SessionEntry } from "@diligent/core/run";
import type { ScriptTurn } from "@diligent/core/testing";
import { textAnswer } from "../../core/test/support/answers.ts";
import { completed, created, item, messageItem, textPart } from "../../core/test/support/openai-answers.ts";
import { startSseServer } from "../../core/test/support/sse-server.ts";
import { SOURCE_FILES, sourcePath } from "./stage/stage.ts";

/** A JSON object from a line of the output. */
export type PrintedLine = Readonly<Record<string, unknown>>;

/** Descriptions of the messages that a run showed as finished and that are missing in its file. */
export function findLost(printed: readonly PrintedLine[], entries: readonly SessionEntry[]): string[] {
  const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
  const saved = new Set(messages.map((message) => JSON.stringify(message)));
  const results = new Set(
    messages.flatMap((message) =>
      message.role === "tool_result" ? [toKey(message.toolCallId, message.output)] : [],
    ),
  );
  const lost = printed.flatMap((line) => {
    const isSaved =
      line.type === "message_end"
        ? saved.has(JSON.stringify(line.message))
        : results.has(toKey(line.toolCallId, line.output));
    return isFinished(line) && !isSaved ? [JSON.stringify(line)] : [];
  });
  const hasPrompt = messages.some(({ role }) => role === "user");
  return lost.length === 0 && printed.some(isFinished) && !hasPrompt ? ["the prompt"] : lost;
}

/** True for an event that shows a message or a result as finished. */
export function isFinished({ type }: PrintedLine): boolean {
  return type === "message_end" || type === "tool_end";
}

function toKey(toolCallId: unknown, output: unknown): string {
  return JSON.stringify([toolCallId, output]);
}

// The tests' own server, which refuses what the real services refuse.

const SERVICES = {
  anthropic: { model: "claude-sonnet-5", events: textAnswer("Going on.") },
  openai: {
    model: "gpt-5",
    events: [created(), ...item(0, messageItem("msg_1", [textPart("Going on.")])), completed()],
  },
} as const;

/** Which of the services that check requests is used. */
type Service = keyof typeof SERVICES;

interface NextRequestOptions {
  program: string;
  cwd: string;
  environment: Readonly<Record<string, string>>;
  sessionId: string;
  service: Service;
}

/** Continues a session on a service that checks the request; returns a description of its problem. */
export async function findInvalidRequest(options: NextRequestOptions): Promise<string[]> {
  const { program, cwd, environment, sessionId, service } = options;
  const { model, events } = SERVICES[service];
  await using server = await startSseServer({ events });
  const child = Bun.spawn([program, "-p", `--continue=${sessionId}`, "-m", model, "Go on."], {
    cwd,
    env: {
      ...environment,
      ANTHROPIC_API_KEY: "bench-key",
      ANTHROPIC_BASE_URL: server.url,
      OPENAI_API_KEY: "bench-key",
      OPENAI_BASE_URL: `${server.url}/v1`,
    },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    timeout: 30_000,
    killSignal: "SIGKILL",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  if (server.problems.length > 0) return server.problems;
  const isAnswered = child.exitCode === 0 && stdout === "Going on.\n" && server.requests.length === 1;
  return isAnswered
    ? []
    : [`exit code ${child.exitCode}, ${server.requests.length} requests: ${stderr.trim()}`];
}

/** Far more than any run completes before it is killed. */
const TURNS = 300;

/**
 * A script in which everything takes a little while: thinking and text in chunks, calls one by one and in
 * parallel, and now and then an answer that ends the run. No two calls are alike, so that no run looks like a
 * loop.
 */
export function createRandomScript(random: () => number): { version: 1; turns: ScriptTurn[] } {
  return { version: 1, turns: Array.from({ length: TURNS }, (_, index) => createTurn(index, random)) };
}

function createTurn(index: number, random: () => number): ScriptTurn {
  const pace = { chunkDelayMs: Math.floor(random() * 6), delayMs: Math.floor(random() * 10) };
  const thinking = random() < 0.3 ? { thinking: `Thinking about ${index}. ${"And on. ".repeat(5)}` } : {};
  const text = random() < 0.6 ? { text: `Turn ${index}: ${"words and more words. ".repeat(8)}` } : {};
  if (random() < 0.1) return { ...pace, ...thinking, text: `The end of ${index}.` };
  return { ...pace, ...thinking, ...text, toolCalls: createCalls(index, random) };
}

function createCalls(index: number, random: () => number): NonNullable<ScriptTurn["toolCalls"]> {
  const count = 1 + Math.floor(random() * 4);
  const kind = random();
  return Array.from({ length: count }, (_, number) => {
    const unique = index * 10 + number;
    if (kind < 0.5)
      return {
        name: "read",
        input: { file_path: sourcePath(unique % SOURCE_FILES), offset: 1 + (unique % 37) },
      };
    if (kind < 0.8) return { name: "bash", input: { command: `sleep 0.0${number}; echo ${unique}` } };
    return { name: "write", input: { file_path: `made/${unique}.txt`, content: `${unique}\n`.repeat(50) } };
  });
}
