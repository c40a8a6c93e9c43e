import { findName, type ProjectSession } from "@diligent/core/harness";
import type { AgentEvent, Environment } from "@diligent/core/run";
import { describeTodos } from "../print/summary.ts";
import { compactConversation, leaveBranch, type SummaryControl } from "../session/conversation.ts";
import type { Reopening } from "../session/session-controller.ts";
import { listAddedCommands } from "../tui/commands/extension-commands.ts";
import { describeUnknown, readCommandLine, SLASH_COMMANDS } from "../tui/commands/index.ts";
import type { CommandContext, SlashCommand } from "../tui/commands/types.ts";
import { createKeymap } from "../tui/keys/keymap.ts";
import { toStatus } from "../tui/session-status.ts";
import { toResumedBlocks } from "../tui/transcript.ts";
import { createView, type View } from "../tui/view.ts";
import { createProgressLines } from "../undo/progress-lines.ts";
import { isListNumber, NumberedList } from "./questions.ts";
import { toTranscriptText } from "./transcript.ts";

/** The parts of the line prompt that slash commands use. */
export interface PlainContextDeps {
  /** The current session. */
  opened(): ProjectSession;
  /** Replaces the session. */
  reopen(wish: Reopening): Promise<ProjectSession>;
  environment: Environment;
  /** The signal of the current task: aborted when the user stops it. */
  signal(): AbortSignal;
  /** Terminal width; without a terminal lines are not wrapped. */
  columns(): number;
  /** Resolves once the model is not running. @param wait called first if it is running. */
  whenIdle(wait: () => void): Promise<void>;
  /** Shows lines. */
  line(text: string): void;
  show(event: AgentEvent): void;
  /** Sends a prompt once the command has ended. */
  send(text: string): void;
  /** Asks for a line without echoing it. */
  readSecret(question: string): Promise<string>;
  /** Asks a question that is answered with yes or no. */
  confirm(question: string): Promise<boolean>;
  open: CommandContext["open"];
  quit(): void;
}

/** What slash commands can do in line mode. */
function createPlainContext(deps: PlainContextDeps): CommandContext {
  const { opened, line } = deps;
  const context: CommandContext = {
    isPlain: true,
    session: async () => opened(),
    view: () => viewOf(opened()),
    show: (block) => say(toTranscriptText(block), line),
    print: (text) => say(text.trimEnd(), line),
    change: (change) => say(change(viewOf(opened())).hint ?? "", line),
    open: deps.open,
    prompt: () => "",
    setPrompt: (text) => line(`Type this, or a changed version:\n${text}`),
    send: deps.send,
    readSecret: deps.readSecret,
    confirm: deps.confirm,
    compact: (focus) => compactConversation(opened().session, focus, toControl(deps)),
    moveFiles: (move, work) => work({ signal: deps.signal(), onProgress: createProgressLines(move, line) }),
    whenIdle: deps.whenIdle,
    async reopen(wish) {
      const { model: before } = opened();
      const next = await deps.reopen(wish);
      for (const { level, message } of next.notices)
        line(level === "info" ? message : `${level}: ${message}`);
      if (wish.how === "continue") showConversation(next, deps);
      if (next.model.id !== before.id) line(`Switched to ${next.model.id}.`);
    },
    changeModel: async (wish) => void (await opened().changeModel(wish)),
    branch: (entryId, { isSummarized }) => branch(entryId, isSummarized, deps),
    async runCommand(name, argument = "") {
      await SLASH_COMMANDS.find((each) => each.name === name)?.run(argument, context);
    },
    // Line mode has no key for it: `/permissions MODE` switches.
    nextApprovalMode: async () => {},
    lendTerminal: () => Promise.reject(new Error("This needs the full screen, not --plain-ui.")),
    // For commands that borrow a terminal, which line mode does not have.
    onAnyExit: () => () => {},
    writeRaw() {},
    columns: deps.columns,
    quit: deps.quit,
    keymap: createKeymap(),
    environment: deps.environment,
    get commands() {
      return [...SLASH_COMMANDS, ...listAddedCommands(opened().extensionCommands, SLASH_COMMANDS)];
    },
  };
  return context;
}

