import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readConfig } from "../../src/config/layers.ts";
import type { DiligentConfig } from "../../src/config/schema.ts";
import { complaintAbout } from "../support/config-complaint.ts";

const PLACE = /^F:\d+:\d+: ./;

const text = fc.string({ unit: "binary" });
const filledText = text.filter((value) => value !== "");

const validConfig = fc.record(
  {
    model: filledText,
    maxTurns: fc.integer({ min: 1 }),
    systemPrompt: text,
    instructions: fc.array(text),
    session: fc.record({ autoResume: fc.boolean() }, { requiredKeys: [] }),
    compaction: fc.record({ pruning: fc.record({ keepLast: fc.nat() }) }, { requiredKeys: [] }),
    provider: fc.record({
      compatible: fc.dictionary(
        fc.stringMatching(/^[a-z][a-z0-9._-]{8,12}$/),
        fc.constant({ baseUrl: "http://a" }),
      ),
    }),
    approval: fc.constantFrom("auto" as const, "ask" as const, "deny" as const),
    permissions: fc.array(
      fc.record({
        permission: fc.constantFrom("read" as const, "write" as const, "execute" as const),
        pattern: filledText,
        action: fc.constantFrom("allow" as const, "deny" as const, "ask" as const),
      }),
    ),
  },
  { requiredKeys: [] },
);

/** JSON of a configuration with comments, blanks and trailing commas in every place that may have them. */
function decorate(value: unknown): string {
  if (Array.isArray(value)) return `[/*[*/${value.map((element) => `${decorate(element)},// ]\n`).join("")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(
    ([name, inner]) => `${JSON.stringify(name)}/*:*/: ${decorate(inner)},\r\n`,
  );
  return `{ // {"\n${members.join("")}\t}`;
}

function read(json: string): DiligentConfig {
  return readConfig({ text: json, path: "F" }, { kind: "keep" }).config;
}

describe("for any file content", () => {
  test("a valid configuration keeps its meaning in every layout", () => {
    fc.assert(
      fc.property(validConfig, (config) => {
        const layouts = [JSON.stringify(config), JSON.stringify(config, null, "\t"), decorate(config)];
        for (const layout of layouts)
          expect(JSON.stringify(read(layout))).toBe(JSON.stringify(sorted(config)));
      }),
    );
  });

  test("a damaged configuration is read or rejected with a position, and nothing else happens", () => {
    const damage = fc.record({
      at: fc.nat(),
      remove: fc.nat({ max: 4 }),
      insert: fc.string({ maxLength: 4 }),
    });
    fc.assert(
      fc.property(validConfig, damage, (config, { at, remove, insert }) => {
        const json = JSON.stringify(config, null, 1);
        const start = at % (json.length + 1);
        const damaged = json.slice(0, start) + insert + json.slice(start + remove);
        const complaint = complaintAbout(damaged);
        if (complaint === "none") expect(mayBeRead(damaged)).toBe(true);
        else expect(complaint.split("\n").filter((line) => !PLACE.test(line))).toEqual([]);
      }),
      { numRuns: 1_000 },
    );
  });

  test("text made of pieces of JSON is read or rejected with a position", () => {
    const pieces = [
      "{",
      "}",
      "[",
      "]",
      ":",
      ",",
      '"',
      '"a"',
      "1",
      "-",
      "true",
      "//",
      "/*",
      "\n",
      "\\u",
      "é",
      "\0",
    ];
    const texts = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom(...pieces)).map((list) => list.join("")),
    );
    fc.assert(
      fc.property(texts, (json) => {
        const complaint = complaintAbout(json);
        if (complaint === "none") expect(mayBeRead(json)).toBe(true);
        else expect(complaint).toMatch(PLACE);
      }),
      { numRuns: 1_000 },
    );
  });
});

/** In the order of the schema, which is the order of what is read. */
function sorted(config: DiligentConfig): DiligentConfig {
  const {
    model,
    provider,
    maxTurns,
    systemPrompt,
    instructions,
    session,
    compaction,
    approval,
    permissions,
  } = config;
  return {
    model,
    provider,
    maxTurns,
    systemPrompt,
    instructions,
    session,
    compaction,
    approval,
    permissions,
  };
}

/** True for JSON, and for what could be JSON with comments or trailing commas. */
function mayBeRead(text: string): boolean {
  if (/\/[/*]|,\s*[}\]]/.test(text)) return true;
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false; // The failure is the answer.
  }
}
