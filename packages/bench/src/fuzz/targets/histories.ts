import { createTarget } from "../create-target.ts";
import { FuzzedSession } from "../histories/fuzzed-session.ts";
import { anyHistory } from "../histories/steps.ts";

/**
 * Whatever is done to a session, over interrupts, crashes, resumes, compactions, branches and changes of the service: no
 * service would refuse a request that was made, or the next one.
 */
export const HISTORIES = createTarget({
  name: "histories",
  about: "no service refuses a request, whatever was done to the session",
  runs: { usual: 10_000, short: 60 },
  values: anyHistory,
  async findProblem({ first, contextWindow, steps }, makeDirectory) {
    const session = await FuzzedSession.create(makeDirectory(), { vendor: first, contextWindow });
    for (const [index, step] of steps.entries()) {
      await session.take(step);
      const [problem] = session.findProblems();
      if (problem !== undefined) return `step ${index + 1}, ${step.do}: ${problem}`;
    }
    return await session.findLoss();
  },
});
