import type { Resumption, RunCommandOptions } from "../../src/arguments/command.ts";
import { SessionController } from "../../src/session/session-controller.ts";
import { createCommandContext, showSession } from "../../src/tui/commands/context.ts";
import { readCommandLine, SLASH_COMMANDS } from "../../src/tui/commands/index.ts";
import type { CommandContext } from "../../src/tui/commands/types.ts";
import { ConversationDriver } from "../../src/tui/conversation-driver.ts";
import { runEffect } from "../../src/tui/key-input.ts";
import { createKeymap } from "../../src/tui/keys/keymap.ts";
import { applyKey } from "../../src/tui/keys-to-effects.ts";
import { OpenPicker } from "../../src/tui/pickers/picker.ts";
import { filterItems } from "../../src/tui/pickers/picker-view.ts";
import { TypedLines } from "../../src/tui/prompt/submit.ts";
import { type Block, createView, type PickerDialog, type View } from "../../src/tui/view.ts";
import { FakeIo } from "./fake-io.ts";
import type { TemporaryProject } from "./temporary-project.ts";

export interface TypedOptions {
  /** The options of the command line. */
  options?: Partial<RunCommandOptions>;
  environment?: Record<string, string>;
  /** The session to resume; default: a new one. */
  resumption?: Resumption;
}

const MACHINE_PATH = "/usr/bin:/bin";

/**
 * The interactive program without its screen: the real session, commands, lists and keys. `blocks` has what
 * would be written to the transcript.
 */
export class TypedCommands {
  readonly blocks: Block[] = [];
  readonly raw: string[] = [];
  view: View;
  text = "";
  readonly io = new FakeIo();
  readonly holder: SessionController;
  readonly context: CommandContext;
  private readonly driver: ConversationDriver;
  private readonly isOwnPath: boolean;
  private readonly picker: OpenPicker;
  private readonly lines: TypedLines;
  private readonly keymap = createKeymap();
  hasQuit = false;
  columns = 80;

  constructor(place: TemporaryProject, { options, environment, resumption }: TypedOptions = {}) {
    this.io.cwd = place.project;
    this.isOwnPath = environment?.PATH !== undefined;
    this.io.environment = { PATH: MACHINE_PATH, HOME: place.home, ...environment };
    this.view = createView({ cwd: place.project });
    const call = {
      options: { isSaved: true, isVerbose: false, model: "scripted/script.json", ...options },
      resumption,
    };
    const room = () => ({ rows: 24, columns: 80, keymap: this.keymap });
    this.driver = new ConversationDriver({
      session: () => this.holder.session,
      change: this.change,
      room,
    });
    this.holder = new SessionController(call, this.io, {
      ask: this.driver.approvals.ask,
      warn: () => {},
      notify: (text) => this.context.show({ type: "notice", level: "info", text }),
    });
    this.picker = new OpenPicker(this.change, this.fail);
    this.lines = new TypedLines({
      context: () => this.context,
      driver: this.driver,
      environment: this.io.environment,
      session: () => this.holder.session,
      fail: this.fail,
    });
    const self = this;
    this.context = createCommandContext({
      painter: {
        get view() {
          return self.view;
        },
        change: this.change,
      },
      controller: this.holder,
      driver: this.driver,
      editor: {
        get text() {
          return self.text;
        },
        setText: (text) => {
          self.text = text;
        },
      },
      picker: this.picker,
      keys: { keymap: this.keymap, editorKeys: {}, reload: async () => [] },
      extensionCommands: () => [],
      environment: this.io.environment,
      submit: (text) => void this.say(text),
      lendTerminal: (run) => run(new AbortController().signal),
      onAnyExit: this.io.onAnyExit,
      writeRaw: (sequence) => this.raw.push(sequence),
      columns: () => this.columns,
      quit: () => {
        this.hasQuit = true;
      },
    });
  }

  readonly change = (change: (view: View) => View): void => {
    const next = change(this.view);
    this.blocks.push(...next.finished.filter((block) => !this.isAboutMachine(block)));
    this.view = { ...next, finished: [] };
  };

  /** The machine's sandbox is visible only to tests with a PATH of their own. */
  private isAboutMachine(block: Block): boolean {
    return !this.isOwnPath && toText(block).startsWith("Commands run unsandboxed");
  }

