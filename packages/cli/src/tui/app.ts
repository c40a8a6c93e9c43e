import { findProjectRoot, homeDirectory } from "@diligent/core/light";
import type { RunCommand } from "../arguments/command.ts";
import type { CliIo, CliTerminal } from "../cli-io.ts";
import { EXIT_SUCCESS, SIGNAL_EXIT_CODES } from "../exit-codes.ts";
import { applyKey } from "./apply-key.ts";
import { attachFiles, findMentions } from "./attachments/index.ts";
import { carryOut } from "./carry-out.ts";
import { createCommandContext, showSession } from "./command-context.ts";
import { readCommandLine } from "./commands/find-command.ts";
import { SLASH_COMMANDS } from "./commands/index.ts";
import type { CommandContext } from "./commands/types.ts";
import { ConversationDriver } from "./conversation-driver.ts";
import type { DraftKeeper } from "./editor/draft.ts";
import { PromptEditor } from "./editor/prompt-editor.ts";
import { type Keybindings, loadKeybindings } from "./keys/keybindings-file.ts";
import { nameKey } from "./keys/name-key.ts";
import { LiveRegion } from "./live-region.ts";
import { loadMarkdown } from "./markdown/load-markdown.ts";
import { OpenPicker } from "./pickers/open-picker.ts";
import { assistEditor, openDraft } from "./prompt-assistance.ts";
import { InlineScreen } from "./screen/inline-screen.ts";
import { TerminalGuard } from "./screen/terminal-guard.ts";
import { SessionHolder } from "./session-holder.ts";
import { createTheme } from "./theme.ts";
import { createView } from "./view.ts";
import { ViewPainter } from "./view-painter.ts";

// A run that is being stopped, and the children it has started, get so long when the program is left.
const PATIENCE_MS = 1_300;

/**
 * The interactive session on a screen of its own. The prompt can be written in at once; the session is opened meanwhile.
 * Returns the exit code.
 * @throws UsageError when the session cannot be opened; the terminal is as it was then.
 */
export async function runTui(command: RunCommand, io: CliIo): Promise<number> {
  const [terminal, keys] = await Promise.all([io.openTerminal(), loadKeybindings(io.environment)]);
  return new App(command, io, { ...terminal, keys }).run();
}

/** Connects the parts: keys to effects, events to the view, the view to the screen. */
class App {
  private readonly screen: InlineScreen;
  private readonly guard: TerminalGuard;
  private readonly painter: ViewPainter;
  private readonly editor: PromptEditor;
  private readonly driver: ConversationDriver;
  private readonly picker: OpenPicker;
  private readonly holder: SessionHolder;
  private readonly context: CommandContext;
  private readonly draft: DraftKeeper;
  /** True while another program has the terminal. */
  private isLent = false;
  private readonly leaving = Promise.withResolvers<number>();

  constructor(
    private readonly command: RunCommand,
    private readonly io: CliIo,
    { terminal, host, writeNow, keys }: CliTerminal & { keys: Keybindings },
  ) {
    const theme = createTheme({ color: !io.environment.NO_COLOR });
    this.screen = new InlineScreen(terminal, { environment: io.environment });
    this.guard = new TerminalGuard(this.screen, host, writeNow);
    this.painter = new ViewPainter(this.screen, theme, createView({ cwd: io.cwd }));
    const { change } = this.painter;
    this.editor = new PromptEditor(this.screen, {
      theme: { marker: theme.accent, label: theme.dim, selected: theme.selected, description: theme.dim },
      keys: keys.editorKeys,
      onSubmit: (text, { visibleText }) => this.submit(text, findMentions(visibleText)),
      onChange: (text) => this.draft.change(text),
    });
    this.draft = openDraft(io);
    const size = () => ({ rows: terminal.rows, columns: terminal.columns });
    this.driver = new ConversationDriver({ session: () => this.holder.session, change, size });
    this.picker = new OpenPicker(change, this.fail);
    this.holder = new SessionHolder(command, io, {
      ask: this.driver.ask,
      warn: (text) => this.context.show({ type: "notice", level: "warning", text }),
    });
    this.context = createCommandContext({
      painter: this.painter,
      holder: this.holder,
      driver: this.driver,
      editor: this.editor,
      picker: this.picker,
      keymap: keys.keymap,
      editorKeys: keys.editorKeys,
      environment: io.environment,
      submit: (text) => this.submit(text),
      lendTerminal: (run) => this.lend(run),
      writeRaw: (sequence) => terminal.write(sequence),
      columns: () => terminal.columns,
      quit: () => this.leave(EXIT_SUCCESS),
    });
    for (const text of [...keys.problems, ...keys.warnings])
      this.context.show({ type: "notice", level: "warning", text });
  }

