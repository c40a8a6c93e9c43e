import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CheckpointPreparation, SessionCheckpoints } from "../../src/harness/session-checkpoints.ts";
import type { ProviderEvent, StreamFunction } from "../../src/provider/types.ts";
import { createProviderStream, EMPTY_USAGE } from "../../src/providers.ts";
import { makeTempDir } from "../support/temp-dir.ts";

const notify = () => {};

function openProject() {
  const root = makeTempDir();
  const home = makeTempDir();
  writeFileSync(join(root, "a.txt"), "before\n");
  writeFileSync(join(root, "b.txt"), "before\n");
  const options = { root, cwd: root, environment: { HOME: home }, sessionId: "session-1" };
  const checkpoints = new SessionCheckpoints({ ...options, isKept: true, isChanging: true });
  return { root, checkpoints, write: (name: string) => writeFileSync(join(root, name), "after\n") };
}

test("calls that overlap are undone together, also the one that ends last", async () => {
  const { root, checkpoints, write } = openProject();

  await checkpoints.beforeChanges({ isFirst: true, notify, writes: "a.txt" });
  write("a.txt");
  await checkpoints.beforeChanges({ isFirst: false, notify });
  checkpoints.afterChanges();
  write("b.txt");
  checkpoints.afterChanges();
  await checkpoints.settled();
  await checkpoints.undo();
  checkpoints.close();

  expect([readFileSync(join(root, "a.txt"), "utf8"), readFileSync(join(root, "b.txt"), "utf8")]).toEqual([
    "before\n",
    "before\n",
  ]);
});

test("a turn that begins while a call of the turn before is still changing files is undone by itself", async () => {
  const { root, checkpoints, write } = openProject();

  await checkpoints.beforeChanges({ isFirst: true, notify });
  write("a.txt");
  await checkpoints.beforeChanges({ isFirst: true, notify });
  write("b.txt");
  checkpoints.afterChanges();
  checkpoints.afterChanges();
  await checkpoints.settled();
  await checkpoints.undo();
  checkpoints.close();

  expect([readFileSync(join(root, "a.txt"), "utf8"), readFileSync(join(root, "b.txt"), "utf8")]).toEqual([
    "after\n",
    "before\n",
  ]);
});

test("what a call writes while others begin is undone with it, at whatever moment it writes", async () => {
  const { root, checkpoints } = openProject();
  const names = Array.from({ length: 40 }, (_, index) => `new-${index}.txt`);
  const work = async (name: string, isFirst: boolean) => {
    // Every other one is a call that names its file, as those of the session itself do.
    const isNarrow = Number(/\d+/.exec(name)) % 2 === 1;
    await checkpoints.beforeChanges({ isFirst, notify, ...(isNarrow && { writes: name }) });
    writeFileSync(join(root, name), "made\n");
    await Bun.sleep(1);
    writeFileSync(join(root, name), "made again\n");
    checkpoints.afterChanges();
  };

  await work("new-0.txt", true);
  await Promise.all(names.slice(1).map((name) => work(name, false)));
  await checkpoints.settled();
  const undone = await checkpoints.undo();
  checkpoints.close();

  expect(undone?.restored.map(({ path }) => path)).toEqual(names.toSorted());
});

/** How often a request with these answers makes the project be recorded before it has lasted long. */
function countPreparations(events: readonly ProviderEvent[]): number {
  let count = 0;
  const prepare = async () => {};
  const preparation = new CheckpointPreparation({
    isChanging: true,
    open() {
      count += 1;
      return Promise.resolve({ prepare });
    },
  });
  const answer = createProviderStream();
  const stream: StreamFunction = () => answer;
  const model = { id: "echo-1", provider: "echo", contextWindow: 32_000, maxOutputTokens: 1_000 };
  preparation.wrap(stream)(model, { systemPrompt: "", messages: [], tools: [] }, {});
  for (const event of events) answer.push(event);
  preparation.cancel();
  return count;
}

const done: ProviderEvent = {
  type: "done",
  stopReason: "end_turn",
  message: {
    ...{ role: "assistant", model: "echo-1", usage: EMPTY_USAGE, timestamp: 0 },
    ...{ content: [{ type: "text", text: "Hello" }], stopReason: "end_turn" },
  },
};

test("an answer in words that ends at once does not make the project be recorded", () => {
  const words: ProviderEvent[] = [{ type: "start" }, { type: "text_delta", delta: "Hello" }, done];
  expect(countPreparations(words)).toBe(0);
});

test("the project is recorded as soon as an answer begins a call", () => {
  const call: ProviderEvent[] = [{ type: "start" }, { type: "tool_call_start", id: "1", name: "bash" }, done];
  expect(countPreparations(call)).toBe(1);
});