  /** Waits until the session is open, and shows it like the program does. */
  async open(): Promise<this> {
    showSession(await this.holder.session, this);
    return this;
  }

  /** Sends a prompt and waits for the end of its run. */
  async say(text: string): Promise<void> {
    await this.driver.send({ text, content: text });
  }

  /** Enters a line in the editor, without waiting for its effect. */
  enter(text: string, visibleText = text): void {
    this.text = "";
    this.lines.take(text, visibleText);
  }

  /**
   * Ends the current task like the program does when the user quits, and resolves when everything is saved.
   */
  async leave(): Promise<void> {
    await Promise.all([this.driver.close(), this.lines.arrived()]);
  }

  /** Runs a slash command line. */
  async run(line: string): Promise<void> {
    const read = readCommandLine(line, SLASH_COMMANDS);
    if (read.kind !== "command") throw new Error(`${line} is no command`);
    try {
      await read.command.run(read.argument, this.context);
    } catch (error) {
      this.fail(error);
    }
  }

  /** Presses keys one after the other; a text of several characters that is not a key is typed. */
  async press(...keys: string[]): Promise<void> {
    for (const key of keys.flatMap((each) => (KEY.test(each) ? [each] : [...each]))) {
      const context = { keymap: this.keymap, isPromptEmpty: this.text === "", now: 0, rows: 24, columns: 80 };
      const { view, effects } = applyKey(this.view, { name: key, data: key }, context);
      this.change(() => view);
      const { driver, picker } = this;
      for (const effect of effects) {
        const clear = () => this.context.setPrompt("");
        const { setPrompt } = this.context;
        const editor = { text: this.text, setText: setPrompt, clear, insert() {}, handleInput() {} };
        await runEffect(effect, {
          driver,
          picker,
          editor,
          commandField: { text: "", open() {}, setText() {}, handleInput() {} },
          guard: { async suspend() {} },
          screen: { redraw() {} },
          context: this.context,
        });
      }
      await this.settle();
    }
  }

  /** Waits until the effect of a key is done, including runs of the model. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 20 || this.driver.isBusy; turn++) await Bun.sleep(1);
  }

  get dialog(): PickerDialog | undefined {
    return this.view.dialog?.type === "picker" ? this.view.dialog : undefined;
  }

  /** The visible labels, the selected one with `>` in front. */
  get items(): string[] {
    const { dialog } = this;
    if (!dialog) return [];
    return filterItems(dialog).map(
      ({ label, depth = 0 }, index) =>
        `${index === dialog.selected ? ">" : " "}${"  ".repeat(depth)}${label}`,
    );
  }

  /** The texts of the blocks of some types, which are then removed. */
  take(...types: Block["type"][]): string[] {
    const wanted = this.blocks.filter(({ type }) => types.length === 0 || types.includes(type));
    this.blocks.length = 0;
    return wanted.map(toText);
  }

  async close(): Promise<void> {
    await this.holder.close();
  }

  private readonly fail = (error: unknown): void => {
    const text = error instanceof Error ? error.message : String(error);
    this.context.show({ type: "notice", level: "error", text });
  };
}

const KEY = /^(?:(?:ctrl|alt|shift)\+\S+|enter|escape|up|down|backspace|pageUp|pageDown)$/;

function toText(block: Block): string {
  switch (block.type) {
    case "prompt":
    case "output":
    case "thinking":
      return block.text;
    case "notice":
      return block.level === "info" ? block.text : `${block.level}: ${block.text}`;
    case "answer":
      return block.markdown;
    case "tool":
    case "shell":
      return `${block.call.toolName} → ${block.call.result?.output ?? "…"}`;
    case "change":
      return `${block.path} +${block.added} −${block.removed}\n${block.diff}`;
    case "opening":
      return `${block.version} ${block.model}`;
    case "resumed":
      return `${block.hiddenMessages} above`;
  }
}

/** The script that answers, a text for each request. */
export function writeScript(place: TemporaryProject, ...turns: (string | object)[]): void {
  const played = turns.map((turn) => (typeof turn === "string" ? { text: turn } : turn));
  place.write("script.json", { version: 1, turns: played });
}
