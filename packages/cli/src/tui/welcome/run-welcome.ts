import { join } from "node:path";
import { userConfigDirectory } from "@diligent/core/interactive";
import { DEFAULT_MODEL, inferProvider, KNOWN_MODELS } from "@diligent/core/run";
import { VENDORS } from "../../choose-model.ts";
import type { CliIo, CliTerminal } from "../../cli-io.ts";
import { EXIT_USAGE, SIGNAL_EXIT_CODES } from "../../exit-codes.ts";
import { nameKey } from "../keys/name-key.ts";
import { InlineScreen } from "../screen/inline-screen.ts";
import { TerminalGuard } from "../screen/terminal-guard.ts";
import { createTheme } from "../theme.ts";
import { type KeyHint, welcomeLines } from "./welcome-lines.ts";

type Answer = "demo" | "suspend" | { code: number };

const ANSWERS: Readonly<Record<string, Answer>> = {
  enter: "demo",
  d: "demo",
  "ctrl+z": "suspend",
  q: { code: EXIT_USAGE },
  escape: { code: EXIT_USAGE },
  "ctrl+c": { code: EXIT_USAGE },
  "ctrl+d": { code: EXIT_USAGE },
};

/**
 * The screen for somebody who has no key: says how to set one, and offers the demonstration. Returns the exit code of that,
 * or the one for a missing key.
 */
export async function runWelcome(
  { terminal, host, writeNow, readSize }: CliTerminal,
  io: CliIo,
): Promise<number> {
  const { environment } = io;
  const screen = new InlineScreen(terminal, { environment, readSize });
  const guard = new TerminalGuard(screen, host, writeNow);
  const theme = createTheme({ color: !environment.NO_COLOR });
  const look = { theme, hints: keyHints(), configPath: describeConfigPath(environment) };
  screen.addChild({ render: (width) => welcomeLines({ width, ...look }), invalidate() {} });
  const answered = Promise.withResolvers<Answer>();
  screen.addInputListener((data) => {
    const answer = ANSWERS[nameKey(data) ?? ""];
    if (answer === "suspend") void guard.suspend();
    else if (answer !== undefined) answered.resolve(answer);
    return { consume: true };
  });
  const unsubscribe = io.onSignal((signal) => answered.resolve({ code: SIGNAL_EXIT_CODES[signal] }));
  io.onExit(() => guard.leave());
  guard.hold();
  const answer = await answered.promise;
  unsubscribe();
  const isDemo = answer === "demo";
  await guard.leave({ isErased: isDemo });
  if (typeof answer === "object") return answer.code;
  const { runDemo } = await import("../../commands/demo.ts");
  return runDemo([], io);
}

/** The default model's provider needs a key and nothing else. */
function keyHints(): KeyHint[] {
  const usual = inferProvider(DEFAULT_MODEL);
  return VENDORS.map(({ name, variable, keyPage }) => ({
    variable,
    keyPage,
    modelId: name === usual ? undefined : KNOWN_MODELS.find(({ provider }) => provider === name)?.id,
  }));
}

/** As people write it, below their home. */
function describeConfigPath(environment: CliIo["environment"]): string | undefined {
  const directory = userConfigDirectory(environment);
  if (directory === undefined) return undefined;
  const path = join(directory, "diligent.jsonc");
  const { HOME: home } = environment;
  return home && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}
