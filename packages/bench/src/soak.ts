import { runBenchScript } from "./arguments.ts";
import {
  MIN_PROGRAM_TURNS,
  parseSoakArguments,
  SOAKS,
  type SoakArguments,
  type SoakKind,
} from "./soak/arguments.ts";
import { evaluateIdle, evaluateProcess, formatSoaks, isBroken, type NamedSoak } from "./soak/evaluate.ts";
import { soakIdlePrint, soakIdleScreen, soakPrint, soakScreen, soakSession } from "./soak/soaks.ts";
import { Stage } from "./stage/stage.ts";

// Runs very long sessions, in this process with a small window and in the real program with large results,
// and observes the real program while it waits: whether they reach their end, stay within the window, and
// become neither slower nor larger. Exit code 1 if one of them fails.

const SESSION_TURNS = 2_000;
const PROGRAM_TURNS = 1_000;

await runBenchScript({
  name: "soak",
  help: {
    usage: ["bun run soak [NAME…] [--turns N] [--seconds N | --long] [--seed N] [--window TOKENS]"],
    choices: SOAKS,
    notes: [
      `--turns N: default ${SESSION_TURNS} for prompts and calls, ${PROGRAM_TURNS} for screen and print, which need at least ${MIN_PROGRAM_TURNS}.`,
      "--seconds N is how long idle observes; --long: ten minutes. --seed and --window are for prompts and calls.",
      "Exit code 1: one of them failed.",
    ],
  },
  main,
});

async function main(argv: readonly string[]): Promise<number> {
  const args = parseSoakArguments(argv);
  using stage = new Stage();
  const soaks: NamedSoak[] = [];
  for (const kind of args.kinds) {
    process.stderr.write(`${kind}…\n`);
    soaks.push(...(await soak(kind, args, stage).catch((error) => [toFailure(kind, error)])));
  }
  console.log(formatSoaks(soaks));
  return soaks.some(({ verdict }) => isBroken(verdict)) ? 1 : 0;
}

/** The others keep their lines if one ended early. */
function toFailure(kind: SoakKind, error: unknown): NamedSoak {
  const row = { what: "reached its end", found: "no", budget: "yes", isBroken: true };
  return { title: kind, verdict: { rows: [row], details: [String(error)] } };
}

async function soak(kind: SoakKind, args: SoakArguments, stage: Stage): Promise<readonly NamedSoak[]> {
  if (kind === "idle") return await soakIdle(stage, args.seconds);
  const { seed, contextWindow } = args;
  if (kind === "prompts" || kind === "calls") {
    const turns = args.turns ?? SESSION_TURNS;
    const verdict = await soakSession({ kind, turns, seed, contextWindow }, stage.scratch);
    return [{ title: `${kind}, ${turns} turns, seed ${seed}`, verdict }];
  }
  const turns = args.turns ?? PROGRAM_TURNS;
  const found = await (kind === "screen" ? soakScreen : soakPrint)(stage, turns);
  return [{ title: `${kind}, ${turns} turns of 50 KB`, verdict: evaluateProcess(found) }];
}

/** All at the same time, because none of them does anything. */
async function soakIdle(stage: Stage, seconds: number): Promise<readonly NamedSoak[]> {
  const waiting = {
    "screen, idle": soakIdleScreen(stage, seconds, { isHidden: false }),
    "screen, idle, hidden": soakIdleScreen(stage, seconds, { isHidden: true }),
    "print, waiting for a command": soakIdlePrint(stage, seconds),
  };
  await Promise.all(Object.values(waiting));
  const titles = Object.entries(waiting).map(async ([title, found]) => {
    return { title, verdict: evaluateIdle(await found) };
  });
  return await Promise.all(titles);
}
