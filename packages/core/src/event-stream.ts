interface Waiter<T> {
  resolve(result: IteratorResult<T>): void;
  reject(error: unknown): void;
}

/**
 * A stream of events that ends in one result.
 *
 * It has one consumer, which sees every event from the first on: either `for await`, or `consume` with a callback
 * that is called inside `push`. Any number of observers may `subscribe` beside it and see the events from then on.
 * Events wait for the consumer in memory, so a stream nobody consumes grows until it ends; a consumer that leaves
 * the loop early drops what is waiting and everything that follows.
 */
export class EventStream<T, R> implements AsyncIterable<T> {
  private readonly queue: T[] = [];
  private readonly observers = new Set<(event: T) => void>();
  private readonly settled = Promise.withResolvers<R>();
  private consumer: "none" | "iterating" | "callback" | "gone" = "none";
  private waiter: Waiter<T> | undefined;
  private ended = false;
  private failure: { error: unknown } | undefined;

  /**
   * @param isFinal tells the event that ends the stream.
   * @param toResult turns that event into the result; if it throws, `result()` rejects with what it threw.
   */
  constructor(
    private readonly isFinal: (event: T) => boolean,
    private readonly toResult: (event: T) => R,
  ) {
    // Nobody has to ask for the result, so its rejection must not count as unhandled.
    this.settled.promise.catch(() => {});
  }

  /** Delivers an event. After the final event, `end` or `fail`, further events are dropped. */
  push(event: T): void {
    if (this.ended) return;
    const final = this.isFinal(event);
    if (final) this.settle(() => this.toResult(event));
    for (const observer of [...this.observers]) observer(event);
    this.deliver(event);
    if (final) this.close();
  }

  /** Ends the stream without a final event. */
  end(result: R): void {
    if (this.ended) return;
    this.settle(() => result);
    this.close();
  }

  /** Ends the stream in an error: `result()` rejects with it, and so does the iterator after the waiting events. */
  fail(error: unknown): void {
    if (this.ended) return;
    this.failure = { error };
    this.ended = true;
    this.settled.reject(error);
    this.close();
  }

  /** Calls `observer` for every later event, until the returned function is called. */
  subscribe(observer: (event: T) => void): () => void {
    this.observers.add(observer);
    return () => this.observers.delete(observer);
  }

  /** Takes the consumer's place with a callback: the waiting events at once, later ones inside `push`. */
  consume(callback: (event: T) => void): Promise<R> {
    this.takePlace("callback");
    for (const event of this.queue.splice(0)) callback(event);
    this.subscribe(callback);
    return this.result();
  }

  /** The result, once the stream has ended. */
  result(): Promise<R> {
    return this.settled.promise;
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    this.takePlace("iterating");
    return { next: () => this.next(), return: () => this.leave() };
  }

  private takePlace(kind: "iterating" | "callback"): void {
    if (this.consumer !== "none")
      throw new Error("This event stream already has a consumer: use subscribe().");
    this.consumer = kind;
  }

  private deliver(event: T): void {
    if (this.waiter) {
      const waiter = this.waiter;
      this.waiter = undefined;
      waiter.resolve({ done: false, value: event });
    } else if (this.consumer === "none" || this.consumer === "iterating") {
      this.queue.push(event);
    }
  }

  private next(): Promise<IteratorResult<T>> {
    const event = this.queue.shift();
    if (event !== undefined) return Promise.resolve({ done: false, value: event });
    if (this.failure && this.consumer !== "gone") return Promise.reject(this.failure.error);
    if (this.ended || this.consumer === "gone") return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => {
      this.waiter = { resolve, reject };
    });
  }

  private leave(): Promise<IteratorResult<T>> {
    this.consumer = "gone";
    this.queue.length = 0;
    this.waiter?.resolve({ done: true, value: undefined });
    this.waiter = undefined;
    return Promise.resolve({ done: true, value: undefined });
  }

  private settle(produce: () => R): void {
    this.ended = true;
    try {
      this.settled.resolve(produce());
    } catch (error) {
      this.settled.reject(error);
    }
  }

  private close(): void {
    const waiter = this.waiter;
    this.waiter = undefined;
    if (this.failure) waiter?.reject(this.failure.error);
    else waiter?.resolve({ done: true, value: undefined });
    this.observers.clear();
  }
}
