import type { RunCommand } from "../arguments/command.ts";
import type { CliIo } from "../cli-io.ts";
import { SessionHolder } from "../conversation/session-holder.ts";
import { describeError } from "../describe-error.ts";
import type { OpenSession } from "../open-session.ts";
import { CommandField } from "./approval/command-field.ts";
import { createCommandContext } from "./command-context.ts";
import type { CommandContext } from "./commands/types.ts";
import { ConversationDriver } from "./conversation-driver.ts";
import type { Display } from "./display.ts";
import type { PromptEditorOptions } from "./editor/prompt-editor.ts";
import type { ReloadableKeys } from "./keys/reloadable-keys.ts";
import { OpenPicker } from "./pickers/open-picker.ts";
import type { PromptField } from "./prompt-field.ts";
import { TypedLines } from "./typed-lines.ts";
import { notice } from "./view.ts";

interface InteractionParts {
  command: RunCommand;
  io: CliIo;
  display: Display;
  prompt: PromptField;
  keys: ReloadableKeys;
  theme: PromptEditorOptions["theme"];
  /** Leaves the program. */
  quit(): void;
}

/** What the user can do with a session: talk to it, answer its questions, choose from lists, run commands. */
export class Interaction {
  readonly holder: SessionHolder;
  readonly driver: ConversationDriver;
  readonly commandField: CommandField;
  readonly picker: OpenPicker;
  readonly lines: TypedLines;
  readonly context: CommandContext;
  /** The session is open, and what had to be asked before the first prompt is decided. */
  private readonly ready = Promise.withResolvers<void>();

  /** Begins to open the session. */
  constructor({ command, io, display, prompt, keys, theme, quit }: InteractionParts) {
    const { painter, screen, terminal } = display;
    const { change } = painter;
    const { environment } = io;
    const { isWriting } = prompt;
    const room = () => ({ rows: terminal.rows, columns: terminal.columns, keymap: keys.keymap });
    this.driver = new ConversationDriver({ session: () => this.holder.session, change, room, isWriting });
    const { approvals } = this.driver;
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
      session: () => this.ready.promise.then(() => this.holder.session),
      fail: this.fail,
    });
    this.holder = new SessionHolder(command, io, {
      ask: approvals.ask,
      warn: (text) => this.context.show(notice("warning", text)),
      tell: (text) => this.context.show(notice("info", text)),
      onOpened: (opened) => display.attendTo(opened),
    });
    this.context = createCommandContext({
      painter,
      holder: this.holder,
      driver: this.driver,
      editor: prompt.editor,
      picker: this.picker,
      keys,
      environment,
      submit: (text) => this.lines.submit(text),
      lendTerminal: (run) => display.lend(run),
      onAnyExit: (cleanUp) => io.onAnyExit(cleanUp),
      writeRaw: (sequence) => terminal.write(sequence),
      columns: () => terminal.columns,
      quit,
    });
    for (const text of keys.warnings) this.context.show(notice("warning", text));
  }

  /** Asks what has to be decided before the first prompt, and resolves then; prompts wait for that. */
  async begin(opened: OpenSession): Promise<void> {
    const { trust } = opened.loaded;
    if (trust === "untrusted" || trust === "changed") {
      const { askForTrustFirst } = await import("./pickers/trust.ts");
      await askForTrustFirst(opened, this.context).catch(this.fail);
    }
    this.ready.resolve();
  }

  /** Says what went wrong. */
  readonly fail = (error: unknown): void => {
    this.context.show(notice("error", describeError(error)));
  };
}
