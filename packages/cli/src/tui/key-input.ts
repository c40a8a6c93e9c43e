import { assertNever } from "@diligent/core/run";
import { isWriting, leavePasteOut } from "./approval/keys.ts";
import type { CommandField } from "./approval/prompter.ts";
import type { CommandContext } from "./commands/types.ts";
import type { ConversationDriver } from "./conversation-driver.ts";
import type { ViewPainter } from "./display.ts";
import type { PromptEditor } from "./editor/prompt-editor.ts";
import { applyText, type Effect, typedText } from "./effects.ts";
import { type ActionId, isSubmitKey, nameKey } from "./keys/keymap.ts";
import { applyKey, readText } from "./keys-to-effects.ts";
import type { OpenPicker } from "./pickers/picker.ts";
import type { InlineScreen } from "./screen/inline-screen.ts";
import type { TerminalGuard } from "./screen/terminal-guard.ts";
import type { ApprovalDialog } from "./view.ts";

interface InputDeps extends EffectDeps {
  screen: InlineScreen;
  painter: ViewPainter;
  editor: PromptEditor;
  fail(error: unknown): void;
}

/** An action that a key started, and the keys that must wait until it is done. */
interface StartedWork {
  done: Promise<unknown>;
  holdsUp(data: string): boolean;
}

// A key waits no longer than this for an action that an earlier key started.
const PATIENCE_MS = 1_000;

/**
 * Handles terminal input: the view gets every key first, the editor gets what is left. Keys mean the same however fast
 * they arrive: a key waits for the actions of earlier keys that decide what it is for, such as opening a list. The keys
 * after it wait, too.
 */
export class KeyInput {
  /** The keys of one read while a question is open. */
  private readonly read: string[] = [];
  /** Keys that wait, and the keys after them. */
  private readonly waiting: string[] = [];
  private readonly started = new Set<StartedWork>();

  constructor(private readonly deps: InputDeps) {}

  take(data: string): void {
    const hasToWait = this.waiting.length > 0 || this.findHindrance(data) !== undefined;
    if (!hasToWait) this.takeNext(data);
    else if (this.waiting.push(data) === 1) void this.takeWaiting();
  }

  /** A command was submitted: its list gets the next keys, and the next line is submitted after it. */
  followCommand({ done, opensList }: { done: Promise<void>; opensList: boolean }): void {
    this.follow({ done, holdsUp: (data) => opensList || isSubmitKey(data) });
  }

  private follow(work: StartedWork): void {
    this.started.add(work);
    void work.done.finally(() => this.started.delete(work));
  }

  /** What a key must wait for; undefined if it can be handled at once. */
  private findHindrance(data: string): Promise<unknown> | undefined {
    const { editor, painter } = this.deps;
    for (const work of this.started) if (work.holdsUp(data)) return work.done;
    return painter.view.dialog === undefined ? editor.holdsUp(data) : undefined;
  }

  private async takeWaiting(): Promise<void> {
    for (let data = this.waiting[0]; data !== undefined; data = this.waiting[0]) {
      const deadline = performance.now() + PATIENCE_MS;
      for (;;) {
        const hindrance = this.findHindrance(data);
        const leftMs = deadline - performance.now();
        if (hindrance === undefined || leftMs <= 0) break;
        await settledWithin(hindrance, leftMs);
      }
      // An action that takes this long is not waited for again.
      if (performance.now() > deadline) this.started.clear();
      this.waiting.shift();
      this.takeNext(data);
    }
  }

  private takeNext(data: string): void {
    if (this.question === undefined) this.takeOne(data);
    // The keys of one read are delivered one after the other, so their number is only known once all have
    // arrived.
    else if (this.read.push(data) === 1) queueMicrotask(() => this.takeRead(this.read.splice(0)));
  }

  private get question(): ApprovalDialog | undefined {
    const { dialog } = this.deps.painter.view;
    return dialog?.type === "approval" ? dialog : undefined;
  }

  /**
   * Several keys in one read are not an answer: nobody presses them at once, and some terminals do not mark a
   * paste.
   */
  private takeRead(read: readonly string[]): void {
    const keys = read.filter((data) => nameKey(data) !== undefined);
    const { question } = this;
    if (keys.length < 2 || question === undefined || this.isHeldToScroll(read)) {
      for (const data of read) this.takeOne(data);
      return;
    }
    const { editor, commandField, painter, screen } = this.deps;
    let pasted = "";
    for (const data of read) {
      const name = nameKey(data);
      if (name === undefined || !(isWriting({ name, data }) || name === "tab")) this.takeOne(data);
      else if (question.isEditing) commandField.handleInput(data);
      else if (question.isUnfocused) editor.handleInput(data);
      else pasted += typedText({ name, data }) ?? " ";
    }
    const time = painter.liveStyle().now;
    if (pasted !== "") painter.change((view) => leavePasteOut(view, pasted, time));
    screen.requestRender();
  }

  /** A held key also arrives several times at once; scrolling answers nothing. */
  private isHeldToScroll(read: readonly string[]): boolean {
    const [first = ""] = read;
    const name = nameKey(first);
    const isScrolling = name !== undefined && this.deps.context.keymap.matches(name, "approval.pageDown");
    return isScrolling && read.every((data) => data === first);
  }

  private takeOne(data: string): void {
    const { editor, commandField, painter, screen } = this.deps;
    const name = nameKey(data);
    const { dialog } = painter.view;
    const { question } = this;
    if (name === undefined && question?.isEditing) commandField.handleInput(data);
    else if (name === undefined && question?.isUnfocused) editor.handleInput(data);
    else if (dialog && name === undefined) painter.change((view) => applyText(view, dialog, readText(data)));
    else if (name === undefined || (editor.isCompleting && !dialog && !this.isForScreen(name)))
      editor.handleInput(data);
    else this.press(name, data);
    screen.requestRender();
  }

