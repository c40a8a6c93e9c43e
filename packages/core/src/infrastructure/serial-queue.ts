/** Runs one piece of work after the other, in the order in which they were added. */
export class SerialQueue {
  private last: Promise<unknown> = Promise.resolve();

  /** Begins once everything before it has ended, however that did. Settles as `work` does. */
  add<T>(work: () => Promise<T>): Promise<T> {
    const done = this.last.then(work);
    this.last = done.catch(() => {
      // Whoever asked for it is told; the next in the queue is not concerned.
    });
    return done;
  }

  /** Resolves once everything that was added so far has ended. It never rejects. */
  async settled(): Promise<void> {
    await this.last;
  }
}