function say(text: string, line: (text: string) => void): void {
  if (text !== "") line(text);
}

function viewOf(opened: ProjectSession): View {
  return createView({ cwd: opened.cwd, ...toStatus(opened) });
}

/** Prints the last turns of a resumed conversation. */
function showConversation({ session }: ProjectSession, { line }: PlainContextDeps): void {
  for (const block of toResumedBlocks(session.branches.path)) say(toTranscriptText(block), line);
  if (session.todos.length > 0) line(describeTodos(session.todos));
}

function toControl({ signal, show, line }: PlainContextDeps): SummaryControl {
  return { signal: signal(), emit: show, say: line };
}

async function branch(
  entryId: string | null,
  isSummarized: boolean,
  deps: PlainContextDeps,
): Promise<boolean> {
  const { opened, line } = deps;
  const { session } = opened();
  if (!isSummarized) {
    session.branch(entryId);
  } else {
    line("Summarizing the abandoned branch...");
    if (!(await leaveBranch(session, entryId, toControl(deps)))) return false;
  }
  showConversation(opened(), deps);
  return true;
}

/** The slash commands in line mode: a list is numbered, and the number is an argument. */
export class PlainCommands {
  private readonly context: CommandContext;
  /** The list shown last. */
  private list: NumberedList | undefined;
  private command = "";
  /** True while a list is needed to choose from, not to be shown. */
  private isChoosing = false;

  constructor(private readonly deps: Omit<PlainContextDeps, "open">) {
    this.context = createPlainContext({ ...deps, open: (picker) => this.open(picker) });
  }

  /** True for a command that may be used while a task is running. */
  isAlwaysPossible(line: string): boolean {
    const read = readCommandLine(line, SLASH_COMMANDS);
    return read.kind !== "command" || read.command.isAlwaysPossible === true;
  }

  /** The list may have changed since it was shown. */
  forgetList(): void {
    this.list = undefined;
  }

  /** @throws what the command throws, or Error for a command that does not exist or is not available here. */
  async run(line: string): Promise<void> {
    const read = readCommandLine(line, SLASH_COMMANDS);
    if (read.kind === "unknown") {
      const { extensionCommands, untrustedCommands } = this.deps.opened();
      const names = [...extensionCommands.map(({ name }) => name), ...untrustedCommands];
      if (findName(read.name, names) === undefined) throw new Error(describeUnknown(read));
      return this.deps.send(line);
    }
    if (read.kind === "prompt") return this.deps.send(read.text);
    const { command, argument } = read;
    if (command.needsScreen) throw new Error(`/${command.name} needs the full screen, not --plain-ui.`);
    this.command = command.name;
    if (command.opensList && isChoice(command, argument)) await this.choose(command, argument);
    else await command.run(argument, this.context);
  }

  private open(picker: ConstructorParameters<typeof NumberedList>[1]): void {
    this.list = new NumberedList(this.command, picker);
    if (!this.isChoosing) this.deps.line(this.list.format());
    // The list is not shown, so its details need not be loaded to choose from it.
    picker.close?.();
  }

  private async choose(command: SlashCommand, reference: string): Promise<void> {
    const list = this.list?.command === command.name ? this.list : await this.listOf(command);
    if (!list) return;
    const id = list.find(reference);
    if (id === undefined)
      throw new Error(`No ${reference} in the list of /${command.name}; it has ${list.length}.`);
    this.list = undefined;
    await list.choose(id);
  }

  private async listOf(command: SlashCommand): Promise<NumberedList | undefined> {
    this.list = undefined;
    this.isChoosing = true;
    try {
      await command.run("", this.context);
    } finally {
      this.isChoosing = false;
    }
    return this.list;
  }
}

/** A command without other arguments also accepts an id. */
function isChoice({ argumentHint }: SlashCommand, argument: string): boolean {
  return argument !== "" && (argumentHint === undefined || isListNumber(argument));
}
