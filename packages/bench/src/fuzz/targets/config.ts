import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ConfigError, loadDiligentConfig } from "@diligent/core/run";
import fc from "fast-check";
import { anyDamage, applyDamage, findForeign } from "../damage.ts";
import { createTarget } from "../target.ts";

const LAYOUTS = [undefined, 2, "\t"] as const;
const place = fc.constantFrom("user" as const, "project" as const);

/** Whatever a settings file contains: it is read, or every message about it names file, line and column. */
export const CONFIG_TEXT = createTarget({
  name: "config-text",
  about: "a damaged configuration is read, or refused with file, line and column",
  runs: { usual: 10_000, short: 120 },
  values: fc.record({ place, layout: fc.constantFrom(...LAYOUTS), damages: anyDamage }),
  async findProblem({ place: owner, layout, damages }, makeDirectory) {
    const whole = Buffer.from(`// Settings\n${JSON.stringify(VALID_CONFIG, undefined, layout)}\n`);
    const { path, message } = await findMessage(applyDamage(whole, damages), owner, makeDirectory());
    // A file that is not text has no lines.
    const isPlaced = (line: string) =>
      line.startsWith(`${path}:`) && /^:\d+:\d+: ./.test(line.slice(path.length));
    const isNoText = message.startsWith(`${path}: `) && /UTF-|encod|binary|NUL/i.test(message);
    const wrong = message.split("\n").find((line) => !isPlaced(line) && !/^and \d+ more$/.test(line));
    if (message === "" || isNoText) return undefined;
    return wrong === undefined ? firstForeign(message) : `without a position: ${wrong}`;
  },
});

const wrongValue = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>("", -1, 0.5, 1e300, null, [], {}, [null], { a: 1 }, "\u001b[2J", {
    ["__proto__"]: 1,
  }),
);

/** A setting of the wrong kind, or an unknown one: the message names its key, too. */
export const CONFIG_VALUES = createTarget({
  name: "config-values",
  about: "a wrong value is named with file, line, column and its key",
  runs: { usual: 10_000, short: 120 },
  values: fc.record({
    place,
    layout: fc.constantFrom(...LAYOUTS),
    at: fc.nat(),
    value: wrongValue,
    /** Replaces the name; omitted: the setting keeps its own. */
    name: fc.option(
      fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom("modle", "__proto__", "constructor")),
      {
        freq: 3,
        nil: undefined,
      },
    ),
  }),
  async findProblem({ place: owner, layout, at, value, name }, makeDirectory) {
    const paths = pathsIn(VALID_CONFIG);
    const spot = paths[at % paths.length] ?? [];
    const changed = replaceAt(VALID_CONFIG, spot, { value, name });
    const text = JSON.stringify(changed, undefined, layout);
    const { path, message } = await findMessage(Buffer.from(text), owner, makeDirectory());
    if (message === "") return undefined;
    const isNamed = (line: string) =>
      line.startsWith(`${path}:`) && /^:\d+:\d+: key ".+": ./.test(line.slice(path.length));
    const wrong = message.split("\n").find((line) => !isNamed(line) && !/^and \d+ more$/.test(line));
    return wrong === undefined ? firstForeign(message) : `without key and position: ${wrong}`;
  },
});

function firstForeign(message: string): string | undefined {
  const foreign = findForeign(message, { lineFeeds: true });
  return foreign === undefined ? undefined : `the message is not harmless, ${foreign}`;
}

async function findMessage(bytes: Uint8Array, owner: "user" | "project", home: string) {
  const project = join(home, "project");
  const path =
    owner === "user" ? join(home, ".config/diligent/diligent.jsonc") : join(project, "diligent.jsonc");
  for (const directory of [join(project, ".git"), dirname(path)]) mkdirSync(directory, { recursive: true });
  writeFileSync(path, bytes, { mode: 0o600 });
  try {
    await loadDiligentConfig(project, { HOME: home });
    return { path, message: "" };
  } catch (error) {
    if (error instanceof ConfigError) return { path, message: error.message };
    throw error;
  }
}

type Path = readonly (string | number)[];

/** Everything within a value. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== "object" || value === null) return [];
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return entries.flatMap(([key, inner]) => [[...path, key], ...pathsIn(inner, [...path, key])]);
}

function replaceAt(
  whole: unknown,
  [key, ...rest]: Path,
  change: { value: unknown; name: string | undefined },
): unknown {
  if (key === undefined) return change.value;
  if (Array.isArray(whole)) {
    return whole.map((each, index) => (index === key ? replaceAt(each, rest, change) : each));
  }
  return Object.fromEntries(
    Object.entries(Object(whole)).map(([name, inner]) => {
      if (name !== key) return [name, inner];
      return [rest.length === 0 ? (change.name ?? name) : name, replaceAt(inner, rest, change)];
    }),
  );
}

/** A configuration with every kind of setting, so that damage can hit each. */
const VALID_CONFIG = {
  model: "local/m",
  effort: "high",
  maxTurns: 20,
  maxRetries: 2,
  systemPrompt: "Grüße, {env:NAME}.",
  instructions: ["One.", "Two: 日本語 🎉."],
  provider: {
    anthropic: { apiKey: "{env:KEY}" },
    compatible: { local: { baseUrl: "http://127.0.0.1:9/v1", models: ["m"] } },
  },
  models: [{ id: "local/m", contextWindow: 8_000, inputCostPer1M: 0.5 }],
  session: { autoResume: false },
  knowledge: { enabled: true, injectionBudget: 2_000 },
  compaction: { enabled: true, reserveTokens: 1_000, pruning: { keepLast: 2 } },
  terminal: { title: true, notify: "bell" },
  approval: "ask",
  permissions: [{ permission: "execute", pattern: "git *", action: "allow" }],
  sandbox: "auto",
  sandboxWritable: ["~/cache"],
  inheritEnvironment: ["LANG"],
  updateUrl: "https://registry.example/latest",
};
