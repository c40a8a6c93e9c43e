import { expect, test } from "bun:test";
import { reportCost } from "../../../src/extensions/cost/cost-report.ts";
import { parseSessionLine } from "../../../src/session/parse-line.ts";

const HEADER = { id: "20260101000000-abcdef", timestamp: "2026-01-01T00:00:00.000Z" };

test("a damaged request counts as far as it can be read", () => {
  const lines = [
    '{"type":"request","id":"00000001","parentId":null,"timestamp":"2026-01-02T00:00:00.000Z","provider":"p","modelId":"m","sent":"never","usage":{"inputTokens":-5,"outputTokens":"x","cacheReadTokens":7},"cost":-1,"parts":{"a":1e309,"b":-2,"c":"x","d":5},"break":{"why":"bogus","at":"tools"}}',
    '{"type":"request","id":"00000002","parentId":null,"timestamp":"x","provider":"p"}',
    '{"type":"request","id":"00000003","parentId":null,"timestamp":"x","provider":"p","modelId":"m","sent":"2026-01-03T00:00:00.000Z","cost":0.1,"break":{"why":"prune","at":"messages","messagesBefore":3,"tokens":-3,"cost":"x"}}',
  ];
  const entries = lines.flatMap((line) => {
    const parsed = parseSessionLine(line);
    return parsed?.kind === "entry" ? [parsed.entry] : [];
  });
  expect(entries.map(({ type }) => type)).toEqual(["request", "unknown", "request"]);
  const none = { cached: 0, written: 0, fresh: 0, output: 0 };
  const report = reportCost([{ header: HEADER, entries }], () => undefined);
  expect(report).toEqual({
    total: null,
    known: 0.1,
    requests: [
      {
        ...{ entryId: "00000001", model: "m", provider: "p", time: "2026-01-02T00:00:00.000Z" },
        ...{ ...none, cached: 7, parts: { d: 5 }, cost: null },
      },
      {
        ...{ entryId: "00000003", model: "m", provider: "p", time: "2026-01-03T00:00:00.000Z" },
        ...{ ...none, parts: {}, cost: 0.1 },
      },
    ],
    breaks: [{ entryId: "00000003", why: "prune", where: "message 4", tokens: 0, cost: null }],
  });
});
