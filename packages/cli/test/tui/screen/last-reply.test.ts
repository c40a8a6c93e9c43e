import { expect, test } from "bun:test";
import { TerminalGuard } from "../../../src/tui/screen/terminal-guard.ts";
import { ScreenStage } from "../../support/screen-stage.ts";

/** A process without events. */
const HOST = {
  pid: process.pid,
  stdin: { on: () => undefined },
  stdout: { on: () => undefined },
  on: () => undefined,
  off: () => undefined,
  kill: () => undefined,
};

const DEVICE = "\x1b[>84;0;0c";
const CLASS = "\x1b[?1;2c";
const PLACE = "\x1b[3;3R";

/** A screen in a terminal that sends its replies when the test does. */
async function startHeld() {
  const stage = new ScreenStage({ isTalking: false, environment: { TERM: "tmux-256color" } });
  stage.live = ["live"];
  const guard = new TerminalGuard(stage.screen, HOST, () => {});
  const heard: string[] = [];
  stage.screen.addInputListener((data) => {
    heard.push(data);
    return { consume: true };
  });
  guard.hold();
  return { stage, guard, heard };
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
};

test("the terminal is lent once it has sent its last reply, however late, and keys before that are dropped", async () => {
  const { stage, guard, heard } = await startHeld();
  stage.terminal.type(`${CLASS}${DEVICE}`);
  await stage.draw("a finished line");
  expect(stage.terminal.bytes).toContain("\x1b[6n");
  let isLent = false;
  const ended = Promise.withResolvers<void>();
  const lent = guard.lend(() => {
    isLent = true;
    return ended.promise;
  });
  await Bun.sleep(300);
  stage.terminal.type(PLACE);
  await turns(5);
  expect(isLent).toBe(false);
  stage.terminal.type(`x${CLASS}`);
  await turns(5);
  expect([isLent, heard]).toEqual([true, []]);
  ended.resolve();
  await lent;
  guard.restore();
});

test("a terminal that has not replied yet is awaited, too", async () => {
  const { stage, guard, heard } = await startHeld();
  let isLent = false;
  const lent = guard.lend(async () => {
    isLent = true;
  });
  await Bun.sleep(100);
  expect(isLent).toBe(false);
  stage.terminal.type(`${CLASS}${DEVICE}`);
  await lent;
  expect([isLent, heard]).toEqual([true, []]);
  guard.restore();
});

test("a terminal that never replies is lent after a second at most, and then at once", async () => {
  const { guard } = await startHeld();
  const startedAt = performance.now();
  await guard.lend(async () => {});
  expect(performance.now() - startedAt).toBeGreaterThan(800);
  guard.restore();
});

test("the Kitty protocol is ended exactly as often as it was begun, and leaves no key behind", async () => {
  const { stage, guard } = await startHeld();
  stage.terminal.type(`\x1b[?7u${CLASS}${DEVICE}`);
  const lent = guard.lend(async () => {});
  stage.terminal.type(`\x1b[13;1:3u${CLASS}`);
  await lent;
  guard.restore();
  const { bytes } = stage.terminal;
  expect(bytes.split("\x1b[<u").length).toBe(bytes.split("\x1b[>7u").length);
  expect(bytes).not.toContain("\x1b[>4;2m");
});
