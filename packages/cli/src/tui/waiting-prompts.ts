import type { ContentBlock } from "@diligent/core/run";
import type { QueuedPrompt, View } from "./view.ts";

/** What a prompt becomes when it is sent: what the screen shows of it, and what the model gets. */
export interface SentPrompt {
  text: string;
  content: string | ContentBlock[];
}

/** A prompt that waits, by the id under which it is shown. */
export interface WaitingPrompt extends SentPrompt {
  id: string;
}

/** Prompts that were sent while something else had to end first, shown as queued. */
export class WaitingPrompts {
  private readonly prompts: WaitingPrompt[] = [];
  private added = 0;

  constructor(private readonly change: (change: (view: View) => View) => void) {}

  get isEmpty(): boolean {
    return this.prompts.length === 0;
  }

  add(prompt: SentPrompt): void {
    this.added += 1;
    const id = `waiting-${this.added}`;
    this.prompts.push({ ...prompt, id });
    this.change((view) => withQueued(view, { id, text: prompt.text }));
  }

  /** Hands out all of them, oldest first; they are still shown as queued, but for the first. */
  take(): WaitingPrompt[] {
    const prompts = this.prompts.splice(0);
    const first = prompts[0];
    if (first) this.change((view) => withoutQueued(view, [first.id]));
    return prompts;
  }

  /** What was written in the last of them, or in all; they are not shown any more. */
  takeBack(which: "last" | "all"): string[] {
    const taken = this.prompts.splice(which === "last" ? -1 : 0);
    const ids = taken.map(({ id }) => id);
    this.change((view) => withoutQueued(view, ids));
    return taken.map(({ text }) => text);
  }
}

export function withQueued(view: View, prompt: QueuedPrompt): View {
  return { ...view, queued: [...view.queued, prompt] };
}

/** The view without the queued messages of these ids. */
export function withoutQueued(view: View, ids: readonly string[]): View {
  return { ...view, queued: view.queued.filter(({ id }) => !ids.includes(id)) };
}

/** The view in which a queued message is known by another id: it was sent into a run. */
export function withQueuedAs(view: View, id: string, steeringId: string): View {
  const queued = view.queued.map((each) => (each.id === id ? { ...each, id: steeringId } : each));
  return { ...view, queued };
}

/** The view without the queued messages that were sent last. */
export function withoutLastQueued(view: View, count: number): View {
  return count === 0 ? view : { ...view, queued: view.queued.slice(0, view.queued.length - count) };
}
