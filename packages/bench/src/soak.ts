import { parseSoakArguments, type SoakArguments, type SoakKind } from "./soak/arguments.ts";
import { judgeIdle, judgeProcess, WARM_TURNS } from "./soak/judge-process.ts";
import type { SoakVerdict } from "./soak/judge-soak.ts";
import { soakIdleScreen } from "./soak/soak-idle.ts";
import { soakIdlePrint, soakPrint } from "./soak/soak-print.ts";
import { soakScreen } from "./soak/soak-screen.ts";
import { soakSession } from "./soak/soak-session.ts";
import { Stage } from "./stage/stage.ts";

// Holds very long sessions, in this process with a small window and in the real program with large results, and looks at
// the real program while it waits: whether they reach their end, stay within the window, and get neither slower nor
// larger. Exit code 1 when one of them is not so.

const SESSION_TURNS = 2_000;
const PROGRAM_TURNS = 1_000;

interface Soak {
  title: string;
  verdict: SoakVerdict;
}

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  const args = parseSoakArguments(argv);
  using stage = new Stage();
  let problems = 0;
  for (const kind of args.kinds) {
    for await (const { title, verdict } of soak(kind, args, stage)) {
      console.log(title);
      for (const line of verdict.lines) console.log(line);
      for (const problem of verdict.problems) console.log(`  NOT RIGHT: ${problem.slice(0, 500)}`);
      problems += verdict.problems.length;
    }
  }
  return problems === 0 ? 0 : 1;
}

async function* soak(kind: SoakKind, args: SoakArguments, stage: Stage): AsyncGenerator<Soak> {
  const { seed, contextWindow, seconds } = args;
  if (kind === "idle") {
    yield { title: "screen, idle", verdict: judgeIdle(await soakIdleScreen(stage, seconds)) };
    yield {
      title: "print mode, waiting for a command",
      verdict: judgeIdle(await soakIdlePrint(stage, seconds)),
    };
  } else if (kind === "prompts" || kind === "calls") {
    const turns = args.turns ?? SESSION_TURNS;
    const verdict = await soakSession({ kind, turns, seed, contextWindow }, stage.scratch);
    yield { title: `${kind}: ${turns} turns, window ${contextWindow}, seed ${seed}`, verdict };
  } else {
    // The second hundred is compared with the last.
    const turns = Math.max(args.turns ?? PROGRAM_TURNS, 3 * WARM_TURNS);
    const found = await (kind === "screen" ? soakScreen : soakPrint)(stage, turns);
    yield { title: `${kind}: ${turns} turns with results of 50 KB`, verdict: judgeProcess(found) };
  }
}
