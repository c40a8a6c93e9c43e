import { readFileSync, statSync } from "node:fs";
import {
  type AgentContext,
  methods,
  type PermissionOption,
  type PromptResponse,
  RequestError,
  type RequestPermissionRequest,
  type SessionConfigOption,
  type SessionModeState,
  type SessionUpdate,
  type ToolCallContent,
} from "@agentclientprotocol/sdk";
import {
  type AskPerson,
  type PersonAnswer,
  type ProjectHarness,
  type ProjectSession,
  STOPPED_ANSWER,
} from "@diligent/core/harness";
import { isEffort } from "@diligent/core/interactive";
import { type AgentEvent, type ContentBlock, now, type RunStopReason } from "@diligent/core/run";
import { APPROVAL_MODES, type ApprovalMode } from "../arguments/command.ts";
import { listModels } from "../commands/models.ts";
import { describeError } from "../errors.ts";
import { expandToContent, useCommandModel } from "../session/expand-prompt.ts";
import { Editor } from "./editor.ts";
import type { EditorAbilities } from "./initialize.ts";
import { toPromptContent } from "./prompt-content.ts";
import { describeCall, SessionUpdates } from "./updates.ts";

const MODE_ABOUT: Readonly<Record<ApprovalMode, string>> = {
  ask: "asks before commands that may do more than read",
  "accept-edits": "also runs commands that only edit files of the project",
  plan: "only reads, and ends with a plan",
  auto: "asks nothing",
  deny: "refuses what would be asked",
};

const EFFORTS = ["default", "off", "low", "medium", "high", "xhigh", "max"] as const;

const PERMISSIONS: readonly PermissionOption[] = [
  { optionId: "once", name: "Allow", kind: "allow_once" },
  { optionId: "always", name: "Always allow in this session", kind: "allow_always" },
  { optionId: "reject", name: "Reject", kind: "reject_once" },
];

/** How the protocol names the end of a run; undefined for a failure, which is an error. */
const STOP_REASONS: Readonly<Record<RunStopReason, PromptResponse["stopReason"] | undefined>> = {
  end_turn: "end_turn",
  approval: "end_turn",
  max_tokens: "max_tokens",
  max_turns: "max_turn_requests",
  max_cost: "max_turn_requests",
  loop: "max_turn_requests",
  refusal: "refusal",
  aborted: "cancelled",
  error: undefined,
};

