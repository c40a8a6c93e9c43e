import type { ProjectSession } from "@diligent/core/harness";
import { MissingKeyError } from "@diligent/core/harness";
import type { RunCommand } from "../arguments/command.ts";
import { shellQuote } from "../demo/demo.ts";
import { describeError, EXIT_SUCCESS, SIGNAL_EXIT_CODES } from "../errors.ts";
import { type CliIo, type CliTerminal, writeFailure, writeLine } from "../io/io.ts";
import { Shutdown } from "../session/conversation.ts";
import { describeJobsAtExit, describeJobUpdate, JobWatch } from "../session/job-watch.ts";
import { resolveDirectory } from "../session/project-directory.ts";
import { SessionController } from "../session/session-controller.ts";
import { describeExit } from "../undo/describe.ts";
import { CommandField } from "./approval/prompter.ts";
import { createCommandContext, showOpening, showSession } from "./commands/context.ts";
import { describeTaken } from "./commands/extension-commands.ts";
import { SLASH_COMMANDS } from "./commands/index.ts";
import type { CommandContext } from "./commands/types.ts";
import { ConversationDriver } from "./conversation-driver.ts";
import { Display } from "./display.ts";
import { type PromptEditorOptions, toPromptTheme } from "./editor/prompt-editor.ts";
import { KeyInput } from "./key-input.ts";
import { loadKeybindings, ReloadableKeys } from "./keys/keybindings.ts";
import type { Keymap } from "./keys/keymap.ts";
import { LiveRegion } from "./live-region.ts";
import { loadMarkdown } from "./markdown/render.ts";
import { OpenPicker } from "./pickers/picker.ts";
import { assistEditor, openDraft, PromptField } from "./prompt/prompt-field.ts";
import { TypedLines } from "./prompt/submit.ts";
import { createTheme } from "./theme.ts";
import { finish, notice } from "./view.ts";

/** What a command with its own prompt, such as the demo, shows around that prompt. */
interface TuiExtras {
  /** Shown before the prompt. */
  introduction?: string;
  /**
   * Called when the prompt's run has ended. `say` shows text below it, and returns false if the user is
   * quitting.
   */
  conclude?(say: (text: string) => boolean, keymap: Keymap): Promise<void>;
}

/**
 * The interactive session on the screen. The user can type at once; the session opens in the background. A
 * user without any key is asked for one and offered the demo. Returns the exit code.
 * @throws UsageError if the session cannot be opened; the terminal is restored then.
 */
export async function runTui(command: RunCommand, io: CliIo, extras: TuiExtras = {}): Promise<number> {
  const [terminal, bindings] = await Promise.all([io.openTerminal(), loadKeybindings(io.environment)]);
  const keys = new ReloadableKeys(bindings, io.environment);
  for (let introduction = extras.introduction; ; ) {
    try {
      const parts = { ...terminal, keys, extras: { ...extras, ...(introduction && { introduction }) } };
      return await new App(command, io, parts).run();
    } catch (error) {
      if (!(error instanceof MissingKeyError && error.isFirstStart)) throw error;
      const { runWelcome } = await import("./welcome.ts");
      const end = await runWelcome(terminal, io, resolveDirectory(command.options.directory, io.cwd));
      if (end.kind === "ended") return end.code;
      introduction = end.text;
    }
  }
}

// One turn per stage that a key passes: the terminal device, its stream, and the reader that splits the bytes
// into keys.
const INPUT_TURNS = 3;

type AppDeps = CliTerminal & { keys: ReloadableKeys; extras: TuiExtras };

/**
 * Resolves once all keys pressed so far have been read. A signal overtakes keys: it is delivered before the
 * event loop polls its inputs, which happens between two timers.
 */
async function afterPendingInput(): Promise<void> {
  for (let turn = 0; turn < INPUT_TURNS; turn++) await Bun.sleep(1);
}

/** Connects the components: keys to effects, events to the view, the view to the screen. */
class App {
  private readonly display: Display;
  private readonly prompt: PromptField;
  private readonly interaction: Interaction;
  private readonly shutdown: Shutdown;
  private readonly extras: TuiExtras;

  constructor(
    private readonly command: RunCommand,
    private readonly io: CliIo,
    { keys, extras, ...terminal }: AppDeps,
  ) {
    this.extras = extras;
    const theme = createTheme({ color: !io.environment.NO_COLOR });
    const promptTheme = toPromptTheme(theme);
    this.display = new Display(terminal, io, { theme, keymap: keys.keymap });
    this.prompt = new PromptField(this.display.screen, {
      theme: promptTheme,
      keys: keys.editorKeys,
      draft: openDraft(io, command.options),
      submit: (text, visibleText) => this.submit(text, visibleText),
    });
    const { display, prompt } = this;
    const quit = () => this.shutdown.leave(EXIT_SUCCESS);
    this.interaction = new Interaction({ command, io, display, prompt, keys, theme: promptTheme, quit });
    const { driver, lines } = this.interaction;
    this.shutdown = new Shutdown({
      // Prompts sent before are saved, even if the session has only just been opened for them.
      stop: async () => void (await Promise.all([driver.close(), lines.arrived()])),
      isStopped: () => driver.isInterrupted,
      exit: (code) => io.exit(code),
    });
  }

