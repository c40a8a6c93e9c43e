import { expect, test } from "bun:test";
import { MISBEHAVIOURS, type Misbehaviour } from "../support/bad-summaries.ts";
import { holdRetentionSession } from "../support/retention-session.ts";
import { makeTempDir } from "../support/temp-dir.ts";
import type { WireServiceName } from "../support/wire-services.ts";

const [half = "half", junk = "junk", nothing = "nothing"] = MISBEHAVIOURS;

test.each<[WireServiceName, Misbehaviour[]]>([
  ["anthropic", [half, junk, nothing]],
  ["openai", [nothing, half, junk]],
  ["anthropic", [junk, nothing, half]],
])(
  "on %s, whatever a bad summariser writes (%p), what the user said and the files are in every request",
  async (service, behaviours) => {
    const { requests, ...report } = await holdRetentionSession({
      project: makeTempDir(),
      seed: 7,
      service,
      behaviours,
      contextWindow: 20_000,
      constraints: 10,
      facts: 20,
    });
    expect(report).toEqual({
      constraints: 10,
      facts: 20,
      compactions: 3,
      fallbacks: expect.any(Number),
      invalid: [],
      failures: [],
      watched: {
        requests: requests.length,
        changed: 0,
        recentResults: expect.any(Number),
        shortenedResults: 0,
      },
      recalledFacts: 20,
    });
    expect(report.watched.recentResults).toBeGreaterThan(requests.length);
    expect(report.fallbacks).toBeGreaterThan(0);
    expect(requests.at(-1)?.compactions).toBe(3);
    expect(requests.flatMap(({ missingConstraints }) => missingConstraints)).toEqual([]);
    expect(requests.flatMap(({ wrongLists }) => wrongLists)).toEqual([]);
  },
);
