import type { SessionManager } from "@diligent/core/run";
import { readSessionFile } from "@diligent/core/sessions";
import { holdLongSession, type LongSessionOptions } from "../../../core/test/support/long-session.ts";
import type { Scratch } from "../stage/scratch.ts";
import { judgeSoak } from "./judge-soak.ts";
import { type MeasuredHeap, measureHeap } from "./measured-heap.ts";
import type { SoakVerdict } from "./soak-row.ts";

type SoakOptions = Pick<LongSessionOptions, "kind" | "turns" | "seed"> & { contextWindow: number };

/** Holds a session in this process to its end. @throws Error when it does not get there. */
export async function soakSession(options: SoakOptions, scratch: Scratch): Promise<SoakVerdict> {
  const { turns, contextWindow } = options;
  const early = Math.floor(turns / 4);
  const heaps = new Map<number, MeasuredHeap>();
  let path: string | undefined;
  const onTurn = (turn: number, session: SessionManager) => {
    if (turn === early || turn === turns) heaps.set(turn, measureHeap(turn, session));
    path = session.sessionPath;
  };
  const report = await holdLongSession({ ...options, project: scratch.makeDirectory("soak"), onTurn });
  const [first, last] = [heaps.get(early), heaps.get(turns)];
  if (!first || !last || path === undefined) throw new Error(`The session ended before turn ${turns}.`);
  const prunings = readSessionFile(path).entries.filter(({ type }) => type === "prune").length;
  return judgeSoak({ report, prunings, heaps: [first, last], contextWindow });
}