  async run(): Promise<number> {
    const { display, prompt, interaction, shutdown, io } = this;
    const { driver, controller } = interaction;
    const unsubscribe = io.onSignal((signal) => {
      // Ctrl+C in a pager or an editor belongs to that program.
      if (signal === "SIGINT" && display.isLent) return;
      const delivered = display.isLent
        ? afterPendingInput()
        : afterPendingInput().then(() => display.screen.deliverTyped());
      void delivered.then(() => shutdown.leave(SIGNAL_EXIT_CODES[signal]));
    });
    this.connect();
    // However the program ends, the terminal is restored before any message is printed.
    io.onExit(() => display.guard.leave());
    display.guard.hold();
    // After the first frame: nobody has typed or asked anything before.
    const prepared = new Promise<void>((resolve) => setTimeout(() => resolve(this.prepare()), 0));
    let isOpen = false;
    let code: number | undefined;
    try {
      const opened = await Promise.race([controller.session, shutdown.code]);
      if (typeof opened === "number") return opened;
      isOpen = true;
      // From the moment the session is shown, Up brings back earlier prompts.
      await prepared;
      showOpening(opened, display.painter);
      showSession(opened, display.painter);
      void this.begin(opened).catch(interaction.fail);
      code = await shutdown.code;
      return code;
    } finally {
      unsubscribe();
      display.painter.stop();
      const { unsaved } = interaction.lines;
      if (unsaved.length > 0) prompt.editor.setText([...unsaved, prompt.editor.text].join("\n\n").trimEnd());
      await prompt.keepDraft();
      // A prompt field that was never usable is not left on the screen.
      await display.guard.leave({ isErased: !isOpen });
      const { interruptedMove } = driver;
      if (interruptedMove) writeFailure(io.stderr, describeExit(interruptedMove));
      if (code === EXIT_SUCCESS) await this.sayWhatRemains();
      await controller.close();
    }
  }

  /** Names the jobs that end or continue, and the conversation that was saved: not always the one opened first. */
  private async sayWhatRemains(): Promise<void> {
    const { jobs, session } = await this.interaction.controller.session;
    for (const line of describeJobsAtExit(jobs.list)) writeLine(this.io.stdout, line);
    const hasMessages = session.branches.path.some(({ type }) => type === "message");
    // The demo itself explains how to continue.
    if (session.sessionPath === undefined || !hasMessages || this.extras.conclude) return;
    const { directory } = this.command.options;
    const place = directory === undefined ? "" : ` -C ${shellQuote(directory)}`;
    writeLine(this.io.stdout, `To continue: diligent${place} --continue ${session.sessionId}`);
  }

  /** Prompts sent while the program is shutting down become the draft for next time. */
  private submit(text: string, visibleText: string): void {
    if (this.shutdown.isShuttingDown) this.prompt.editor.setText(text);
    else this.interaction.lines.take(text, visibleText);
  }

  /** What is drawn, and where keys go. */
  private connect(): void {
    const { screen, guard, painter } = this.display;
    const { editor } = this.prompt;
    const { driver, commandField, picker, context, fail } = this.interaction;
    const view = () => painter.shownView;
    screen.addChild(new LiveRegion({ view, editor, commandField, style: painter.liveStyle }));
    const parts = { screen, guard, painter, editor, driver, commandField, picker, context, fail };
    const input = new KeyInput(parts);
    this.interaction.lines.onCommand = (command) => input.followCommand(command);
    this.display.onInput((data) => input.take(data));
    screen.setFocus(editor);
  }

  private async begin(opened: ProjectSession): Promise<void> {
    const { context, lines } = this.interaction;
    await this.interaction.begin(opened);
    const { prompt, isBareWord, resumption } = this.command;
    const { introduction, conclude } = this.extras;
    if (introduction !== undefined) context.print(introduction);
    if (resumption?.opensList && !(await this.chooseSession())) return;
    if (prompt === undefined) return;
    if (isBareWord) return this.confirm(prompt);
    if (conclude === undefined) return lines.submit(prompt);
    await lines.send(prompt, []);
    const { shutdown } = this;
    if (shutdown.isShuttingDown) return;
    await conclude((text) => {
      if (!shutdown.isShuttingDown) context.print(text);
      return !shutdown.isShuttingDown;
    }, context.keymap);
  }

  /** A word that may be a mistyped command is sent only when the user presses Enter. */
  private confirm(word: string): void {
    this.prompt.editor.setText(word);
    const text = `Unknown command ${word}. Press Enter to send it as a prompt.`;
    this.interaction.context.show(notice("info", text));
  }

  /** False if the user chose none: the prompt of the command line then waits in the editor. */
  private async chooseSession(): Promise<boolean> {
    const { context } = this.interaction;
    const { chooseSession } = await import("./pickers/choose-session.ts");
    const hasChosen = await chooseSession(context);
    const { prompt } = this.command;
    if (!hasChosen && prompt !== undefined) context.setPrompt(prompt);
    return hasChosen;
  }