  async run(): Promise<number> {
    const unsubscribe = this.io.onSignal((signal) => {
      // Ctrl+C in a pager or an editor is meant for that.
      if (signal !== "SIGINT" || !this.isLent) this.leave(SIGNAL_EXIT_CODES[signal]);
    });
    this.screen.addChild(
      new LiveRegion({ view: () => this.painter.view, editor: this.editor, look: this.painter.look }),
    );
    this.screen.addInputListener((data) => this.takeInput(data));
    this.screen.setFocus(this.editor);
    // However the program ends, the terminal is given back before anything is said for a person.
    this.io.onExit(() => this.guard.leave());
    this.guard.hold();
    this.editor.setText(this.draft.restore() ?? "");
    // After the first frame: until then nobody has written or asked anything.
    setTimeout(() => this.prepare(), 0);
    try {
      const opened = await Promise.race([this.holder.session, this.leaving.promise]);
      if (typeof opened === "number") return opened;
      showSession(opened, this.painter);
      if (this.command.prompt !== undefined) this.submit(this.command.prompt);
      return await this.leaving.promise;
    } finally {
      unsubscribe();
      this.painter.stop();
      this.draft.flush();
      await this.guard.leave();
      await this.holder.close();
    }
  }

  private prepare(): void {
    assistEditor(this.editor, this.io, this.context);
    void loadMarkdown().then(() => this.screen.requestRender(), this.fail);
  }

  /** Every key goes through the view first; what it does not want is the editor's. */
  private takeInput(data: string): { consume: true } {
    const name = nameKey(data);
    // A completion list has its own Escape, Enter and arrows.
    const isEditors =
      name === undefined || (this.editor.isCompleting && this.painter.view.dialog === undefined);
    if (isEditors) {
      this.editor.handleInput(data);
      this.screen.requestRender();
      return { consume: true };
    }
    const { rows, columns } = this.screen.terminal;
    const { view, effects } = applyKey(
      this.painter.view,
      { name, data },
      {
        keymap: this.context.keymap,
        isPromptEmpty: this.editor.isEmpty,
        now: this.painter.look().now,
        rows,
        columns,
      },
    );
    this.painter.change(() => view);
    const { context, driver, editor, guard, picker } = this;
    for (const effect of effects)
      void carryOut(effect, { context, driver, editor, guard, picker }).catch(this.fail);
    this.screen.requestRender();
    return { consume: true };
  }

  /** @param mentions the files that the user has named where they could see it, not in a long paste. */
  private submit(text: string, mentions?: readonly string[]): void {
    this.draft.sent();
    const line = readCommandLine(text, SLASH_COMMANDS);
    if (line.kind === "prompt") {
      void this.send(line.text, mentions).catch(this.fail);
    } else if (line.kind === "unknown") {
      const hint = line.nearest === undefined ? "/help lists them all" : `did you mean /${line.nearest}?`;
      this.fail(
        new Error(
          `There is no command /${line.name} (${hint}). A prompt that begins with / is sent with //.`,
        ),
      );
      this.editor.setText(text);
    } else if (this.driver.isBusy && !line.command.isAlwaysPossible) {
      this.fail(new Error(`/${line.command.name} has to wait until the run has ended; Esc stops it.`));
    } else {
      void Promise.resolve()
        .then(() => line.command.run(line.argument, this.context))
        .catch(this.fail);
    }
  }

  private async send(text: string, mentions?: readonly string[]): Promise<void> {
    const { cwd } = await this.holder.session;
    const home = homeDirectory(this.io.environment);
    const place = { cwd, root: findProjectRoot(cwd, home), home };
    const { content, notes } = await attachFiles(text, { ...place, ...(mentions && { mentions }) });
    const sending = this.driver.send({ text, content });
    for (const note of notes) this.context.show({ type: "notice", level: "info", text: note });
    await sending;
  }

  private readonly fail = (error: unknown): void => {
    const text = error instanceof Error ? error.message : String(error);
    this.context.show({ type: "notice", level: "error", text });
  };

  private async lend<T>(run: () => Promise<T>): Promise<T> {
    this.isLent = true;
    try {
      return await this.guard.lend(run);
    } finally {
      this.isLent = false;
    }
  }

  private leave(code: number): void {
    void Promise.race([this.driver.interrupt(), Bun.sleep(PATIENCE_MS)]).then(() =>
      this.leaving.resolve(code),
    );
    setTimeout(() => this.io.exit(code), PATIENCE_MS * 2).unref();
  }
}
