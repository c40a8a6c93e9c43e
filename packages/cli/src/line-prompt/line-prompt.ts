import type { RunCommand } from "../arguments/command.ts";
import type { CliIo, SignalName } from "../cli-io.ts";
import { Leaving } from "../conversation/leaving.ts";
import { SessionHolder } from "../conversation/session-holder.ts";
import { EXIT_SUCCESS, SIGNAL_EXIT_CODES } from "../exit-codes.ts";
import type { OpenSession } from "../open-session.ts";
import { writeLine } from "../write-line.ts";
import { InputLines } from "./input-lines.ts";
import { readInputLine } from "./read-input-line.ts";
import { readLines } from "./read-lines.ts";

/**
 * The interactive session as plain lines. Ctrl+C stops the run, or leaves at the prompt when it comes twice; Ctrl+D,
 * `/quit` and `/exit` leave. The terminal stays in its ordinary mode throughout, so there is nothing to restore. Returns the exit code.
 * @throws UsageError when the session cannot be opened.
 */
export async function runLinePrompt(command: RunCommand, io: CliIo): Promise<number> {
  let opened: OpenSession | undefined;
  const lines = new InputLines(io.stdout, {
    environment: io.environment,
    opened() {
      if (!opened) throw new Error("The session is not open yet.");
      return opened;
    },
    async reopen(wish) {
      opened = await holder.reopen(wish);
      return opened;
    },
    quit: () => leaving.leave(EXIT_SUCCESS),
    isLeaving: () => leaving.isLeaving,
  });
  const { conversation } = lines;
  const leaving = new Leaving({
    stop: () => lines.stop(),
    isStopped: () => conversation.isInterrupted,
    exit: (code) => io.exit(code),
  });
  const unsubscribe = io.onSignal((signal) => {
    if (!opened || !isTaken(signal, lines)) leaving.leave(SIGNAL_EXIT_CODES[signal]);
  });
  const warn = (text: string) => writeLine(io.stderr, text);
  const holder = new SessionHolder(command, io, {
    ask: conversation.approvals.ask,
    warn,
    tell(text) {
      if (!leaving.isLeaving) conversation.tell(text);
    },
  });
  try {
    opened = await holder.session;
    for (const { message } of opened.notices) conversation.line(message);
    if (leaving.isLeaving) return await leaving.code;
    if (command.prompt === undefined) conversation.showPrompt();
    else lines.begin(command.prompt);
    io.stdout.closed.addEventListener("abort", () => leaving.leave(EXIT_SUCCESS));
    readUntilLeft(lines, io).then(() => leaving.leave(EXIT_SUCCESS), leaving.fail);
    return await leaving.code;
  } finally {
    unsubscribe();
    await holder.close();
    if (io.stdout.isTerminal) io.stdout.write("\n");
  }
}

/** False for a signal that ends the program. */
function isTaken(signal: SignalName, lines: InputLines): boolean {
  const { conversation } = lines;
  if (signal !== "SIGINT") return false;
  if (conversation.doing === undefined) return lines.warnOfLeaving();
  if (conversation.isInterrupted) return false;
  void conversation.interrupt();
  return true;
}

async function readUntilLeft(lines: InputLines, io: CliIo): Promise<void> {
  for await (const line of readLines(io.stdin.stream())) {
    if (lines.conversation.doing === undefined && readInputLine(line).kind === "quit") return;
    lines.take(line);
  }
}