  private async prepare(): Promise<void> {
    const { context, fail } = this.interaction;
    void loadMarkdown().then(() => this.display.screen.requestRender(), fail);
    await assistEditor(this.prompt.editor, this.io, context);
  }
}

interface InteractionDeps {
  command: RunCommand;
  io: CliIo;
  display: Display;
  prompt: PromptField;
  keys: ReloadableKeys;
  theme: PromptEditorOptions["theme"];
  /** Quits the program. */
  quit(): void;
}

/**
 * Everything the user can do with a session: send prompts, answer questions, choose from lists, run commands.
 */
class Interaction {
  readonly controller: SessionController;
  readonly driver: ConversationDriver;
  readonly commandField: CommandField;
  readonly picker: OpenPicker;
  readonly lines: TypedLines;
  readonly context: CommandContext;
  private opened: ProjectSession | undefined;
  /** The session is open, and the questions that precede the first prompt are answered. */
  private readonly ready = Promise.withResolvers<void>();

  /** Starts to open the session. */
  constructor({ command, io, display, prompt, keys, theme, quit }: InteractionDeps) {
    const { painter, screen, terminal } = display;
    const { change } = painter;
    const { environment } = io;
    const { isWriting } = prompt;
    const room = () => ({ rows: terminal.rows, columns: terminal.columns, keymap: keys.keymap });
    this.driver = new ConversationDriver({
      session: () => this.controller.session,
      change,
      room,
      isWriting,
      answered: () => void this.offerPlan().catch(this.fail),
      lendTerminal: (run) => display.lend(run),
    });
    const { approvals } = this.driver;
    const jobs = new JobWatch((update, runningCount) => {
      change((view) => ({ ...view, status: { ...view.status, jobs: runningCount } }));
      const text = describeJobUpdate(update);
      if (text !== undefined) change((view) => finish(view, notice("info", text)));
    });
    this.commandField = new CommandField({
      tui: screen,
      theme,
      keys: () => keys.editorKeys,
      submit: (edited) => approvals.give({ edited }),
    });
    this.picker = new OpenPicker(change, this.fail);
    this.lines = new TypedLines({
      context: () => this.context,
      driver: this.driver,
      environment,
      session: () => this.ready.promise.then(() => this.controller.session),
      fail: this.fail,
    });
    this.controller = new SessionController(command, io, {
      ask: approvals.ask,
      askUser: async (questions, options) => {
        const { askModelQuestions } = await import("./pickers/model-questions.ts");
        const holdApprovals = () => approvals.holdWhenFree();
        return askModelQuestions(questions, options, {
          open: (picker) => this.picker.open(picker),
          change,
          holdApprovals,
        });
      },
      warn: (text) => this.context.show(notice("warning", text)),
      notify: (text) => this.context.show(notice("info", text)),
      onOpened: (opened) => {
        this.opened = opened;
        const taken = describeTaken(opened.extensionCommands, SLASH_COMMANDS);
        if (taken !== undefined)
          opened.notices.push({ level: "info", code: "command_name_taken", message: taken });
        display.configureFor(opened);
        jobs.open(opened);
        if (prompt.openSession(opened))
          change((view) => ({ ...view, hint: "Press Up to restore your unsent draft" }));
      },
    });
    this.context = createCommandContext({
      painter,
      controller: this.controller,
      driver: this.driver,
      editor: prompt.editor,
      picker: this.picker,
      keys,
      environment,
      extensionCommands: () => this.opened?.extensionCommands ?? [],
      submit: (text) => this.lines.submit(text),
      lendTerminal: (run) => display.lend(run),
      onAnyExit: (cleanUp) => io.onAnyExit(cleanUp),
      writeRaw: (sequence) => terminal.write(sequence),
      columns: () => terminal.columns,
      quit,
    });
    for (const text of keys.warnings) this.context.show(notice("warning", text));
  }

  /** After an answer in plan mode. */
  private async offerPlan(): Promise<void> {
    const { approval, session } = await this.controller.session;
    if (approval.mode !== "plan") return;
    const { offerPlan } = await import("./pickers/plan.ts");
    await offerPlan(session.branches.path, this.context);
  }

  /**
   * Asks the questions that precede the first prompt, and resolves when they are answered; prompts wait for
   * that.
   */
  async begin(opened: ProjectSession): Promise<void> {
    const { trust, knowledgeTrust } = opened.loaded;
    const isSettingWaiting = [trust, knowledgeTrust.state].some(
      (state) => state === "untrusted" || state === "changed",
    );
    if (isSettingWaiting || opened.hasWaitingDefinitions) {
      const { askForTrustFirst } = await import("./pickers/trust.ts");
      await askForTrustFirst(opened, this.context).catch(this.fail);
    }
    this.ready.resolve();
  }

  /** Prints an error. */
  readonly fail = (error: unknown): void => {
    this.context.show(notice("error", describeError(error)));
  };
}
