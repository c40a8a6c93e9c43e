import { join } from "node:path";
import { loadConfig, VENDORS } from "@diligent/core/harness";
import { userConfigDirectory } from "@diligent/core/interactive";
import { describeError, EXIT_USAGE, SIGNAL_EXIT_CODES } from "../errors.ts";
import type { CliIo, CliTerminal } from "../io/io.ts";
import { sanitizeTerminalText } from "../text/terminal-text.ts";
import { cleanPaste } from "./editor/text-area.ts";
import { editLine, type KeyPress } from "./effects.ts";
import { nameKey } from "./keys/keymap.ts";
import { InlineScreen } from "./screen/inline-screen.ts";
import { readPaste } from "./screen/sequence-reader.ts";
import { TerminalGuard } from "./screen/terminal-guard.ts";
import { wrapIndented } from "./text.ts";
import { createTheme, type Theme } from "./theme.ts";

/** How the page was left: with an exit code, or with a stored key and a message about it. */
type WelcomeEnd = { kind: "ended"; code: number } | { kind: "logged_in"; text: string };

// Fewer keys in one read come from fast typing; more are a paste from a terminal that does not mark it.
const PASTE_KEYS = 8;

/**
 * The screen for a user without a key: accepts a key, or starts the demo.
 * @param cwd where the session will work, absolute.
 */
export async function runWelcome(
  { terminal, host, writeNow, readSize }: CliTerminal,
  io: CliIo,
  cwd: string,
): Promise<WelcomeEnd> {
  const { environment } = io;
  const choices = await listChoices(cwd, environment);
  const screen = new InlineScreen(terminal, { environment, readSize });
  const guard = new TerminalGuard(screen, host, writeNow);
  const page = new WelcomePage({
    io,
    cwd,
    choices,
    redraw: () => screen.requestRender(),
    suspend: () => guard.suspend(),
  });
  const look = {
    theme: createTheme({ color: !environment.NO_COLOR }),
    choices,
    variables: VENDORS.map(({ variable }) => variable),
    configPath: describeConfigPath(environment),
  };
  screen.addChild({ render: (width) => welcomeLines(page.state, { width, ...look }), invalidate() {} });
  screen.addInputListener((data) => {
    page.take(data);
    return { consume: true };
  });
  const unsubscribe = io.onSignal((signal) => page.end({ kind: "ended", code: SIGNAL_EXIT_CODES[signal] }));
  io.onExit(() => guard.leave());
  guard.hold();
  const end = await page.ended;
  unsubscribe();
  await guard.leave({ isErased: end === "demo" || end.kind === "logged_in" });
  if (end !== "demo") return end;
  const { runDemo } = await import("../commands/demo.ts");
  return { kind: "ended", code: await runDemo([], io) };
}

/** The vendors, and the other choices. */
async function listChoices(cwd: string, environment: CliIo["environment"]): Promise<WelcomeChoice[]> {
  const { describeHost, findKeyProvider } = await import("../login/login.ts");
  const loaded = await loadConfig(cwd, environment);
  const keys = VENDORS.map(({ name, keyPage }) => {
    const testedAt = describeHost(findKeyProvider(name, loaded));
    return { kind: "key" as const, provider: name, keyPage, testedAt };
  });
  return [...keys, { kind: "demo" }, { kind: "leave" }];
}

interface PageDeps {
  io: CliIo;
  cwd: string;
  choices: readonly WelcomeChoice[];
  redraw(): void;
  suspend(): Promise<void>;
}

/** What the page shows, and the effects of its keys. */
class WelcomePage {
  state: WelcomeState = { stage: "menu", selected: 0 };
  private readonly result = Promise.withResolvers<WelcomeEnd | "demo">();
  /** The keys of one read. */
  private keys: string[] = [];
  private trial: AbortController | undefined;

  constructor(private readonly deps: PageDeps) {}

  get ended(): Promise<WelcomeEnd | "demo"> {
    return this.result.promise;
  }

  end(end: WelcomeEnd | "demo"): void {
    this.trial?.abort();
    this.result.resolve(end);
  }

  take(data: string): void {
    const pasted = readPaste(data);
    if (pasted !== undefined) {
      this.apply(applyWelcomePaste(this.state, cleanPaste(pasted), this.deps.choices));
      return;
    }
    if (this.keys.length === 0) setImmediate(() => this.takeKeys());
    this.keys.push(data);
  }

  private takeKeys(): void {
    const keys = this.keys.splice(0);
    const text = keys.filter((key) => key.length === 1 && key > " ").join("");
    if (this.state.stage === "menu" && text.length >= PASTE_KEYS) {
      this.apply(applyWelcomePaste(this.state, text, this.deps.choices));
      return;
    }
    for (const data of keys) {
      const name = nameKey(data);
      if (name !== undefined) this.apply(applyWelcomeKey(this.state, { name, data }, this.deps.choices));
    }
  }

