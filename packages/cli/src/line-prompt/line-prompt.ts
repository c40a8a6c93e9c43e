import type { RunCommand } from "../arguments/command.ts";
import type { CliIo, SignalName } from "../cli-io.ts";
import { EXIT_SUCCESS, SIGNAL_EXIT_CODES } from "../exit-codes.ts";
import { type OpenSession, openSession } from "../open-session.ts";
import { Conversation } from "./conversation.ts";
import { readInputLine } from "./read-input-line.ts";
import { readLines } from "./read-lines.ts";

// A command that is being ended gets a second between TERM and KILL, but not from somebody who asks twice.
const PATIENCE_MS = 1300;
const IMPATIENCE_MS = 200;
const LAST_RESORT_MS = 700;

/**
 * The interactive session as plain lines. Ctrl+C stops the run, or leaves at the prompt; Ctrl+D, `/quit` and `/exit`
 * leave. The terminal stays in its ordinary mode throughout, so there is nothing to restore. Returns the exit code.
 * @throws UsageError when the session cannot be opened.
 */
export async function runLinePrompt(command: RunCommand, io: CliIo): Promise<number> {
  let opened: OpenSession | undefined;
  const conversation = new Conversation(io.stdout, () => {
    if (!opened) throw new Error("The session is not open yet.");
    return opened;
  });
  const leaving = Promise.withResolvers<number>();
  let isLeaving = false;
  const leave = (code: number) => {
    isLeaving = true;
    const patienceMs = conversation.isInterrupted ? IMPATIENCE_MS : PATIENCE_MS;
    void Promise.race([conversation.interrupt(), Bun.sleep(patienceMs)]).then(() => leaving.resolve(code));
    setTimeout(() => io.exit(code), patienceMs + LAST_RESORT_MS);
  };
  const unsubscribe = io.onSignal((signal) => takeSignal(signal, conversation, leave));
  try {
    opened = await openSession(command, io, { approvalDefault: "ask", ask: conversation.ask });
    for (const { message } of opened.notices) conversation.line(message);
    if (isLeaving) return await leaving.promise;
    if (command.prompt === undefined) conversation.showPrompt();
    else conversation.takeLine(command.prompt);
    io.stdout.closed.addEventListener("abort", () => leave(EXIT_SUCCESS));
    readUntilLeft(conversation, io).then(() => leave(EXIT_SUCCESS), leaving.reject);
    return await leaving.promise;
  } finally {
    unsubscribe();
    opened?.close();
    if (io.stdout.isTerminal) io.stdout.write("\n");
  }
}

function takeSignal(signal: SignalName, conversation: Conversation, leave: (code: number) => void): void {
  const stopsRunOnly = signal === "SIGINT" && conversation.isRunning && !conversation.isInterrupted;
  if (stopsRunOnly) void conversation.interrupt();
  else leave(SIGNAL_EXIT_CODES[signal]);
}

async function readUntilLeft(conversation: Conversation, io: CliIo): Promise<void> {
  for await (const line of readLines(io.stdin.stream())) {
    if (!conversation.isRunning && readInputLine(line).kind === "quit") return;
    conversation.takeLine(line);
  }
}
