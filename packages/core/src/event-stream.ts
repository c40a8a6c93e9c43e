interface Waiter<T> {
  resolve(result: IteratorResult<T>): void;
  reject(error: unknown): void;
}

/**
 * A stream of events with one result at its end.
 *
 * It has one consumer, which receives every event from the first on: either `for await`, or `consume` with a callback
 * that is called inside `push`. Any number of observers may `subscribe` in addition and receive the events from then
 * on. Events wait for the consumer in memory, so a stream without a consumer grows until it ends; a consumer that
 * leaves the loop early discards the waiting events and all later ones. An error thrown by an observer does not reach
 * the code that pushes: it is rethrown separately, since it is a bug.
 */
export class EventStream<T, R> implements AsyncIterable<T> {
  private readonly queue = new EventQueue<T>();
  private readonly observers = new Set<(event: T) => void>();
  private readonly settled = Promise.withResolvers<R>();
  private hasConsumer = false;
  private ended = false;

  /**
   * @param isFinal recognizes the event that ends the stream.
   * @param toResult converts that event into the result; if it throws, `result()` rejects with the error.
   */
  constructor(
    private readonly isFinal: (event: T) => boolean,
    private readonly toResult: (event: T) => R,
  ) {
    // The result need not be requested, so its rejection must not count as unhandled.
    this.settled.promise.catch(() => {});
  }

  /** Delivers an event. After the final event, `end` or `fail`, further events are dropped. */
  push(event: T): void {
    if (this.ended) return;
    const isFinal = this.isFinal(event);
    if (isFinal) this.settle(() => this.toResult(event));
    for (const observer of [...this.observers]) notify(observer, event);
    this.queue.push(event);
    if (isFinal) this.close();
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
    this.settle(() => {
      throw error;
    });
    this.close({ error });
  }

  /** Calls `observer` for every later event, until the returned function is called. */
  subscribe(observer: (event: T) => void): () => void {
    this.observers.add(observer);
    return () => this.observers.delete(observer);
  }

  /**
   * Becomes the consumer with a callback: it is called for the waiting events at once, and for later ones inside
   * `push`.
   */
  consume(callback: (event: T) => void): Promise<R> {
    this.takePlace();
    for (const event of this.queue.leave()) notify(callback, event);
    this.subscribe(callback);
    return this.result();
  }

  /** The result, once the stream has ended. */
  result(): Promise<R> {
    return this.settled.promise;
  }

  [Symbol.asyncIterator](): AsyncIterator<T> {
    this.takePlace();
    return {
      next: () => this.queue.next(),
      return: async () => {
        this.queue.leave();
        return { done: true, value: undefined };
      },
    };
  }

  private takePlace(): void {
    if (this.hasConsumer) throw new Error("This event stream already has a consumer: use subscribe().");
    this.hasConsumer = true;
  }

  private settle(produce: () => R): void {
    this.ended = true;
    try {
      this.settled.resolve(produce());
    } catch (error) {
      this.settled.reject(error);
    }
  }

  private close(failure?: { error: unknown }): void {
    this.queue.close(failure);
    this.observers.clear();
  }
}

function notify<T>(observer: (event: T) => void, event: T): void {
  try {
    observer(event);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** Events queued for an iterator. */
class EventQueue<T> {
  private events: T[] = [];
  private waiters: Waiter<T>[] = [];
  private closed = false;
  private failure: { error: unknown } | undefined;

  push(event: T): void {
    const waiter = this.waiters.shift();
    if (waiter) waiter.resolve({ done: false, value: event });
    else if (!this.closed) this.events.push(event);
  }

  next(): Promise<IteratorResult<T>> {
    const [event] = this.events;
    if (this.events.length > 0 && event !== undefined) {
      this.events.shift();
      return Promise.resolve({ done: false, value: event });
    }
    if (this.failure) return Promise.reject(this.failure.error);
    if (this.closed) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve, reject) => this.waiters.push({ resolve, reject }));
  }

  /** Ends the queue. */
  close(failure?: { error: unknown }): void {
    if (this.closed) return;
    this.closed = true;
    this.failure = failure;
    for (const waiter of this.waiters.splice(0)) {
      if (failure) waiter.reject(failure.error);
      else waiter.resolve({ done: true, value: undefined });
    }
  }

  /** The consumer has stopped: waiting events are returned, later ones dropped. */
  leave(): T[] {
    this.close();
    this.failure = undefined;
    return this.events.splice(0);
  }
}