/** One session that an editor has opened. */
export class AcpSession {
  private readonly updates: SessionUpdates;
  private running: AbortController | undefined;
  /** The last update that was sent: answers wait for it. */
  private sent: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly client: AgentContext,
    private readonly harness: ProjectHarness,
    readonly opened: ProjectSession,
    private readonly editor: Editor,
  ) {
    const { cwd } = opened;
    this.updates = new SessionUpdates({
      cwd,
      contextWindow: () => opened.model.contextWindow,
      textOf: readShownText,
    });
  }

  /** @throws what opening a session throws; the harness is closed then. */
  static async open(
    { client, abilities }: { client: AgentContext; abilities: EditorAbilities },
    harness: ProjectHarness,
    start: { fresh: true } | { resume: string },
  ): Promise<AcpSession> {
    let session: AcpSession | undefined;
    const ask: AskPerson = async (...question) => session?.ask(...question) ?? "reject";
    const editor = new Editor(client, abilities, () => session?.id ?? "");
    try {
      const opened = await harness.openSession(start, {
        ask,
        askUser: (questions, { signal }) => session?.askUser(questions, signal) ?? Promise.resolve(undefined),
        approvalMode: "ask",
        editor: editor.files,
      });
      session = new AcpSession(client, harness, opened, editor);
      return session;
    } catch (error) {
      await harness.close();
      throw error;
    }
  }

  get id(): string {
    return this.opened.session.sessionId;
  }

  get modes(): SessionModeState {
    const availableModes = APPROVAL_MODES.map((id) => ({ id, name: id, description: MODE_ABOUT[id] }));
    return { currentModeId: this.opened.approval.mode, availableModes };
  }

  async configOptions(): Promise<SessionConfigOption[]> {
    const { loaded, model, effort, approval, addedModels: added } = this.opened;
    const { loadCatalog } = await import("@diligent/core/harness");
    const catalog = await loadCatalog(loaded.config);
    const known = listModels({ ...loaded, catalog, added }, () => {}).map(({ id }) => id);
    const ids = known.includes(model.id) ? known : [model.id, ...known];
    const select = (value: string) => ({ value, name: value });
    return [
      {
        ...{ id: "mode", name: "Approval mode", category: "mode", type: "select" },
        currentValue: approval.mode,
        options: APPROVAL_MODES.map((value) => ({ value, name: value, description: MODE_ABOUT[value] })),
      },
      {
        ...{ id: "model", name: "Model", category: "model", type: "select" },
        currentValue: model.id,
        options: ids.map(select),
      },
      {
        ...{ id: "thought_level", name: "Thinking", category: "thought_level", type: "select" },
        currentValue: effort ?? "default",
        options: EFFORTS.filter((value) => value !== "default" || effort === undefined).map(select),
      },
    ];
  }

  /** Sends the conversation so far. */
  async replay(): Promise<void> {
    for (const update of this.updates.replay(this.opened.session.branches.path)) this.send(update);
    await this.sent;
  }

  /** Tells the editor what the session offers; call it once the editor knows the session. */
  sendCommands(): void {
    const availableCommands = this.harness.commands.map(({ name, description, argumentHint }) => ({
      name,
      description,
      ...(argumentHint !== undefined && { input: { hint: argumentHint } }),
    }));
    this.send({ sessionUpdate: "available_commands_update", availableCommands });
  }

  /** @throws RequestError for an unknown mode. */
  async setMode(modeId: string): Promise<void> {
    const mode = APPROVAL_MODES.find((each) => each === modeId);
    if (mode === undefined) throw RequestError.invalidParams({ modeId }, `unknown mode ${modeId}`);
    this.opened.approval.mode = mode;
    this.send({ sessionUpdate: "config_option_update", configOptions: await this.configOptions() });
    await this.sent;
  }

  /** @throws RequestError for an unknown option or value, and while a prompt is running. */
  async setOption(configId: string, value: unknown): Promise<void> {
    if (typeof value !== "string")
      throw RequestError.invalidParams({ value }, `${configId} takes the id of a value`);
    if (configId === "mode") {
      await this.setMode(value);
      this.send({ sessionUpdate: "current_mode_update", currentModeId: value });
      return;
    }
    if (configId !== "model" && configId !== "thought_level")
      throw RequestError.invalidParams({ configId }, `unknown option ${configId}`);
    this.assertIdle();
    if (configId === "thought_level" && !isEffort(value))
      throw RequestError.invalidParams({ value }, `unknown thinking level ${value}`);
    try {
      await this.opened.changeModel(isEffort(value) ? { effort: value } : { modelId: value });
    } catch (error) {
      throw RequestError.invalidParams({ value }, describeError(error));
    }
  }

  /** Runs a prompt. @throws RequestError when it fails, and while another one is running. */
  async prompt(given: Parameters<typeof toPromptContent>[0], signal: AbortSignal): Promise<PromptResponse> {
    this.assertIdle();
    const controller = new AbortController();
    this.running = controller;
    const cancel = () => controller.abort();
    signal.addEventListener("abort", cancel, { once: true });
    try {
      const content = await toPromptContent(given);
      const end = controller.signal.aborted ? ABORTED : await this.run(content, controller.signal);
      await this.sent;
      const stopReason = controller.signal.aborted ? "cancelled" : STOP_REASONS[end.stopReason];
      if (stopReason !== undefined) return { stopReason };
      const message = end.error?.message ?? "the run failed";
      if (end.error?.errorType === "auth") throw RequestError.authRequired(undefined, message);
      throw RequestError.internalError(undefined, message);
    } finally {
      signal.removeEventListener("abort", cancel);
      this.running = undefined;
    }
  }

  /** Stops the running prompt, which is answered with `cancelled`; nothing if none is running. */
  cancel(): void {
    this.running?.abort();
  }

  async close(): Promise<void> {
    this.cancel();
    await this.harness.close();
  }

  private async run(content: string | ContentBlock[], signal: AbortSignal): Promise<RunEnd> {
    const { opened } = this;
    const say = (text: string) =>
      this.send({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    let sent = content;
    let restore = async () => {};
    if (typeof content === "string") {
      opened.noteInput(content);
      const expanded = await this.expand(content, signal);
      if ("kind" in expanded) {
        say(expanded.text);
        return { stopReason: "end_turn" };
      }
      sent = expanded.content;
      for (const note of expanded.notes) say(`${note}\n`);
      restore = await useCommandModel(opened, expanded.model, (text) => say(`${text}\n`));
    }
    let end: RunEnd = { stopReason: "error" };
    try {
      await opened.session
        .run({ role: "user", content: sent, timestamp: now() }, { signal })
        .consume((event) => {
          if (event.type === "tool_start") this.editor.callId = event.toolCallId;
          for (const update of this.updates.toUpdates(event)) this.send(update);
          if (event.type === "agent_end") end = event;
        });
    } finally {
      await restore();
    }
    return end;
  }

  private async expand(content: string, signal: AbortSignal) {
    try {
      return await expandToContent(content, { opened: this.opened, signal, source: "editor" });
    } catch (error) {
      throw RequestError.invalidParams(undefined, describeError(error));
    }
  }

  private async askUser(...question: Parameters<Editor["askUser"]>): Promise<string[][] | undefined> {
    await this.sent;
    return this.editor.askUser(...question);
  }

  private async ask(...[request, verdict, source]: Parameters<AskPerson>): Promise<PersonAnswer> {
    const { details = {}, toolName, description } = request;
    const input = details.path === undefined ? details : { ...details, file_path: details.path };
    const shown = describeCall(toolName, input, { cwd: this.opened.cwd, textOf: readShownText });
    const diff = typeof details.diff === "string" ? toText(details.diff) : undefined;
    const canGrant = (verdict.choices ?? []).length > 0;
    const question: RequestPermissionRequest = {
      sessionId: this.id,
      toolCall: {
        ...shown,
        toolCallId: source.toolCallId ?? source.requestId,
        title: `${description} (${verdict.reason})`,
        ...(diff && { content: [diff] }),
        rawInput: details,
      },
      options: PERMISSIONS.filter(({ kind }) => canGrant || kind !== "allow_always"),
    };
    try {
      await this.sent;
      const { requestPermission } = methods.client.session;
      const { outcome } = await this.client.request(requestPermission, question);
      if (outcome.outcome === "cancelled") return STOPPED_ANSWER;
      const { optionId } = outcome;
      if (optionId === "once" || optionId === "always") return { response: optionId };
      return { response: "reject", message: "The user denied this." };
    } catch (error) {
      const message = `Refused: the editor could not ask the user: ${describeError(error)}`;
      return { response: "reject", message };
    }
  }

  private assertIdle(): void {
    if (this.running) throw RequestError.invalidRequest(undefined, "a prompt of this session is running");
  }

  private send(update: SessionUpdate): void {
    const sending = this.client.notify(methods.client.session.update, { sessionId: this.id, update });
    // The editor is gone: the connection's end stops the session.
    this.sent = sending.catch(() => {});
  }
}

type RunEnd = Pick<Extract<AgentEvent, { type: "agent_end" }>, "stopReason" | "error">;

const ABORTED: RunEnd = { stopReason: "aborted" };

/** Larger files, and files that are not text, are not compared in an editor. */
const MAX_SHOWN_BYTES = 512 * 1024;

function readShownText(path: string): string | undefined {
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > MAX_SHOWN_BYTES) return undefined;
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(path));
  } catch {
    // Missing, not readable or not text: the call itself reports it.
    return undefined;
  }
}

function toText(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}
