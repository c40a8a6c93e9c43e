import { replayGeneratedSession } from "../../../core/test/support/generated-session.ts";
import type { Benchmark } from "../figure.ts";

const SESSIONS = 100;

/** Whether recorded sessions replay to the same events: generated ones, with tools, a server and sub-agents. */
export const replay: Benchmark = {
  name: "replay",
  about: "recorded sessions that replay to other events, of 100 generated ones",
  async measure(stage) {
    let different = 0;
    for (let seed = 1; seed <= SESSIONS; seed++) {
      const { replays } = await replayGeneratedSession(seed, stage.scratch.makeDirectory("replay"));
      if (replays.some(({ difference }) => difference)) different++;
    }
    return [
      {
        name: `different, of ${SESSIONS} sessions`,
        unit: "%",
        rule: { kind: "amount" },
        measured: [(different / SESSIONS) * 100],
        budget: 0,
      },
    ];
  },
};
