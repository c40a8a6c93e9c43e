/** The body of an answer: at once, or in pieces that are written one by one. */
export type Answer = Uint8Array<ArrayBuffer> | readonly Uint8Array<ArrayBuffer>[];

/** A request as received; `body` is its JSON, unparsed. */
export interface ReceivedRequest {
  /** When its head arrived, by `performance.now()`. */
  arrivedAt: number;
  body: string;
}

/** A loopback server that implements as much of Anthropic's Messages API as a run needs. */
export class MessagesServer implements Disposable {
  /** The requests since `begin`. */
  requests: ReceivedRequest[] = [];
  private answers: readonly Answer[] = [];
  private readonly server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    // A connection may be silent for as long as a tool call takes.
    idleTimeout: 120,
    fetch: (request) => this.respond(request),
  });

  get baseUrl(): string {
    return this.server.url.origin;
  }

  /**
   * Forgets earlier requests; each request from now on gets the next of these answers, which are built in
   * advance to be fast.
   */
  begin(answers: readonly Answer[]): void {
    this.requests = [];
    this.answers = answers;
  }

  [Symbol.dispose](): void {
    void this.server.stop(true);
  }

  private async respond(request: Request): Promise<Response> {
    const arrivedAt = performance.now();
    const answer = this.answers[this.requests.length];
    const received: ReceivedRequest = { arrivedAt, body: "" };
    this.requests.push(received);
    received.body = await request.text();
    if (answer === undefined) return new Response("there is no such answer", { status: 400 });
    const body = answer instanceof Uint8Array ? answer : toPieces(answer);
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }
}

/** Writes each piece separately and yields to the event loop after it, as chunks of a model arrive. */
function toPieces(pieces: readonly Uint8Array<ArrayBuffer>[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  const waiting = pieces.values();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = waiting.next();
      if (done) return controller.close();
      controller.enqueue(value);
      await new Promise((resolve) => setImmediate(resolve));
    },
  });
}