  private apply({ state, effect }: WelcomeOutcome): void {
    this.state = state;
    this.deps.redraw();
    if (effect) this.runEffect(effect);
  }

  private runEffect(effect: WelcomeEffect): void {
    switch (effect.type) {
      case "try":
        void this.testKey(effect);
        return;
      case "stop":
        this.trial?.abort();
        return;
      case "demo":
        this.end("demo");
        return;
      case "leave":
        this.end({ kind: "ended", code: EXIT_USAGE });
        return;
      case "suspend":
        void this.deps.suspend();
    }
  }

  private async testKey({ provider: name, key }: { provider: string; key: string }): Promise<void> {
    const { io, cwd } = this.deps;
    const { environment } = io;
    this.trial = new AbortController();
    const { signal } = this.trial;
    try {
      const { findKeyProvider, logIn } = await import("../login/login.ts");
      const loaded = await loadConfig(cwd, environment);
      const provider = findKeyProvider(name, loaded);
      const { config } = loaded;
      const lines = await logIn(provider, key, { cwd, config, environment, isProved: true, signal });
      this.end({ kind: "logged_in", text: lines.join("\n") });
    } catch (error) {
      const { state } = this;
      if (state.stage !== "trying") return;
      this.state = { stage: "key", choice: state.choice, text: "", problem: describeError(error) };
      this.deps.redraw();
    }
  }
}

