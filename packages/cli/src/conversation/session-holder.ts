import type { AskPerson } from "../approval.ts";
import type { Resumption, RunOptions } from "../arguments/command.ts";
import type { CliIo } from "../cli-io.ts";
import { type Carried, type OpenSession, openSession } from "../open-session.ts";
import type { HeldSession } from "../resume.ts";
import { UpdateLook } from "../update/update-look.ts";

/** What of a command line says which session is opened and how. */
interface Call {
  options: RunOptions;
  resumption?: Resumption | undefined;
}

/**
 * Another session: a new one, an earlier one, a copy of this one, or this one with configuration, instructions and
 * knowledge read anew.
 */
export type Reopening =
  | { how: "new" | "fork" }
  /** `trustedOnce`: with a project that counts as trusted until the program ends, or none any more; as before when left out. */
  | { how: "reload"; trustedOnce?: Carried["trustedOnce"] }
  | { how: "continue"; reference: string };

/** The session that is talked to. It is opened in the background, and exchanged for another one on request. */
export class SessionHolder {
  private current: Promise<OpenSession>;
  private trustedOnce: Carried["trustedOnce"];
  private readonly updates: UpdateLook | undefined;

  constructor(
    private readonly call: Call,
    private readonly io: CliIo,
    private readonly person: {
      ask: AskPerson;
      warn(message: string): void;
      /** Told that a newer version is out; nobody looks for one when left out. */
      tell?(message: string): void;
      /** Told of every session that was opened, before anybody gets it. */
      onOpened?(opened: OpenSession): void;
    },
  ) {
    const { tell } = person;
    this.updates = tell && new UpdateLook(io, tell);
    this.current = this.open(call);
  }

  /** Rejects with a UsageError when the session cannot be opened as the command line asks for it. */
  get session(): Promise<OpenSession> {
    return this.current;
  }

  /**
   * What the user has chosen since, such as the approval mode, goes on; the model only in the same conversation and a
   * new one, since an earlier session has its own.
   * @throws UsageError when there is no such session or model; the one before goes on then.
   */
  async reopen(wish: Reopening): Promise<OpenSession> {
    const before = await this.current;
    before.session.flush();
    if (wish.how === "reload" && "trustedOnce" in wish) this.trustedOnce = wish.trustedOnce;
    const { call, carried } = toOpening(wish, { before, options: this.call.options });
    const opened = await this.open(call, { ...choicesOf(before), ...carried });
    // What has turned out not to work here is not said to work again.
    if (opened.sandbox.isBoxed && !before.sandbox.isBoxed) await opened.sandbox.check();
    before.sandbox.onChange = undefined;
    before.close();
    this.current = Promise.resolve(opened);
    return opened;
  }

  async close(): Promise<void> {
    this.updates?.stop();
    // That it could not be opened was said where it was waited for.
    const opened = await this.current.catch(() => undefined);
    opened?.close();
  }

  private async open(call: Call, carried: Carried = {}): Promise<OpenSession> {
    const { trustedOnce, updates } = this;
    const { ask, warn, onOpened } = this.person;
    const options = {
      approvalDefault: "ask" as const,
      ask,
      warn,
      updates,
      carried: { ...carried, trustedOnce },
    };
    const opened = await openSession(call, this.io, options);
    onOpened?.(opened);
    return opened;
  }
}

function choicesOf({ approval, chosen, recording }: OpenSession): Carried {
  const isChanged = approval.mode !== approval.initial;
  return { chosen, recording, ...(isChanged && { approvalMode: approval.mode }) };
}

interface Opening {
  call: Call;
  carried: Carried;
}

function toOpening(
  wish: Reopening,
  { before, options }: { before: OpenSession; options: RunOptions },
): Opening {
  const withModel = (modelId: string | undefined) =>
    modelId === undefined ? options : { ...options, model: modelId };
  switch (wish.how) {
    case "new":
      return { call: { options: withModel(before.chosen.modelId) }, carried: { isNew: true } };
    case "continue":
      return {
        call: { options, resumption: { how: "continue", reference: wish.reference } },
        carried: { chosen: { effort: before.chosen.effort } },
      };
    case "fork":
      return {
        call: { options: withModel(before.model.id) },
        carried: { isNew: true, held: hold(before, "fork") },
      };
    case "reload":
      return {
        // A model of the user's own choice stays, whatever is configured now.
        call: { options: withModel(before.chosen.modelId) },
        carried: {
          isNew: true,
          held: hold(before, "continue"),
          grants: before.grants,
          model: { id: before.model.id, configured: before.loaded.config.model },
        },
      };
  }
}

/** Undefined for an empty session: then a new one is the same. */
function hold({ session, sessionsDirectory }: OpenSession, how: HeldSession["how"]): HeldSession | undefined {
  const { branches, leafId } = session;
  if (branches.entries.length === 0) return undefined;
  return { how, file: branches.toFile(sessionsDirectory), leafId };
}
