import type { AskPerson, AskUser, ProjectReference, ProjectSession } from "@diligent/core/harness";
import type { Resumption, RunCommandOptions } from "../arguments/command.ts";
import type { CliIo } from "../io/io.ts";
import { UpdateCheck } from "../update/update-check.ts";
import { type CarriedSession, startSession } from "./start-session.ts";

/** The command line options that select the session. */
interface Call {
  options: RunCommandOptions;
  resumption?: Resumption | undefined;
}

/**
 * The next session: a new one, an earlier one, a copy of this one, or this one with configuration, instructions and
 * knowledge reloaded.
 */
export type Reopening =
  | { how: "new" | "fork" }
  /** `login`: with this key, whatever the environment says, and the same model. */
  | { how: "reload"; login: { variable: string | undefined; key: string } }
  /** `trustedOnce`: whether the project is trusted until the program ends; unchanged if omitted. */
  | { how: "reload"; trustedOnce?: CarriedSession["trustedOnce"] }
  | { how: "continue"; reference: string };

/** What the extensions of the session are told that is replaced. */
const ENDINGS = { new: "clear", continue: "resume", fork: "resume", reload: "other" } as const;

/** The current session. It is opened in the background and can be replaced. */
export class SessionController {
  private current: Promise<ProjectSession>;
  private trustedOnce: CarriedSession["trustedOnce"];
  /** Including keys entered since the start, which override the original ones. */
  private environment: CliIo["environment"];
  private readonly updates: UpdateCheck | undefined;

  constructor(
    private readonly call: Call,
    private readonly io: CliIo,
    private readonly user: {
      ask: AskPerson;
      askUser?: AskUser;
      warn(message: string): void;
      /** Called when a newer version is out; nobody checks if omitted. */
      notify?(message: string): void;
      /** Called for every opened session before anyone gets it. */
      onOpened?(opened: ProjectSession): void;
    },
  ) {
    const { notify: tell } = user;
    this.environment = io.environment;
    this.updates = tell && new UpdateCheck(io, tell);
    this.current = this.open(call);
  }

  /** Rejects with a UsageError if the session cannot be opened as requested. */
  get session(): Promise<ProjectSession> {
    return this.current;
  }

  /**
   * Settings chosen since, such as the approval mode, are kept; the model only in the same conversation and in a new
   * one, since an earlier session has its own.
   * @throws UsageError if there is no such session or model; the previous session stays open then.
   */
  async reopen(change: Reopening): Promise<ProjectSession> {
    const before = await this.current;
    before.session.flush();
    if (change.how === "reload" && "trustedOnce" in change) this.trustedOnce = change.trustedOnce;
    const environmentBefore = this.environment;
    if (change.how === "reload" && "login" in change)
      this.environment = withKey(this.environment, change.login);
    const { call, carried } = toOpening(change, { before, options: this.call.options });
    const opened = await this.open(call, { ...choicesOf(before), ...carried }).catch((error: unknown) => {
      this.environment = environmentBefore;
      throw error;
    });
    // Warnings that were already shown are not repeated.
    if (opened.sandbox.isSandboxed && !before.sandbox.isSandboxed) await opened.sandbox.check();
    before.sandbox.onChange = undefined;
    before.close({ keepsCommands: carried.commands !== undefined, ending: ENDINGS[change.how] });
    this.current = Promise.resolve(opened);
    return opened;
  }

  async close(): Promise<void> {
    this.updates?.stop();
    // The failure to open it was reported to whoever awaited it.
    const opened = await this.current.catch(() => undefined);
    opened?.close({ ending: "prompt_input_exit" });
  }

  private async open(call: Call, carried: CarriedSession = {}): Promise<ProjectSession> {
    const { trustedOnce, updates } = this;
    const { ask, askUser, warn, onOpened } = this.user;
    const options = {
      approvalDefault: "ask" as const,
      ask,
      askUser,
      warn,
      updates,
      carried: { ...carried, trustedOnce },
    };
    const opened = await startSession(call, { ...this.io, environment: this.environment }, options);
    onOpened?.(opened);
    return opened;
  }
}

/** A key in the environment overrides the stored one; without it the stored one applies. */
function withKey(
  environment: CliIo["environment"],
  { variable, key }: { variable: string | undefined; key: string },
): CliIo["environment"] {
  return variable !== undefined && environment[variable] ? { ...environment, [variable]: key } : environment;
}

function choicesOf({ approval, chosen, recording }: ProjectSession): CarriedSession {
  const isChanged = approval.mode !== approval.initial;
  return { chosen, recording, ...(isChanged && { approvalMode: approval.mode }) };
}

interface Opening {
  call: Call;
  carried: CarriedSession;
}

function toOpening(
  change: Reopening,
  { before, options }: { before: ProjectSession; options: RunCommandOptions },
): Opening {
  const withModel = (modelId: string | undefined) =>
    modelId === undefined ? options : { ...options, model: modelId };
  switch (change.how) {
    case "new":
      return {
        call: { options: withModel(before.chosen.modelId) },
        carried: { start: { fresh: true }, isReplacing: true },
      };
    case "continue":
      return {
        call: { options, resumption: { how: "continue", reference: change.reference } },
        carried: { chosen: { effort: before.chosen.effort } },
      };
    case "fork":
      return {
        call: { options: withModel(before.model.id) },
        carried: { start: startFrom(before, "fork") },
      };
    case "reload":
      return {
        // A model chosen by the user stays, whatever is configured now.
        call: { options: withModel("login" in change ? before.model.id : before.chosen.modelId) },
        carried: {
          start: startFrom(before, "resume"),
          grants: before.grants,
          commands: before.commands,
          model: { id: before.model.id, configured: before.loaded.config.model },
        },
      };
  }
}

/** An empty session is replaced by a new one, which is the same. */
function startFrom(
  { session, sessionsDirectory }: ProjectSession,
  how: "resume" | "fork",
): NonNullable<CarriedSession["start"]> {
  const { branches, leafId } = session;
  if (branches.entries.length === 0) return { fresh: true };
  const held: ProjectReference = { file: branches.toFile(sessionsDirectory), leafId };
  return how === "fork" ? { fork: held } : { resume: held };
}