  /** The completion list handles Escape, Enter and arrows itself, but not these keys. */
  private isForScreen(name: string): boolean {
    const { keymap } = this.deps.context;
    return keymap.matches(name, "app.suspend") || keymap.matches(name, "app.redraw");
  }

  private press(name: string, data: string): void {
    const { context, editor, fail, painter, screen } = this.deps;
    const { rows, columns } = screen.terminal;
    const now = painter.liveStyle().now;
    const place = { keymap: context.keymap, isPromptEmpty: editor.isEmpty, now, rows, columns };
    const { view, effects } = applyKey(painter.view, { name, data }, place);
    painter.change(() => view);
    for (const effect of effects) {
      const done = runEffect(effect, this.deps).catch(fail);
      if (OPENING.has(effect.type)) this.follow({ done, holdsUp: () => true });
      else if (STOPPING.has(effect.type)) this.follow({ done, holdsUp: (next) => this.isStopKey(next) });
    }
  }

  private isStopKey(data: string): boolean {
    const { keymap } = this.deps.context;
    const name = nameKey(data);
    const actions: readonly ActionId[] = ["app.interrupt", "app.clear"];
    return name !== undefined && actions.some((action) => keymap.matches(name, action));
  }
}

/** Effects that may open or close a list, or change the subject of the next key. */
const OPENING: ReadonlySet<Effect["type"]> = new Set<Effect["type"]>([
  ...(["openPicker", "choose", "pickerKey", "confirmPicker", "submitPicker", "closePicker"] as const),
  ...(["editCommand", "nextApprovalMode"] as const),
]);
const STOPPING: ReadonlySet<Effect["type"]> = new Set<Effect["type"]>(["abort", "stopShell"]);

function settledWithin(work: Promise<unknown>, limitMs: number): Promise<unknown> {
  const limit = Promise.withResolvers<void>();
  const timer = setTimeout(limit.resolve, limitMs);
  return Promise.race([work, limit.promise]).finally(() => clearTimeout(timer));
}

/** The parts of the program that a key can act on. */
interface EffectDeps {
  editor: Pick<PromptEditor, "clear" | "handleInput" | "insert" | "setText" | "text">;
  commandField: Pick<CommandField, "handleInput" | "open" | "setText" | "text">;
  driver: ConversationDriver;
  picker: OpenPicker;
  guard: Pick<TerminalGuard, "suspend">;
  screen: Pick<InlineScreen, "redraw">;
  context: CommandContext;
}

/** Runs what a key requested. */
export async function runEffect(effect: Effect, deps: EffectDeps): Promise<void> {
  const { context, driver, editor, guard, picker } = deps;
  switch (effect.type) {
    case "edit":
      return editor.handleInput(effect.data);
    case "clearPrompt":
      return editor.clear();
    case "abort":
      return driver.interrupt();
    case "stopShell":
      return driver.shell.stop();
    case "leaveForeground":
      return leaveForeground(deps);
    case "takeBack":
      return takeBack(effect.which, deps);
    case "answer":
      return driver.approvals.give(effect.answer);
    case "editCommand":
      return deps.commandField.open(driver.approvals.openCommand ?? "");
    case "editCommandKey":
      return deps.commandField.handleInput(effect.data);
    case "editCommandExternally":
      return editCommandExternally(deps);
    case "choose":
      return picker.choose(effect.id);
    case "pickerKey":
      return picker.pressKey(effect.action, effect.id);
    case "confirmPicker":
      return picker.confirm(effect.id);
    case "submitPicker":
      return picker.submit(effect.text, effect.id);
    case "closePicker":
      return picker.close();
    case "openPicker":
      return context.runCommand(effect.name);
    case "nextApprovalMode":
      return context.nextApprovalMode();
    case "redraw":
      return deps.screen.redraw();
    case "externalEditor":
      return context.runCommand("editor");
    case "pasteImage":
      return pasteImage(deps);
    case "suspend":
      return guard.suspend();
    case "exit":
      return context.quit();
    default:
      return assertNever(effect);
  }
}

async function leaveForeground({ context }: EffectDeps): Promise<void> {
  const { jobs } = await context.session();
  if (jobs.leaveForeground()) return;
  context.change((view) => ({ ...view, hint: `${jobs.runningCount} jobs are running, which is the limit` }));
}

async function pasteImage({ context, editor }: EffectDeps): Promise<void> {
  const { commands, loaded } = await context.session();
  const { saveClipboardImage, toMention } = await import("./prompt/clipboard-image.ts");
  const directory = commands.temporaryDirectory.path();
  const found =
    directory === undefined
      ? { error: "There is no temporary directory for the image" }
      : await saveClipboardImage({
          environment: context.environment,
          platform: process.platform,
          root: loaded.projectRoot,
          directory,
        });
  if ("error" in found) context.change((view) => ({ ...view, hint: found.error }));
  else editor.insert(`${toMention(found.path)} `);
}

function takeBack(which: "last" | "all", { driver, editor }: EffectDeps): void {
  const texts = driver.waiting.takeBack(which);
  if (texts.length === 0) return;
  editor.setText([...texts, editor.text].filter((text) => text !== "").join("\n"));
}

/** The field holds the editor's text; the user sends it from there. */
async function editCommandExternally({ commandField, context }: EffectDeps): Promise<void> {
  const { cwd, loaded } = await context.session();
  const { editExternally } = await import("./prompt/external-editor.ts");
  const edited = await editExternally(commandField.text, { ...context, cwd, root: loaded.projectRoot });
  if ("error" in edited) throw new Error(edited.error);
  commandField.setText(edited.text);
}
