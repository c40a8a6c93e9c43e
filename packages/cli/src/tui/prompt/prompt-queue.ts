import type { ContentBlock, SessionManager } from "@diligent/core/run";
import type { QueuedPrompt, View } from "../view.ts";

/** What a prompt becomes when it is sent: what the screen shows of it, and what the model gets. */
export interface SentPrompt {
  text: string;
  content: string | ContentBlock[];
  /** What is to be known about its attachments, a line each. */
  notes?: readonly string[];
}

/** A prompt that waits, by the id under which it is shown. */
interface WaitingPrompt extends SentPrompt {
  id: string;
}

/** Where a run goes on; see `SessionManager`. */
type SteeredSession = Pick<SessionManager, "steer" | "takeBack">;

/** Prompts that the model has not seen yet, shown as queued: they wait for something to end, or were sent into the run. */
export class WaitingPrompts {
  private readonly prompts: WaitingPrompt[] = [];
  private added = 0;
  /** The session that a run is going on in. */
  private steered: SteeredSession | undefined;

  constructor(private readonly change: (change: (view: View) => View) => void) {}

  /** True while none waits for the end of something; those that were sent into the run do not count. */
  get isEmpty(): boolean {
    return this.prompts.length === 0;
  }

  /** It waits until it is taken. */
  add(prompt: SentPrompt): void {
    this.added += 1;
    const id = `waiting-${this.added}`;
    this.prompts.push({ ...prompt, id });
    this.change((view) => withQueued(view, { id, text: prompt.text }));
  }

  /** From now on a run goes on, which prompts can be sent into. */
  beginRun(session: SteeredSession): void {
    this.steered = session;
  }

  /** What was sent into the run and not seen cannot be taken back any more. */
  endRun(): void {
    this.steered = undefined;
  }

  /** Sends a prompt into the run that is going on in the session. */
  steer({ text, content }: SentPrompt, session: SteeredSession): void {
    const id = session.steer(content);
    this.change((view) => withQueued(view, { id, text }));
  }

  /** The same for one that was taken, and is shown as queued already. */
  steerTaken({ id, content }: WaitingPrompt, session: SteeredSession): void {
    const steeringId = session.steer(content);
    this.change((view) => withQueuedAs(view, id, steeringId));
  }

  /** Hands out all that wait, oldest first; they are still shown as queued, but for the first. */
  take(): WaitingPrompt[] {
    const prompts = this.prompts.splice(0);
    const first = prompts[0];
    if (first) this.change((view) => withoutQueued(view, [first.id]));
    return prompts;
  }

  /** What was written in the newest that the model has not seen, or in all, oldest first; they are not shown any more. */
  takeBack(which: "last" | "all"): string[] {
    const waited = this.drop(which).map(({ text }) => text);
    if (which === "last" && waited.length > 0) return waited;
    const steered = this.steered?.takeBack(which) ?? [];
    this.change((view) => withoutLastQueued(view, steered.length));
    return [...steered, ...waited];
  }

  /** Hands out the last that waits, or all: they are not sent, and not shown any more. */
  drop(which: "last" | "all"): SentPrompt[] {
    const dropped = this.prompts.splice(which === "last" ? -1 : 0);
    const ids = dropped.map(({ id }) => id);
    this.change((view) => withoutQueued(view, ids));
    return dropped;
  }
}

/** The view with one more message that waits, below the others. */
function withQueued(view: View, prompt: QueuedPrompt): View {
  return { ...view, queued: [...view.queued, prompt] };
}

/** The view without the queued messages of these ids. */
export function withoutQueued(view: View, ids: readonly string[]): View {
  return { ...view, queued: view.queued.filter(({ id }) => !ids.includes(id)) };
}

/** The view in which a queued message is known by another id: it was sent into a run. */
function withQueuedAs(view: View, id: string, steeringId: string): View {
  const queued = view.queued.map((each) => (each.id === id ? { ...each, id: steeringId } : each));
  return { ...view, queued };
}

/** The view without the queued messages that were sent last. */
function withoutLastQueued(view: View, count: number): View {
  return count === 0 ? view : { ...view, queued: view.queued.slice(0, view.queued.length - count) };
}
