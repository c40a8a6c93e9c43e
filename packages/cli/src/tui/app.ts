import { basename } from "node:path";
import { now } from "@diligent/core/light";
import type { RunCommand } from "../arguments/command.ts";
import type { CliIo, CliTerminal } from "../cli-io.ts";
import { describeError } from "../describe-error.ts";
import { EXIT_SUCCESS, SIGNAL_EXIT_CODES } from "../exit-codes.ts";
import { MissingKeyError } from "../missing-key.ts";
import type { OpenSession } from "../open-session.ts";
import { describeLeaving } from "../undo/describe-progress.ts";
import { writeFailure } from "../write-line.ts";
import { CommandField } from "./approval/command-field.ts";
import { Attention } from "./attention/attention.ts";
import { createCommandContext, showSession } from "./command-context.ts";
import type { CommandContext } from "./commands/types.ts";
import { ConversationDriver } from "./conversation-driver.ts";
import type { DraftKeeper } from "./editor/draft.ts";
import { PromptEditor } from "./editor/prompt-editor.ts";
import { toPromptTheme } from "./editor/prompt-theme.ts";
import { KeyInput } from "./key-input.ts";
import { loadKeybindings } from "./keys/keybindings-file.ts";
import type { Keymap } from "./keys/keymap.ts";
import { ReloadableKeys } from "./keys/reloadable-keys.ts";
import { LiveRegion } from "./live-region.ts";
import { loadMarkdown } from "./markdown/load-markdown.ts";
import { OpenPicker } from "./pickers/open-picker.ts";
import { assistEditor, openDraft } from "./prompt-assistance.ts";
import { InlineScreen } from "./screen/inline-screen.ts";
import { TerminalGuard } from "./screen/terminal-guard.ts";
import { SessionHolder } from "./session-holder.ts";
import { createTheme, type Theme } from "./theme.ts";
import { TypedLines } from "./typed-lines.ts";
import { createView, notice } from "./view.ts";
import { ViewPainter } from "./view-painter.ts";

// A run that is being stopped, and the children it has started, get so long when the program is left.
const PATIENCE_MS = 1_300;

// Who has written so short a time ago has not finished.
const WRITING_MS = 2_000;

// However a thing that is to be closed hangs, the program ends within two seconds of a signal.
const LAST_RESORT_MS = 600;
// Who asks twice waits for no command that does not want to end.
const IMPATIENCE_MS = 200;

/** What a command that brings its own prompt, such as the demonstration, has to say around it. */
export interface TuiExtras {
  /** Before the prompt. */
  introduction?: string;
  /** Called when the prompt's run has ended. `say` shows something below it; false when the user is about to leave. */
  conclude?(say: (text: string) => boolean, keymap: Keymap): Promise<void>;
}

/**
 * The interactive session on a screen of its own. The prompt can be written in at once; the session is opened meanwhile.
 * Who has no key at all is told how to get one, and offered the demonstration. Returns the exit code.
 * @throws UsageError when the session cannot be opened; the terminal is as it was then.
 */
export async function runTui(command: RunCommand, io: CliIo, extras: TuiExtras = {}): Promise<number> {
  const [terminal, bindings] = await Promise.all([io.openTerminal(), loadKeybindings(io.environment)]);
  const keys = new ReloadableKeys(bindings, io.environment);
  try {
    return await new App(command, io, { ...terminal, keys, extras }).run();
  } catch (error) {
    if (!(error instanceof MissingKeyError && error.isFirstStart)) throw error;
    const { runWelcome } = await import("./welcome/run-welcome.ts");
    return runWelcome(terminal, io);
  }
}

type AppParts = CliTerminal & { keys: ReloadableKeys; extras: TuiExtras };

/** Connects the parts: keys to effects, events to the view, the view to the screen. */
class App {
  readonly screen: InlineScreen;
  readonly guard: TerminalGuard;
  readonly painter: ViewPainter;
  readonly editor: PromptEditor;
  readonly commandField: CommandField;
  readonly driver: ConversationDriver;
  readonly picker: OpenPicker;
  private readonly holder: SessionHolder;
  private readonly lines: TypedLines;
  readonly context: CommandContext;
  private readonly draft: DraftKeeper;
  private readonly attention: Attention;
  private readonly extras: TuiExtras;
  /** True while another program has the terminal. */
  private isLent = false;
  /** The session is open, and what had to be asked before the first prompt is decided. */
  private readonly ready = Promise.withResolvers<void>();
  private readonly leaving = Promise.withResolvers<number>();
  private isLeaving = false;
  /** When something was written that was not sent, in milliseconds. */
  private wroteAt: number | undefined;

