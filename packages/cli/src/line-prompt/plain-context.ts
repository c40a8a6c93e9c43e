import type { AgentEvent, Environment } from "@diligent/core/run";
import type { Reopening } from "../conversation/session-holder.ts";
import { compactConversation, leaveBranch, type SummaryControl } from "../conversation/summarize.ts";
import type { OpenSession } from "../open-session.ts";
import { SLASH_COMMANDS } from "../tui/commands/index.ts";
import type { CommandContext } from "../tui/commands/types.ts";
import { createKeymap } from "../tui/keys/keymap.ts";
import { toStatus } from "../tui/session-status.ts";
import { toResumedBlocks } from "../tui/transcript-blocks.ts";
import { createView, type View } from "../tui/view.ts";
import { createProgressLines } from "../undo/progress-lines.ts";
import { toPlainText } from "./plain-blocks.ts";

/** What of the line prompt slash commands work with. */
export interface PlainContextParts {
  /** The session that is talked to now. */
  opened(): OpenSession;
  /** Exchanges the session for another one. */
  reopen(wish: Reopening): Promise<OpenSession>;
  environment: Environment;
  /** Of what is going on: aborted when the user stops it. */
  signal(): AbortSignal;
  /** Shows lines. */
  line(text: string): void;
  show(event: AgentEvent): void;
  /** Sends a prompt once the command has ended. */
  send(text: string): void;
  open: CommandContext["open"];
  quit(): void;
}

/** What slash commands may do where there are only lines. */
export function createPlainContext(parts: PlainContextParts): CommandContext {
  const { opened, line } = parts;
  const context: CommandContext = {
    isPlain: true,
    session: async () => opened(),
    view: () => viewOf(opened()),
    show: (block) => say(toPlainText(block), line),
    print: (text) => say(text.trimEnd(), line),
    change: (change) => say(change(viewOf(opened())).hint ?? "", line),
    open: parts.open,
    prompt: () => "",
    setPrompt: (text) => line(`To be written, as it is or changed:\n${text}`),
    send: parts.send,
    compact: (focus) => compactConversation(opened().session, focus, toControl(parts)),
    moveFiles: (move, work) => work({ signal: parts.signal(), onProgress: createProgressLines(move, line) }),
    async reopen(wish) {
      const { model: before } = opened();
      const next = await parts.reopen(wish);
      for (const { level, message } of next.notices)
        line(level === "info" ? message : `${level}: ${message}`);
      if (wish.how === "continue") showConversation(next, parts);
      if (next.model.id !== before.id) line(`From here on ${next.model.id} answers.`);
    },
    changeModel: async (wish) => void (await opened().changeModel(wish)),
    branch: (entryId, { isSummarized }) => branch(entryId, isSummarized, parts),
    async runCommand(name, argument = "") {
      await SLASH_COMMANDS.find((each) => each.name === name)?.run(argument, context);
    },
    nextApprovalMode() {},
    lendTerminal: () => Promise.reject(new Error("That needs a screen of its own.")),
    // For what borrows a terminal, which there is none of.
    onAnyExit: () => () => {},
    writeRaw() {},
    columns: () => Number.POSITIVE_INFINITY,
    quit: parts.quit,
    keymap: createKeymap(),
    environment: parts.environment,
    commands: SLASH_COMMANDS,
  };
  return context;
}

function say(text: string, line: (text: string) => void): void {
  if (text !== "") line(text);
}

function viewOf(opened: OpenSession): View {
  return createView({ cwd: opened.cwd, ...toStatus(opened) });
}

/** The last turns of a conversation that goes on here. */
function showConversation({ session }: OpenSession, { line }: PlainContextParts): void {
  for (const block of toResumedBlocks(session.branches.path)) say(toPlainText(block), line);
}

function toControl({ signal, show, line }: PlainContextParts): SummaryControl {
  return { signal: signal(), emit: show, say: line };
}

async function branch(
  entryId: string | null,
  isSummarized: boolean,
  parts: PlainContextParts,
): Promise<boolean> {
  const { opened, line } = parts;
  const { session } = opened();
  if (!isSummarized) {
    session.branch(entryId);
  } else {
    line("Summarising the branch that is left...");
    if (!(await leaveBranch(session, entryId, toControl(parts)))) return false;
  }
  showConversation(opened(), parts);
  return true;
}
