import type { ExtensionCommand, ModelChange, ProjectSession } from "@diligent/core/harness";
import type { Environment } from "@diligent/core/run";
import { cycleApprovalMode } from "../../approval/permissions.ts";
import type { Reopening, SessionController } from "../../session/session-controller.ts";
import { VERSION } from "../../version.ts";
import type { ConversationDriver } from "../conversation-driver.ts";
import type { ViewPainter } from "../display.ts";
import type { PromptEditor } from "../editor/prompt-editor.ts";
import type { ReloadableKeys } from "../keys/keybindings.ts";
import { stopHint } from "../keys/keymap.ts";
import type { OpenPicker } from "../pickers/picker.ts";
import { toStatus } from "../session-status.ts";
import { toResumedBlocks } from "../transcript.ts";
import { finish, isCallBlock, notice, rememberExpandable } from "../view.ts";
import { listAddedCommands } from "./extension-commands.ts";
import { SLASH_COMMANDS } from "./index.ts";
import type { CommandContext } from "./types.ts";

/** The parts of the program that commands can act on. */
interface ContextDeps {
  painter: Pick<ViewPainter, "view" | "change">;
  controller: Pick<SessionController, "session" | "reopen">;
  driver: Pick<ConversationDriver, "approvals" | "isBusy" | "moveFiles" | "summaries" | "whenIdle">;
  editor: Pick<PromptEditor, "text" | "setText">;
  picker: Pick<OpenPicker, "open">;
  keys: Pick<ReloadableKeys, "keymap" | "editorKeys" | "reload">;
  environment: Environment;
  /** The commands of the session's extensions; none while it is being opened. */
  extensionCommands(): readonly ExtensionCommand[];
  /** Sends typed text. */
  submit(text: string): void;
  lendTerminal: CommandContext["lendTerminal"];
  onAnyExit: CommandContext["onAnyExit"];
  writeRaw(sequence: string): void;
  columns(): number;
  quit(): void;
}

/** What slash commands and keys can do, composed from the parts of the program. */
export function createCommandContext(deps: ContextDeps): CommandContext {
  const { painter, controller, driver, editor, picker } = deps;
  const change = painter.change;
  const context: CommandContext = {
    session: () => controller.session,
    view: () => painter.view,
    show: (block) => change((view) => finish(view, block)),
    print: (text) => context.show({ type: "output", text }),
    change,
    open: (opened) => picker.open(opened),
    prompt: () => editor.text,
    setPrompt: (text) => editor.setText(text),
    send: deps.submit,
    compact: (focus) => driver.summaries.compact(focus),
    moveFiles: (move, work, how) => driver.moveFiles(move, work, how),
    whenIdle: (wait) => driver.whenIdle(wait),
    holdQuestions: () => driver.approvals.hold(),
    reopen: (change: Reopening) => reopen(change, deps),
    changeModel: (change: ModelChange) => changeModel(change, deps),
    branch: (entryId, { isSummarized }) => branch(entryId, isSummarized, deps),
    async runCommand(name, argument = "") {
      const command = SLASH_COMMANDS.find((each) => each.name === name);
      if (!command) return;
      if (command.isAlwaysPossible || !driver.isBusy) await command.run(argument, context);
      else
        change((view) => ({
          ...view,
          hint: `/${name} is not available until the run ends${stopHint(deps.keys.keymap)}`,
        }));
    },
    nextApprovalMode: () => cycleApprovalMode(context),
    lendTerminal: deps.lendTerminal,
    onAnyExit: deps.onAnyExit,
    writeRaw: deps.writeRaw,
    columns: deps.columns,
    quit: deps.quit,
    keymap: deps.keys.keymap,
    get editorKeys() {
      return deps.keys.editorKeys;
    },
    reloadKeys: () => deps.keys.reload(),
    environment: deps.environment,
    get commands() {
      return [...SLASH_COMMANDS, ...listAddedCommands(deps.extensionCommands(), SLASH_COMMANDS)];
    },
  };
  return context;
}

async function reopen(change: Reopening, { controller, painter }: ContextDeps): Promise<void> {
  const { model: before } = await controller.session;
  const opened = await controller.reopen(change);
  // A fork or a reload: everything said so far is already on the screen.
  if (change.how !== "fork" && change.how !== "reload") return showSession(opened, painter);
  showNotices(opened, painter);
  showStatus(opened, painter);
  const { id } = opened.model;
  if (id !== before.id) painter.change((view) => finish(view, notice("info", `Switched to ${id}.`)));
}

/** Shows the first line of the first session: what is running here, and where. */
export function showOpening(
  { model, cwd, sandbox }: ProjectSession,
  { change }: Pick<ViewPainter, "change">,
): void {
  const { isSandboxed } = sandbox;
  change((view) => finish(view, { type: "opening", version: VERSION, model: model.id, cwd, isSandboxed }));
}

/** Shows where a newly opened session stands, and its notices. */
export function showSession(opened: ProjectSession, painter: Pick<ViewPainter, "change">): void {
  showNotices(opened, painter, ({ level }) => level === "info");
  showConversation(opened, painter);
  // Problems are shown where they are noticed.
  showNotices(opened, painter, ({ level }) => level !== "info");
}

type OpenNotice = ProjectSession["notices"][number];

function showNotices(
  { notices }: ProjectSession,
  { change }: Pick<ViewPainter, "change">,
  isWanted: (notice: OpenNotice) => boolean = () => true,
): void {
  const blocks = notices.filter(isWanted).map(({ level, message }) => notice(level, message));
  change((view) => finish(view, ...blocks));
}

function showStatus(opened: ProjectSession, { change }: Pick<ViewPainter, "change">): void {
  opened.sandbox.onChange = () => {
    const { isSandboxed } = opened.sandbox;
    change((view) => ({ ...view, status: { ...view.status, isSandboxed } }));
  };
  const { todos } = opened.session;
  change((view) => ({ ...view, todos, status: { ...view.status, ...toStatus(opened) } }));
}

/** Shows the last turns of a resumed conversation. */
function showConversation(opened: ProjectSession, { change }: Pick<ViewPainter, "change">): void {
  const blocks = toResumedBlocks(opened.session.branches.path);
  change((view) => ({
    ...rememberExpandable(finish({ ...view, expandable: [] }, ...blocks), blocks),
    lastCall: blocks.findLast(isCallBlock),
  }));
  showStatus(opened, { change });
}

async function changeModel(change: ModelChange, { controller, painter }: ContextDeps): Promise<void> {
  const opened = await controller.session;
  await opened.changeModel(change);
  showStatus(opened, painter);
}

async function branch(
  entryId: string | null,
  isSummarized: boolean,
  { driver, controller, painter }: ContextDeps,
): Promise<boolean> {
  const opened = await controller.session;
  if (!isSummarized) opened.session.branch(entryId);
  else if (!(await driver.summaries.leaveBranch(entryId))) return false;
  showConversation(opened, painter);
  return true;
}
