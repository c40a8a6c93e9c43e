import type { TerminalReplies, TerminalReply } from "./terminal-replies.ts";

/** Who is told what has come in. */
export interface InputWatcher {
  onReply(reply: TerminalReply): void;
  /** Keys have been dealt with: what they have changed is to be shown. */
  onKeys(): void;
}

/** Tells what a terminal answers from keys. What a key has changed is shown at once, however many keys came together. */
export class ScreenInput {
  private isReply = false;
  private areKeysNoted = false;

  constructor(
    private readonly replies: TerminalReplies,
    private readonly watcher: InputWatcher,
  ) {}

  /** An input listener of pi-tui's: takes answers away from whoever reads keys. */
  read(data: string): { consume: boolean } | undefined {
    const reply = this.replies.read(data);
    if (reply === undefined) return undefined;
    this.isReply = true;
    this.watcher.onReply(reply);
    return { consume: true };
  }

  /** To be called when input has been dealt with. */
  noteEnd(): void {
    const { isReply } = this;
    this.isReply = false;
    if (isReply || this.areKeysNoted) return;
    this.areKeysNoted = true;
    queueMicrotask(() => {
      this.areKeysNoted = false;
      this.watcher.onKeys();
    });
  }
}
