import type { RunCommand } from "../arguments/command.ts";
import type { CliIo, SignalName } from "../cli-io.ts";
import { EXIT_SUCCESS, SIGNAL_EXIT_CODES } from "../exit-codes.ts";
import type { OpenSession } from "../open-session.ts";
import { SessionHolder } from "../tui/session-holder.ts";
import { writeLine } from "../write-line.ts";
import { Conversation } from "./conversation.ts";
import { readInputLine } from "./read-input-line.ts";
import { readLines } from "./read-lines.ts";

// A command that is being ended gets a second between TERM and KILL, but not from somebody who asks twice.
const PATIENCE_MS = 1300;
const IMPATIENCE_MS = 200;
const LAST_RESORT_MS = 700;

/**
 * The interactive session as plain lines. Ctrl+C stops the run, or leaves at the prompt when it comes twice; Ctrl+D,
 * `/quit` and `/exit` leave. The terminal stays in its ordinary mode throughout, so there is nothing to restore. Returns the exit code.
 * @throws UsageError when the session cannot be opened.
 */
export async function runLinePrompt(command: RunCommand, io: CliIo): Promise<number> {
  let opened: OpenSession | undefined;
  const conversation: Conversation = new Conversation(io.stdout, {
    environment: io.environment,
    opened() {
      if (!opened) throw new Error("The session is not open yet.");
      return opened;
    },
    async reopen(wish) {
      opened = await holder.reopen(wish);
      return opened;
    },
    quit: () => leave(EXIT_SUCCESS),
  });
  const leaving = Promise.withResolvers<number>();
  let isLeaving = false;
  const leave = (code: number) => {
    isLeaving = true;
    const patienceMs = conversation.isInterrupted ? IMPATIENCE_MS : PATIENCE_MS;
    void Promise.race([conversation.interrupt(), Bun.sleep(patienceMs)]).then(() => leaving.resolve(code));
    setTimeout(() => io.exit(code), patienceMs + LAST_RESORT_MS);
  };
  const unsubscribe = io.onSignal((signal) => {
    if (!opened || !isTaken(signal, conversation)) leave(SIGNAL_EXIT_CODES[signal]);
  });
  const warn = (text: string) => writeLine(io.stderr, text);
  const holder = new SessionHolder(command, io, { ask: conversation.ask, warn });
  try {
    opened = await holder.session;
    for (const { message } of opened.notices) conversation.line(message);
    if (isLeaving) return await leaving.promise;
    if (command.prompt === undefined) conversation.showPrompt();
    else conversation.begin(command.prompt);
    io.stdout.closed.addEventListener("abort", () => leave(EXIT_SUCCESS));
    readUntilLeft(conversation, io).then(() => leave(EXIT_SUCCESS), leaving.reject);
    return await leaving.promise;
  } finally {
    unsubscribe();
    await holder.close();
    if (io.stdout.isTerminal) io.stdout.write("\n");
  }
}

/** False for a signal that ends the program. */
function isTaken(signal: SignalName, conversation: Conversation): boolean {
  if (signal !== "SIGINT") return false;
  if (!conversation.isRunning) return conversation.warnOfLeaving();
  if (conversation.isInterrupted) return false;
  void conversation.interrupt();
  return true;
}

async function readUntilLeft(conversation: Conversation, io: CliIo): Promise<void> {
  for await (const line of readLines(io.stdin.stream())) {
    if (!conversation.isRunning && readInputLine(line).kind === "quit") return;
    conversation.takeLine(line);
  }
}
