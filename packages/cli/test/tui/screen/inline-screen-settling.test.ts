import { describe, expect, test } from "bun:test";
import { detectSettling } from "../../../src/tui/screen/terminal-replies.ts";
import { ScreenStage, type StageOptions } from "../../support/screen-stage.ts";

const TMUX: StageOptions = { isTalking: false, environment: { TERM_PROGRAM: "tmux" } };
// The minimum interval at which tmux reports a new size.
const TMUX_INTERVAL_MS = 250;

/**
 * Resolves with the milliseconds until something was written after the size had changed, while text keeps
 * arriving.
 */
async function timeUntilDrawn(stage: ScreenStage): Promise<number> {
  await stage.terminal.resize(60, 24);
  const since = performance.now();
  const writes = stage.terminal.writes.length;
  while (stage.terminal.writes.length === writes) {
    stage.live = [`text that came until ${performance.now()}`, "status"];
    stage.screen.requestRender();
    await Bun.sleep(5);
  }
  return performance.now() - since;
}

describe("a resize", () => {
  test("in tmux causes no output before tmux would have reported the next size", async () => {
    const stage = new ScreenStage(TMUX);
    await stage.start("text", "status");
    expect(await timeUntilDrawn(stage)).toBeGreaterThan(TMUX_INTERVAL_MS);
    stage.screen.stop();
  });

  test("in tmux is drawn once for all steps, with everything that arrived meanwhile", async () => {
    const stage = new ScreenStage(TMUX);
    await stage.start("text", "status");
    await stage.terminal.resize(70, 24);
    stage.screen.finish(["came at 70"]);
    await stage.terminal.resize(50, 24);
    stage.screen.finish(["came at 50"]);
    await timeUntilDrawn(stage);
    await stage.terminal.flush();
    expect(stage.lines()).toEqual([
      "came at 70",
      "came at 50",
      expect.stringContaining("text that"),
      "status",
    ]);
    stage.screen.stop();
  });

  test("in tmux is drawn when the screen stops, with pending lines laid out for it", async () => {
    const stage = new ScreenStage(TMUX);
    await stage.start("a text as wide as thirty columns", "status");
    await stage.terminal.resize(20, 24);
    stage.screen.finish(["came at 20"]);
    stage.live = ["a text as wide as", "thirty columns", "status"];
    stage.screen.stop();
    await stage.terminal.flush();
    expect(stage.lines()).toEqual(["came at 20", "a text as wide as", "thirty columns", "status"]);
  });

  const silent = { term: "xterm-256color", termProgram: undefined, device: undefined, hasAnswered: false };
  const atOnce = { quietMs: 30, longestMs: 500 };
  const late = { quietMs: 280, longestMs: 5_000 };

  test.each([
    ["tmux by its reply", { device: "84;0;0" }, late],
    ["tmux by its name", { termProgram: "tmux" }, late],
    ["tmux by its terminal type", { term: "tmux-256color" }, late],
    ["xterm.js, whatever the environment says", { termProgram: "tmux", device: "0;276;0" }, atOnce],
    ["GNU screen", { term: "screen-256color", device: "83;50000;0" }, atOnce],
    ["VTE", { device: "65;7600;1" }, atOnce],
    ["one that does not identify itself", {}, atOnce],
  ])("is waited out for as long as %s needs", (_, traits, settling) => {
    expect(detectSettling({ ...silent, ...traits })).toEqual(settling);
  });
});
