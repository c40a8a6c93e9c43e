// biome-ignore-all lint/suspicious/noControlCharactersInRegex: the tests look for control sequences
import { describe, expect, test } from "bun:test";
import { getCapabilities } from "@earendil-works/pi-tui/dist/terminal-image.js";
import { CURSOR_MARKER, TuiBase, type TuiStopOptions } from "@earendil-works/pi-tui/dist/tui.js";
import { TuiMainScreen } from "@earendil-works/pi-tui/dist/tui-main-screen.js";
import { visibleWidth, wrapTextWithAnsi } from "@earendil-works/pi-tui/dist/utils.js";
import cliPackage from "../../../package.json";
import { InlineScreen } from "../../../src/tui/screen/inline-screen.ts";
import { VirtualTerminal } from "../../support/virtual-terminal.ts";

/** What InlineScreen relies on in pi-tui and its types do not show. Review it with every upgrade. */

/** Records the calls of the methods that InlineScreen overrides. */
class RecordingScreen extends TuiMainScreen {
  readonly calls: string[] = [];

  protected override beforeTerminalStart(): void {
    this.calls.push("beforeTerminalStart");
  }

  protected override afterTerminalStart(): void {
    this.calls.push("afterTerminalStart");
  }

  protected override beforeTerminalStop(options: TuiStopOptions): void {
    this.calls.push(`beforeTerminalStop ${JSON.stringify(options)}`);
  }

  protected override resetRenderState(): void {
    this.calls.push("resetRenderState");
  }

  protected override doRender(): void {
    this.calls.push("doRender");
  }
}

class RecordingTerminal extends VirtualTerminal {
  screen_: RecordingScreen | undefined;

  override start(onInput: (data: string) => void, onResize: () => void): void {
    super.start(onInput, onResize);
    this.screen_?.calls.push("terminal.start");
  }

  override stop(): void {
    super.stop();
    this.screen_?.calls.push("terminal.stop");
  }
}

function createScreen(): { screen: RecordingScreen; terminal: RecordingTerminal } {
  const terminal = new RecordingTerminal();
  const screen = new RecordingScreen(terminal);
  terminal.screen_ = screen;
  return { screen, terminal };
}

test("pi-tui has the version that this was checked with", () => {
  expect(cliPackage.dependencies["@earendil-works/pi-tui"]).toBe("0.87.1");
});

describe("a screen of pi-tui", () => {
  test("starts and stops its terminal between the overridable methods", async () => {
    const { screen, terminal } = createScreen();
    screen.start();
    screen.stop({ preserveScreen: true });
    screen.stop();
    expect(screen.calls).toEqual([
      "beforeTerminalStart",
      "terminal.start",
      "afterTerminalStart",
      'beforeTerminalStop {"preserveScreen":true}',
      "terminal.stop",
      "beforeTerminalStop {}",
      "terminal.stop",
    ]);
    // Between the two, only the cursor's visibility is written.
    expect(terminal.writes).toEqual([
      "\x1b[?2004h",
      "\x1b[?25l",
      "\x1b[?25h",
      "\x1b[?2004l",
      "\x1b[?25h",
      "\x1b[?2004l",
    ]);
  });

  test("draws only with doRender: soon on request, at once when forced or after a key", async () => {
    const { screen, terminal } = createScreen();
    screen.start();
    await Bun.sleep(30);
    screen.calls.length = 0;
    screen.requestRender();
    screen.requestRender();
    expect(screen.calls).toEqual([]);
    await Bun.sleep(30);
    screen.renderNow();
    screen.requestRender(true);
    expect(screen.calls).toEqual(["doRender", "doRender", "resetRenderState"]);
    await Promise.resolve();
    await new Promise((resolve) => process.nextTick(resolve));
    expect(screen.calls).toEqual(["doRender", "doRender", "resetRenderState", "doRender"]);
    screen.renderNow(true);
    expect(screen.calls.slice(4)).toEqual(["resetRenderState", "doRender"]);
    const keys: string[] = [];
    screen.setFocus({ render: () => [], invalidate() {}, handleInput: (key) => void keys.push(key) });
    terminal.type("k");
    await new Promise((resolve) => process.nextTick(resolve));
    expect([keys, screen.calls.slice(6)]).toEqual([["k"], ["doRender"]]);
    screen.stop();
  });

  test("requests a frame when the size changes, and gives input to listeners before the focused component", async () => {
    const { screen, terminal } = createScreen();
    const heard: string[] = [];
    screen.addInputListener((data) => {
      heard.push(data);
      return { consume: true };
    });
    screen.setFocus({ render: () => [], invalidate() {}, handleInput: () => heard.push("component") });
    screen.start();
    await Bun.sleep(30);
    screen.calls.length = 0;
    await terminal.resize(40, 10);
    await Bun.sleep(30);
    expect(screen.calls).toEqual(["doRender"]);
    terminal.type("\x1b[>0;276;0c");
    expect(heard).toEqual(["\x1b[>0;276;0c"]);
    screen.stop();
  });

  test("consists of its children's lines", () => {
    const { screen } = createScreen();
    screen.addChild({ render: (width) => [`${width} columns`], invalidate() {} });
    screen.addChild({ render: () => ["second"], invalidate() {} });
    expect(screen.render(33)).toEqual(["33 columns", "second"]);
    expect(screen).toBeInstanceOf(TuiBase);
    expect(screen.mode).toBe("regular");
  });
});

test("InlineScreen overrides every method that draws, and none of its own names hides one of pi-tui's", () => {
  const own = Object.getOwnPropertyNames(InlineScreen.prototype);
  const inherited = new Set<string>();
  for (let type = TuiMainScreen.prototype; type !== Object.prototype; type = Object.getPrototypeOf(type))
    for (const name of Object.getOwnPropertyNames(type)) inherited.add(name);
  for (const name of Object.getOwnPropertyNames(new RecordingScreen(new VirtualTerminal())))
    inherited.add(name);
  expect(own.filter((name) => inherited.has(name)).sort()).toEqual([
    "afterTerminalStart",
    "beforeTerminalStart",
    "beforeTerminalStop",
    "constructor",
    "doRender",
    "renderNow",
    "requestRender",
    "resetRenderState",
    "start",
  ]);
  expect(own.filter((name) => !inherited.has(name)).sort()).toEqual([
    "deliverTyped",
    "endInput",
    "finish",
    "leaveRegion",
    "redraw",
  ]);
});

test("starting a screen does not make pi-tui run tmux to learn about it", async () => {
  const terminal = new VirtualTerminal();
  const screen = new InlineScreen(terminal);
  screen.start();
  expect(getCapabilities()).toMatchObject({ images: null, hyperlinks: false });
  screen.stop();
});

test("the other parts of pi-tui that we use behave as assumed", () => {
  expect(CURSOR_MARKER).toBe("\x1b_pi:c\x07");
  expect(visibleWidth(`नि\t${CURSOR_MARKER}`)).toBe(5);
  expect(wrapTextWithAnsi("one two", 4)).toEqual(["one", "two"]);
});
