import type { ContentBlock, SessionManager } from "@diligent/core/run";
import type { QueuedPrompt, View } from "../view.ts";

/** A sent prompt: what the screen shows of it, and what the model gets. */
export interface SentPrompt {
  text: string;
  content: string | ContentBlock[];
  /** Notes about its attachments, a line each. */
  notes?: readonly string[];
}

/** A queued prompt, by the id under which it is shown. */
interface WaitingPrompt extends SentPrompt {
  id: string;
}

/** The current run; see `SessionManager`. */
type SteeredSession = Pick<SessionManager, "steer" | "takeBack">;

/**
 * Prompts that the model has not seen yet, shown as queued: they wait for a task to end, or were sent into
 * the run.
 */
export class WaitingPrompts {
  private readonly prompts: WaitingPrompt[] = [];
  private added = 0;
  /** The session of the current run. */
  private steered: SteeredSession | undefined;

  constructor(private readonly change: (change: (view: View) => View) => void) {}

  /** True if no prompt waits for a task to end; prompts sent into the run do not count. */
  get isEmpty(): boolean {
    return this.prompts.length === 0;
  }

  /** Queues a prompt until it is taken. */
  add(prompt: SentPrompt): void {
    this.added += 1;
    const id = `waiting-${this.added}`;
    this.prompts.push({ ...prompt, id });
    this.change((view) => withQueued(view, { id, text: prompt.text }));
  }

  /** Call it when a run starts, into which prompts can be sent. */
  beginRun(session: SteeredSession): void {
    this.steered = session;
  }

  /** Prompts sent into the run can no longer be taken back. */
  endRun(): void {
    this.steered = undefined;
  }

  /** Sends a prompt into the current run of the session. */
  steer({ text, content }: SentPrompt, session: SteeredSession): void {
    const id = session.steer(content);
    this.change((view) => withQueued(view, { id, text }));
  }

  /** The same for a prompt that was taken and is already shown as queued. */
  steerTaken({ id, content }: WaitingPrompt, session: SteeredSession): void {
    const steeringId = session.steer(content);
    this.change((view) => withQueuedAs(view, id, steeringId));
  }

  /** Takes all waiting prompts, oldest first; all except the first are still shown as queued. */
  take(): WaitingPrompt[] {
    const prompts = this.prompts.splice(0);
    const first = prompts[0];
    if (first) this.change((view) => withoutQueued(view, [first.id]));
    return prompts;
  }

  /**
   * The text of the newest prompt that the model has not seen, or of all, oldest first; they are removed from
   * the screen.
   */
  takeBack(which: "last" | "all"): string[] {
    const waited = this.drop(which).map(({ text }) => text);
    if (which === "last" && waited.length > 0) return waited;
    const steered = this.steered?.takeBack(which) ?? [];
    this.change((view) => withoutLastQueued(view, steered.length));
    return [...steered, ...waited];
  }

  /** Takes back the last waiting prompt, or all: they are not sent, and removed from the screen. */
  drop(which: "last" | "all"): SentPrompt[] {
    const dropped = this.prompts.splice(which === "last" ? -1 : 0);
    const ids = dropped.map(({ id }) => id);
    this.change((view) => withoutQueued(view, ids));
    return dropped;
  }
}

/** The view with another queued prompt below the others. */
function withQueued(view: View, prompt: QueuedPrompt): View {
  return { ...view, queued: [...view.queued, prompt] };
}

/** The view without the queued prompts with these ids. */
export function withoutQueued(view: View, ids: readonly string[]): View {
  return { ...view, queued: view.queued.filter(({ id }) => !ids.includes(id)) };
}

/** The view in which a queued prompt has a new id, because it was sent into a run. */
function withQueuedAs(view: View, id: string, steeringId: string): View {
  const queued = view.queued.map((each) => (each.id === id ? { ...each, id: steeringId } : each));
  return { ...view, queued };
}

/** The view without the last queued prompts. */
function withoutLastQueued(view: View, count: number): View {
  return count === 0 ? view : { ...view, queued: view.queued.slice(0, view.queued.length - count) };
}