  constructor(
    private readonly command: RunCommand,
    private readonly io: CliIo,
    { terminal, host, writeNow, readSize, keys, extras }: AppParts,
  ) {
    const theme = createTheme({ color: !io.environment.NO_COLOR });
    this.screen = new InlineScreen(terminal, { environment: io.environment, readSize });
    this.guard = new TerminalGuard(this.screen, host, writeNow);
    this.painter = new ViewPainter(this.screen, { theme, keymap: keys.keymap }, createView({ cwd: io.cwd }));
    this.extras = extras;
    this.attention = new Attention({
      environment: io.environment,
      write: (sequence) => this.guard.write(sequence),
    });
    this.guard.accompany(this.attention);
    this.painter.onChange = (view) => this.attention.update(view);
    const { change } = this.painter;
    this.editor = this.createEditor(theme, keys);
    this.draft = openDraft(io);
    const room = () => ({ rows: terminal.rows, columns: terminal.columns, keymap: keys.keymap });
    const { isWriting } = this;
    this.driver = new ConversationDriver({ session: () => this.holder.session, change, room, isWriting });
    this.commandField = new CommandField({
      tui: this.screen,
      theme: toPromptTheme(theme),
      keys: () => keys.editorKeys,
      submit: (edited) => this.driver.approvals.give({ edited }),
    });
    this.picker = new OpenPicker(change, this.fail);
    this.lines = new TypedLines({
      context: () => this.context,
      driver: this.driver,
      environment: io.environment,
      session: () => this.ready.promise.then(() => this.holder.session),
      fail: this.fail,
    });
    this.holder = new SessionHolder(command, io, {
      ask: this.driver.approvals.ask,
      warn: (text) => this.context.show(notice("warning", text)),
      onOpened: (opened) => this.configureAttention(opened),
    });
    this.context = createCommandContext({
      painter: this.painter,
      holder: this.holder,
      driver: this.driver,
      editor: this.editor,
      picker: this.picker,
      keys,
      environment: io.environment,
      submit: (text) => this.lines.submit(text),
      lendTerminal: (run) => this.lend(run),
      writeRaw: (sequence) => terminal.write(sequence),
      columns: () => terminal.columns,
      quit: () => this.leave(EXIT_SUCCESS),
    });
    for (const text of keys.warnings) this.context.show(notice("warning", text));
  }

  async run(): Promise<number> {
    const unsubscribe = this.io.onSignal((signal) => {
      // Ctrl+C in a pager or an editor is meant for that.
      if (signal !== "SIGINT" || !this.isLent) this.leave(SIGNAL_EXIT_CODES[signal]);
    });
    this.screen.addChild(
      new LiveRegion({
        view: () => this.painter.shownView,
        editor: this.editor,
        commandField: this.commandField,
        look: this.painter.look,
      }),
    );
    const input = new KeyInput(this);
    this.screen.addInputListener((data) => {
      if (!this.attention.readInput(data)) input.take(data);
      return { consume: true };
    });
    this.screen.setFocus(this.editor);
    // However the program ends, the terminal is given back before anything is said for a person.
    this.io.onExit(() => this.guard.leave());
    this.guard.hold();
    this.editor.setText(this.draft.restore() ?? "");
    this.wroteAt = undefined;
    // After the first frame: until then nobody has written or asked anything.
    setTimeout(() => this.prepare(), 0);
    let isOpen = false;
    try {
      const opened = await Promise.race([this.holder.session, this.leaving.promise]);
      if (typeof opened === "number") return opened;
      isOpen = true;
      showSession(opened, this.painter);
      void this.begin(opened).catch(this.fail);
      return await this.leaving.promise;
    } finally {
      unsubscribe();
      this.painter.stop();
      this.draft.flush();
      // A prompt that nothing could be written in is no part of what is left on the screen.
      await this.guard.leave({ isErased: !isOpen });
      const { unfinishedMove } = this.driver;
      if (unfinishedMove) writeFailure(this.io.stderr, describeLeaving(unfinishedMove));
      await this.holder.close();
    }
  }

  private async begin(opened: OpenSession): Promise<void> {
    const { trust } = opened.loaded;
    if (trust === "untrusted" || trust === "changed") {
      const { askForTrustFirst } = await import("./pickers/trust.ts");
      await askForTrustFirst(opened, this.context).catch(this.fail);
    }
    this.ready.resolve();
    const { prompt } = this.command;
    const { introduction, conclude } = this.extras;
    if (introduction !== undefined) this.context.print(introduction);
    if (prompt === undefined) return;
    if (conclude === undefined) return this.lines.submit(prompt);
    await this.lines.send(prompt, []);
    if (this.isLeaving) return;
    await conclude((text) => {
      if (!this.isLeaving) this.context.print(text);
      return !this.isLeaving;
    }, this.context.keymap);
  }

  private prepare(): void {
    assistEditor(this.editor, this.io, this.context);
    void loadMarkdown().then(() => this.screen.requestRender(), this.fail);
  }

  private createEditor(theme: Theme, { editorKeys }: ReloadableKeys): PromptEditor {
    return new PromptEditor(this.screen, {
      theme: toPromptTheme(theme),
      keys: editorKeys,
      onSubmit: (text, { visibleText }) => {
        this.draft.sent();
        this.wroteAt = undefined;
        this.lines.take(text, visibleText);
      },
      onChange: (text) => {
        this.draft.change(text);
        this.wroteAt = now();
      },
    });
  }

  /** Somebody who has just deleted everything writes on as well. */
  private readonly isWriting = (): boolean =>
    !this.editor.isEmpty || (this.wroteAt !== undefined && now() - this.wroteAt < WRITING_MS);

  readonly fail = (error: unknown): void => {
    const text = describeError(error);
    this.context.show(notice("error", text));
  };

  private configureAttention({ loaded: { config, projectRoot } }: OpenSession): void {
    const facts = { project: basename(projectRoot), settings: config.terminal };
    this.attention.configure(facts, this.painter.view);
  }

  private async lend<T>(run: (ended: AbortSignal) => Promise<T>): Promise<T> {
    this.isLent = true;
    try {
      return await this.guard.lend(run);
    } finally {
      this.isLent = false;
    }
  }

  private leave(code: number): void {
    const patienceMs = this.isLeaving || this.driver.isInterrupted ? IMPATIENCE_MS : PATIENCE_MS;
    this.isLeaving = true;
    void Promise.race([this.driver.stopAll(), Bun.sleep(patienceMs)]).then(() => this.leaving.resolve(code));
    setTimeout(() => this.io.exit(code), patienceMs + LAST_RESORT_MS).unref();
  }
}
