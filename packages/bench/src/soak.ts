import type { SessionManager } from "@diligent/core/run";
import { readSessionFile } from "@diligent/core/sessions";
import { holdLongSession, type LongSessionKind } from "../../core/test/support/long-session.ts";
import { parseSoakArguments, type SoakArguments } from "./soak/arguments.ts";
import { judgeSoak, type SoakVerdict } from "./soak/judge-soak.ts";
import { type MeasuredHeap, measureHeap } from "./soak/measured-heap.ts";
import { Scratch } from "./stage/scratch.ts";

// Holds very long sessions with a small window, with a model and a summariser that answer at once, and looks at whether
// they reach their end, stay within the window, and get neither slower nor larger. Exit code 1 when one of them is not so.

process.exitCode = await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<number> {
  const args = parseSoakArguments(argv);
  using scratch = new Scratch();
  let problems = 0;
  for (const kind of args.kinds) {
    const verdict = await holdAndJudge(kind, args, scratch);
    console.log(`${kind}: ${args.turns} turns, window ${args.contextWindow}, seed ${args.seed}`);
    for (const line of verdict.lines) console.log(line);
    for (const problem of verdict.problems) console.log(`  NOT RIGHT: ${problem.slice(0, 500)}`);
    problems += verdict.problems.length;
  }
  return problems === 0 ? 0 : 1;
}

async function holdAndJudge(
  kind: LongSessionKind,
  { turns, seed, contextWindow }: SoakArguments,
  scratch: Scratch,
): Promise<SoakVerdict> {
  const early = Math.floor(turns / 4);
  const heaps = new Map<number, MeasuredHeap>();
  let path: string | undefined;
  const onTurn = (turn: number, session: SessionManager) => {
    if (turn === early || turn === turns) heaps.set(turn, measureHeap(turn, session));
    path = session.sessionPath;
  };
  const project = scratch.makeDirectory("soak");
  const report = await holdLongSession({ kind, turns, seed, contextWindow, project, onTurn });
  const [first, last] = [heaps.get(early), heaps.get(turns)];
  if (!first || !last || path === undefined) throw new Error(`The session ended before turn ${turns}.`);
  const prunings = readSessionFile(path).entries.filter(({ type }) => type === "prune").length;
  return judgeSoak({ report, prunings, heaps: [first, last], contextWindow });
}