/** A path for people, relative to their home directory. */
function describeConfigPath(environment: CliIo["environment"]): string | undefined {
  const directory = userConfigDirectory(environment);
  if (directory === undefined) return undefined;
  const path = join(directory, "diligent.jsonc");
  const { HOME: home } = environment;
  return home && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** The input for drawing the page; `width` is in columns. */
interface WelcomeStyle {
  width: number;
  theme: Theme;
  choices: readonly WelcomeChoice[];
  /** The variables that may hold a key. */
  variables: readonly string[];
  /** The path of the user's own configuration, whether it exists or not. */
  configPath: string | undefined;
}

const SERVER_EXAMPLE = [
  '{ "model": "local/NAME",',
  '  "provider": { "compatible": { "local": {',
  '    "baseUrl": "http://localhost:11434/v1" } } } }',
];
// A narrower screen is usually a small one, where the example would push the rest out of sight.
const EXAMPLE_FROM_COLUMNS = 60;
const MAX_HIDDEN = 12;

/** What a user without a key needs to know, on one screen of 40 columns and 15 rows. */
export function welcomeLines(state: WelcomeState, look: WelcomeStyle): string[] {
  const lines = state.stage === "menu" ? menuLines(state, look) : keyLines(state, look);
  return lines.flatMap((line) => wrapIndented(line, look.width));
}

function menuLines(
  { selected, problem }: WelcomeState & { stage: "menu" },
  { width, theme, choices, variables, configPath }: WelcomeStyle,
): string[] {
  const isWide = width >= EXAMPLE_FROM_COLUMNS;
  const path = configPath === undefined ? "your configuration" : sanitizeTerminalText(configPath);
  return [
    theme.bold("No API key found. How do you want to start?"),
    "",
    ...choices.flatMap((choice, index) =>
      choiceLines(choice, { index, isSelected: index === selected, theme }),
    ),
    ...(problem === undefined ? [] : ["", theme.error(problem)]),
    "",
    theme.dim(`Or set ${variables.join(" or ")} and start again.`),
    theme.dim(`To use your own server, configure it in ${path}${isWide ? ":" : ""}`),
    ...(isWide ? SERVER_EXAMPLE.map((line) => theme.dim(`    ${line}`)) : []),
  ];
}

function choiceLines(
  choice: WelcomeChoice,
  { index, isSelected, theme }: { index: number; isSelected: boolean; theme: Theme },
): string[] {
  const key = choice.kind === "key" ? String(index + 1) : choice.kind === "demo" ? "d" : "q";
  const label = `${isSelected ? "›" : " "} ${key}  ${labelOf(choice)}`;
  const line = isSelected ? theme.accent(label) : label;
  if (choice.kind !== "key") return [line];
  return [line, theme.dim(`     ${choice.keyPage.replace(/^https:\/\//, "")}`)];
}

function labelOf(choice: WelcomeChoice): string {
  switch (choice.kind) {
    case "key":
      return `Paste a key for ${choice.provider}`;
    case "demo":
      return "See the demo, without a key";
    case "leave":
      return "Quit";
  }
}

function keyLines(state: Exclude<WelcomeState, { stage: "menu" }>, { theme }: WelcomeStyle): string[] {
  const { provider, keyPage } = state.choice;
  const testedAt = sanitizeTerminalText(state.choice.testedAt);
  const page = theme.dim(`Get a key at ${keyPage.replace(/^https:\/\//, "")}`);
  if (state.stage === "trying")
    return [
      theme.bold(`Testing the key for ${provider} with one request…`),
      page,
      "",
      theme.dim("Esc cancels"),
    ];
  const problem = state.problem === undefined ? [] : ["", theme.error(sanitizeTerminalText(state.problem))];
  return [
    theme.bold(`Paste the key for ${provider}. It is not shown.`),
    page,
    "",
    `${theme.accent("Key:")} ${"•".repeat(Math.min(state.text.length, MAX_HIDDEN))}▏`,
    ...problem,
    "",
    theme.dim(`Enter tests it with one request to ${testedAt} and stores it · Esc goes back`),
  ];
}

/** A provider whose key can be pasted. */
interface KeyChoice {
  kind: "key";
  provider: string;
  keyPage: string;
  /** The host that the key is tested at. */
  testedAt: string;
}

/** The choices: paste a provider's key, start the demo, or quit. */
type WelcomeChoice = KeyChoice | { kind: "demo" | "leave" };

/** The state of the page. */
type WelcomeState =
  | { stage: "menu"; selected: number; problem?: string }
  /** A key is being typed, which is not shown; `problem` is the problem with the previous one. */
  | { stage: "key"; choice: KeyChoice; text: string; problem?: string }
  /** A test request for the key is running. */
  | { stage: "trying"; choice: KeyChoice };

/** The effect of a key, in addition to the new state. */
type WelcomeEffect =
  | { type: "try"; provider: string; key: string }
  | { type: "stop" | "demo" | "leave" | "suspend" };

/** The state after some input. */
interface WelcomeOutcome {
  state: WelcomeState;
  effect?: WelcomeEffect;
}

/** The state after a key. Pure. */
function applyWelcomeKey(
  state: WelcomeState,
  key: KeyPress,
  choices: readonly WelcomeChoice[],
): WelcomeOutcome {
  if (key.name === "ctrl+z") return { state, effect: { type: "suspend" } };
  if (key.name === "ctrl+c") return { state, effect: { type: "leave" } };
  switch (state.stage) {
    case "menu":
      return applyMenuKey(state, key, choices);
    case "key":
      return applyTyping(state, key);
    case "trying":
      return key.name === "escape" ? { state, effect: { type: "stop" } } : { state };
  }
}

/** The state after a paste, which chooses nothing. Pure. */
function applyWelcomePaste(
  state: WelcomeState,
  pasted: string,
  choices: readonly WelcomeChoice[],
): WelcomeOutcome {
  const text = pasted.trim();
  if (text === "" || state.stage === "trying") return { state };
  if (state.stage === "key") return { state: { ...state, text: state.text + text } };
  const provider = providerOfKey(text);
  const choice = choices.find((each) => each.kind === "key" && each.provider === provider);
  if (choice?.kind === "key") return { state: { ...askFor(choice), text } };
  return { state: { ...state, problem: "Choose a provider first, then paste the key." } };
}

function applyMenuKey(
  state: WelcomeState & { stage: "menu" },
  { name }: KeyPress,
  choices: readonly WelcomeChoice[],
): WelcomeOutcome {
  if (["q", "escape", "ctrl+d"].includes(name)) return { state, effect: { type: "leave" } };
  if (name === "d") return { state, effect: { type: "demo" } };
  const step = name === "down" ? 1 : name === "up" ? -1 : 0;
  if (step !== 0) {
    const selected = (state.selected + step + choices.length) % choices.length;
    return { state: { stage: "menu", selected } };
  }
  // As they are shown: a digit selects a provider.
  const numbered = /^\d$/.test(name) ? choices[Number(name) - 1] : undefined;
  const choice = name === "enter" ? choices[state.selected] : numbered;
  if (choice?.kind === "key") return { state: askFor(choice) };
  return name === "enter" && choice ? { state, effect: { type: choice.kind } } : { state };
}

function applyTyping(state: WelcomeState & { stage: "key" }, key: KeyPress): WelcomeOutcome {
  const { choice, text } = state;
  if (key.name === "escape" || key.name === "ctrl+d") return { state: { stage: "menu", selected: 0 } };
  if (key.name === "enter") {
    if (text.trim() === "") return { state: { ...state, text: "", problem: "Paste a key first." } };
    const { provider } = choice;
    return { state: { stage: "trying", choice }, effect: { type: "try", provider, key: text } };
  }
  const edited = editLine(text, key);
  return { state: edited === undefined ? state : { ...state, text: edited } };
}

function askFor(choice: KeyChoice): WelcomeState & { stage: "key" } {
  return { stage: "key", choice, text: "" };
}

/** The keys of both vendors start with a distinctive prefix. */
function providerOfKey(key: string): string | undefined {
  if (key.startsWith("sk-ant-")) return "anthropic";
  return key.startsWith("sk-") ? "openai" : undefined;
}
