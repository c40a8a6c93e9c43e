import type { RunCommand } from "../arguments/command.ts";
import type { CliIo, CliTerminal } from "../cli-io.ts";
import { Leaving } from "../conversation/leaving.ts";
import { EXIT_SUCCESS, SIGNAL_EXIT_CODES } from "../exit-codes.ts";
import { MissingKeyError } from "../missing-key.ts";
import type { OpenSession } from "../open-session.ts";
import { describeLeaving } from "../undo/describe-progress.ts";
import { writeFailure } from "../write-line.ts";
import { showSession } from "./command-context.ts";
import { Display } from "./display.ts";
import { toPromptTheme } from "./editor/prompt-theme.ts";
import { Interaction } from "./interaction.ts";
import { KeyInput } from "./key-input.ts";
import { loadKeybindings } from "./keys/keybindings-file.ts";
import type { Keymap } from "./keys/keymap.ts";
import { ReloadableKeys } from "./keys/reloadable-keys.ts";
import { LiveRegion } from "./live-region.ts";
import { loadMarkdown } from "./markdown/load-markdown.ts";
import { assistEditor, openDraft } from "./prompt-assistance.ts";
import { PromptField } from "./prompt-field.ts";
import { createTheme } from "./theme.ts";

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
  private readonly display: Display;
  private readonly prompt: PromptField;
  private readonly interaction: Interaction;
  private readonly leaving: Leaving;
  private readonly extras: TuiExtras;

  constructor(
    private readonly command: RunCommand,
    private readonly io: CliIo,
    { keys, extras, ...terminal }: AppParts,
  ) {
    this.extras = extras;
    const look = createTheme({ color: !io.environment.NO_COLOR });
    const theme = toPromptTheme(look);
    this.display = new Display(terminal, io, { theme: look, keymap: keys.keymap });
    this.prompt = new PromptField(this.display.screen, {
      theme,
      keys: keys.editorKeys,
      draft: openDraft(io),
      submit: (text, visibleText) => this.submit(text, visibleText),
    });
    const { display, prompt } = this;
    const quit = () => this.leaving.leave(EXIT_SUCCESS);
    this.interaction = new Interaction({ command, io, display, prompt, keys, theme, quit });
    const { driver } = this.interaction;
    this.leaving = new Leaving({
      stop: () => driver.stopAll(),
      isStopped: () => driver.isInterrupted,
      exit: (code) => io.exit(code),
    });
  }

  async run(): Promise<number> {
    const { display, prompt, interaction, leaving, io } = this;
    const { driver, holder } = interaction;
    const unsubscribe = io.onSignal((signal) => {
      // Ctrl+C in a pager or an editor is meant for that.
      if (signal !== "SIGINT" || !display.isLent) leaving.leave(SIGNAL_EXIT_CODES[signal]);
    });
    this.connect();
    // However the program ends, the terminal is given back before anything is said for a person.
    io.onExit(() => display.guard.leave());
    display.guard.hold();
    prompt.restoreDraft();
    // After the first frame: until then nobody has written or asked anything.
    setTimeout(() => this.prepare(), 0);
    let isOpen = false;
    try {
      const opened = await Promise.race([holder.session, leaving.code]);
      if (typeof opened === "number") return opened;
      isOpen = true;
      showSession(opened, display.painter);
      void this.begin(opened).catch(interaction.fail);
      return await leaving.code;
    } finally {
      unsubscribe();
      display.painter.stop();
      prompt.keepDraft();
      // A prompt that nothing could be written in is no part of what is left on the screen.
      await display.guard.leave({ isErased: !isOpen });
      const { unfinishedMove } = driver;
      if (unfinishedMove) writeFailure(io.stderr, describeLeaving(unfinishedMove));
      await holder.close();
    }
  }

  /** Who is leaving begins nothing more: it is a draft for the next time. */
  private submit(text: string, visibleText: string): void {
    if (this.leaving.isLeaving) this.prompt.editor.setText(text);
    else this.interaction.lines.take(text, visibleText);
  }

  /** What is drawn, and where keys go. */
  private connect(): void {
    const { screen, guard, painter } = this.display;
    const { editor } = this.prompt;
    const { driver, commandField, picker, context, fail } = this.interaction;
    const view = () => painter.shownView;
    screen.addChild(new LiveRegion({ view, editor, commandField, look: painter.look }));
    const parts = { screen, guard, painter, editor, driver, commandField, picker, context, fail };
    const input = new KeyInput(parts);
    this.display.onInput((data) => input.take(data));
    screen.setFocus(editor);
  }

  private async begin(opened: OpenSession): Promise<void> {
    const { context, lines } = this.interaction;
    await this.interaction.begin(opened);
    const { prompt } = this.command;
    const { introduction, conclude } = this.extras;
    if (introduction !== undefined) context.print(introduction);
    if (prompt === undefined) return;
    if (conclude === undefined) return lines.submit(prompt);
    await lines.send(prompt, []);
    const { leaving } = this;
    if (leaving.isLeaving) return;
    await conclude((text) => {
      if (!leaving.isLeaving) context.print(text);
      return !leaving.isLeaving;
    }, context.keymap);
  }

  private prepare(): void {
    const { context, fail } = this.interaction;
    assistEditor(this.prompt.editor, this.io, context);
    void loadMarkdown().then(() => this.display.screen.requestRender(), fail);
  }
}
