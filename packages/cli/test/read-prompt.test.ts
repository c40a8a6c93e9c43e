import { describe, expect, test } from "bun:test";
import { BUSY_MS } from "../../core/test/support/busy-machine.ts";
import { UsageError } from "../src/errors.ts";
import type { CliInput } from "../src/io/io.ts";
import { readPrompt } from "../src/print/print.ts";

const NEVER = new AbortController().signal;

/** An input whose pieces arrive after the given delays; a final number keeps it open that long. */
function input(...pieces: (string | number)[]): CliInput {
  const stream = new ReadableStream<Uint8Array>({
    async start(controller) {
      for (const piece of pieces) {
        if (typeof piece === "number") await Bun.sleep(piece);
        else controller.enqueue(new TextEncoder().encode(piece));
      }
      try {
        controller.close();
      } catch {
        // The reader has already closed it.
      }
    },
  });
  return { isTerminal: false, stream: () => stream };
}

function failing(error: Error): CliInput {
  return {
    isTerminal: false,
    stream: () => {
      throw error;
    },
  };
}

async function failureOf(prompt: Promise<string>): Promise<string> {
  return prompt.then(
    (text) => `no failure: ${text}`,
    (error) => (error instanceof UsageError ? error.message : `other error: ${error}`),
  );
}

const EMPTY = 'the prompt is empty: diligent -p "what to do"';

describe("the prompt of print mode", () => {
  test("is piped text followed by the words, with a blank line between", async () => {
    expect(await readPrompt("review this", input("a diff\n"), NEVER)).toBe("a diff\n\nreview this");
  });

  test("is piped text alone", async () => {
    expect(await readPrompt(undefined, input("fix ", 5, "it\n"), NEVER)).toBe("fix it");
  });

  test("is not read from a terminal", async () => {
    const terminal: CliInput = { ...failing(new Error("was read")), isTerminal: true };
    expect(await readPrompt("hi", terminal, NEVER)).toBe("hi");
  });

  test("is missing without any text", async () => {
    for (const words of [undefined, "", "  \n"])
      expect(await failureOf(readPrompt(words, input(" \n"), NEVER))).toBe(EMPTY);
  });

  test("joins a character that the pipe has split", async () => {
    const bytes = new TextEncoder().encode("Grüße");
    const stream = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
        controller.close();
      },
    });
    expect(await readPrompt(undefined, { isTerminal: false, stream: () => stream }, NEVER)).toBe("Grüße");
  });
});

describe("slow input", () => {
  test("is ignored after two silent seconds if there are words", async () => {
    const startedAt = performance.now();
    expect(await readPrompt("hi", input(60_000), NEVER)).toBe("hi");
    const waitedMs = performance.now() - startedAt;
    expect(waitedMs).toBeGreaterThan(1900);
    expect(waitedMs).toBeLessThan(2500 + BUSY_MS);
  });

  test("is read to its end once it has begun, however slow it is", async () => {
    expect(await readPrompt("hi", input("a", 2200, "b"), NEVER)).toBe("ab\n\nhi");
  });

  test("is awaited without words, until a signal", async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 20);
    expect(await failureOf(readPrompt(undefined, input(60_000), stop.signal))).toBe(EMPTY);
  });
});

describe("unusable input", () => {
  test("is refused above 10 MB", async () => {
    const megabyte = "x".repeat(1024 * 1024);
    expect(await failureOf(readPrompt("hi", input(...Array(11).fill(megabyte)), NEVER))).toBe(
      "the input is larger than 10 MB",
    );
    expect((await readPrompt("hi", input(...Array(10).fill(megabyte)), NEVER)).length).toBe(
      10 * 1024 * 1024 + 4,
    );
  });

  test("stops a run only if there are no words", async () => {
    const broken = failing(new Error("EISDIR: it is a directory"));
    expect(await readPrompt("hi", broken, NEVER)).toBe("hi");
    expect(await failureOf(readPrompt(undefined, broken, NEVER))).toBe(
      "cannot read the input: EISDIR: it is a directory",
    );
  });
});
