import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { EventStream } from "../src/event-stream.ts";

function createStream(): EventStream<string, string> {
  return new EventStream(
    (event) => event === "end" || event === "bad end",
    (event) => {
      if (event === "bad end") throw new Error("no result");
      return `result of ${event}`;
    },
  );
}

async function collect<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const events: T[] = [];
  for await (const event of stream) events.push(event);
  return events;
}

describe("the consumer", () => {
  test("an iterator sees events from before and after it started, the final one included", async () => {
    const stream = createStream();
    stream.push("a");
    const collected = collect(stream);
    await Promise.resolve();
    stream.push("b");
    stream.push("end");
    expect(await collected).toEqual(["a", "b", "end"]);
    expect(await stream.result()).toBe("result of end");
  });

  test("a callback gets pending events immediately and later ones inside push", async () => {
    const stream = createStream();
    stream.push("a");
    const seen: string[] = [];
    const result = stream.consume((event) => seen.push(event));
    expect(seen).toEqual(["a"]);
    stream.push("b");
    expect(seen).toEqual(["a", "b"]);
    stream.push("end");
    expect(seen).toEqual(["a", "b", "end"]);
    expect(await result).toBe("result of end");
  });

  test("several pending next() calls are answered in order", async () => {
    const stream = createStream();
    const iterator = stream[Symbol.asyncIterator]();
    const asked = [iterator.next(), iterator.next(), iterator.next()];
    stream.push("a");
    stream.push("end");
    expect((await Promise.all(asked)).map(({ value }) => value)).toEqual(["a", "end", undefined]);
  });

  test("a second consumer is rejected", () => {
    const stream = createStream();
    stream[Symbol.asyncIterator]();
    expect(() => stream.consume(() => {})).toThrow("already has a consumer");
  });

  test("leaving the loop early drops the remaining events and still delivers the result", async () => {
    const stream = createStream();
    stream.push("a");
    stream.push("b");
    for await (const event of stream) {
      expect(event).toBe("a");
      break;
    }
    stream.push("end");
    expect(await stream.result()).toBe("result of end");
  });

  test("return() ends a waiting iterator", async () => {
    const iterator = createStream()[Symbol.asyncIterator]();
    const waiting = iterator.next();
    await iterator.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(await iterator.next()).toEqual({ done: true, value: undefined });
  });
});

describe("observers", () => {
  test("any number of them see every event from their subscription on", () => {
    const stream = createStream();
    stream.push("before");
    const first: string[] = [];
    const second: string[] = [];
    stream.subscribe((event) => first.push(event));
    stream.push("a");
    const leave = stream.subscribe((event) => second.push(event));
    stream.push("b");
    leave();
    stream.push("end");
    stream.push("too late");
    expect([first, second]).toEqual([["a", "b", "end"], ["b"]]);
  });

  test("an observer may unsubscribe while it is called", () => {
    const stream = createStream();
    const seen: string[] = [];
    const leave = stream.subscribe((event) => {
      seen.push(event);
      leave();
    });
    stream.push("a");
    stream.push("b");
    expect(seen).toEqual(["a"]);
  });

  test("an error in an observer reaches neither the caller of push nor the other observers", async () => {
    const script = `
      const { EventStream } = await import(${JSON.stringify(join(import.meta.dir, "../src/event-stream.ts"))});
      process.on("uncaughtException", (error) => console.log("thrown:", error.message));
      const stream = new EventStream((event) => event === "end", () => "result");
      stream.subscribe(() => { throw new Error("bug"); });
      const seen = [];
      stream.subscribe((event) => seen.push(event));
      stream.push("a");
      stream.push("end");
      console.log(seen.join(), await stream.result());`;
    const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
    const lines = (await child.stdout.text()).trim().split("\n").sort();
    expect(lines).toEqual(["a,end result", "thrown: bug", "thrown: bug"]);
  });
});

describe("ending", () => {
  test("end() without a final event gives its result and ends the iterator", async () => {
    const stream = createStream();
    const collected = collect(stream);
    stream.end("early");
    expect(await collected).toEqual([]);
    expect(await stream.result()).toBe("early");
  });

  test("fail() rejects the result and a waiting iterator", async () => {
    const stream = createStream();
    const collected = collect(stream);
    await Promise.resolve();
    stream.fail(new Error("broken"));
    await expect(collected).rejects.toThrow("broken");
    await expect(stream.result()).rejects.toThrow("broken");
  });

  test("fail() lets the iterator have what was pushed before", async () => {
    const stream = createStream();
    stream.push("a");
    stream.fail(new Error("broken"));
    const iterator = stream[Symbol.asyncIterator]();
    expect(await iterator.next()).toEqual({ done: false, value: "a" });
    await expect(iterator.next()).rejects.toThrow("broken");
  });

  test("a final event without a result ends the iterator and rejects the result only", async () => {
    const stream = createStream();
    stream.push("bad end");
    expect(await collect(stream)).toEqual(["bad end"]);
    await expect(stream.result()).rejects.toThrow("no result");
  });

  test("a failure that nobody awaits is not an unhandled rejection", async () => {
    const unhandled: unknown[] = [];
    const onUnhandled = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", onUnhandled);
    createStream().fail(new Error("broken"));
    createStream().push("bad end");
    await Bun.sleep(5);
    process.off("unhandledRejection", onUnhandled);
    expect(unhandled).toEqual([]);
  });
});
