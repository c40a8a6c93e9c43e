import type { ProjectSession } from "@diligent/core/harness";
import type { RunCommand } from "../arguments/command.ts";
import { EXIT_SUCCESS, SIGNAL_EXIT_CODES } from "../errors.ts";
import { type CliIo, type SignalName, writeLine } from "../io/io.ts";
import { Shutdown } from "../session/conversation.ts";
import { describeJobsAtExit, describeJobUpdate, JobWatch } from "../session/job-watch.ts";
import { SessionController } from "../session/session-controller.ts";
import { InputLines, readInputLine, readInputLines } from "./input.ts";

/**
 * The interactive session in plain lines. Ctrl+C stops the run, or quits when pressed twice at the prompt; Ctrl+D,
 * `/quit` and `/exit` quit. The terminal stays in its normal mode, so there is nothing to restore. Returns the exit
 * code.
 * @throws UsageError if the session cannot be opened.
 */
export async function runLinePrompt(command: RunCommand, io: CliIo): Promise<number> {
  let opened: ProjectSession | undefined;
  const lines = new InputLines(io.stdout, {
    environment: io.environment,
    opened() {
      if (!opened) throw new Error("The session is not open yet.");
      return opened;
    },
    async reopen(wish) {
      opened = await controller.reopen(wish);
      return opened;
    },
    quit: () => shutdown.leave(EXIT_SUCCESS),
    isShuttingDown: () => shutdown.isShuttingDown,
    hideInput: () => io.stdin.hide?.() ?? (() => {}),
  });
  const { conversation } = lines;
  const shutdown = new Shutdown({
    stop: () => lines.stop(),
    isStopped: () => conversation.isInterrupted,
    exit: (code) => io.exit(code),
  });
  const unsubscribe = io.onSignal((signal) => {
    if (!opened || !isHandled(signal, lines)) shutdown.leave(SIGNAL_EXIT_CODES[signal]);
  });
  const warn = (text: string) => writeLine(io.stderr, text);
  const jobs = new JobWatch((update) => {
    const text = describeJobUpdate(update);
    if (text !== undefined && !shutdown.isShuttingDown) conversation.notify(text);
  });
  const controller = new SessionController(command, io, {
    ask: conversation.approvals.ask,
    askUser: conversation.approvals.askUser,
    warn,
    notify(text) {
      if (!shutdown.isShuttingDown) conversation.notify(text);
    },
    onOpened: (session) => jobs.open(session),
  });
  try {
    opened = await controller.session;
    for (const { message } of opened.notices) conversation.line(message);
    if (shutdown.isShuttingDown) return await shutdown.code;
    if (command.resumption?.opensList) lines.chooseSession(command.prompt);
    else if (command.prompt === undefined) conversation.showPrompt();
    else if (command.isBareWord) lines.confirm(command.prompt);
    else lines.begin(command.prompt);
    io.stdout.closed.addEventListener("abort", () => shutdown.leave(EXIT_SUCCESS));
    readUntilQuit(lines, io).then(() => shutdown.leave(EXIT_SUCCESS), shutdown.fail);
    return await shutdown.code;
  } finally {
    unsubscribe();
    const { jobs: left } = (await controller.session.catch(() => undefined)) ?? {};
    for (const line of describeJobsAtExit(left?.list ?? [])) conversation.line(line);
    await controller.close();
    if (io.stdout.isTerminal) io.stdout.write("\n");
  }
}

/** False for a signal that ends the program. */
function isHandled(signal: SignalName, lines: InputLines): boolean {
  const { conversation } = lines;
  if (signal !== "SIGINT") return false;
  if (conversation.doing === undefined) return lines.warnAboutQuitting();
  if (conversation.isInterrupted) return false;
  void conversation.interrupt();
  return true;
}

async function readUntilQuit(lines: InputLines, io: CliIo): Promise<void> {
  const { conversation } = lines;
  const isHidden = () => conversation.isAskingSecret;
  for await (const line of readInputLines(io.stdin.stream(), { isHidden })) {
    if (lines.conversation.doing === undefined && readInputLine(line).kind === "quit") return;
    lines.take(line);
  }
}
