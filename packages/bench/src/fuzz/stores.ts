import { readFileSync } from "node:fs";
import { join } from "node:path";
import { appendKnowledge, buildKnowledgeSection, type KnowledgeEntry, readKnowledge } from "@diligent/core";
import { readTrust } from "@diligent/core/config";
import { readCalibration, readRecentInputs } from "@diligent/core/interactive";
import { appendInputHistory, GrantStore } from "@diligent/core/run";
import { loadKeybindings } from "../../../cli/src/tui/keys/keybindings.ts";
import { updateTrust } from "../../../core/src/config/trust-store.ts";
import { saveCalibration } from "../../../core/src/session/compaction/calibration.ts";

/** The user and the project whose file is damaged. */
interface StoreLocation {
  home: string;
  project: string;
}

/** One of our files, read at the start or later, and what must hold whatever it contains. */
interface Store {
  name: string;
  /** Relative to the directory of the place. */
  path(place: StoreLocation): string;
  /** In the form in which we write it. */
  content: string;
  /** Reads it and continues with it. @returns a description of the problem. @throws for a problem, too. */
  check(place: StoreLocation, path: string): Promise<string | undefined>;
}

const STATE = ".local/state/diligent";
const STAMP = "2026-02-25T10:30:00.000Z";

const environmentOf = ({ home }: StoreLocation) => ({ HOME: home });

const KEYBINDINGS: Store = {
  name: "keybindings.json",
  path: ({ home }) => join(home, ".config/diligent/keybindings.json"),
  content:
    '{\n  // Mine.\n  "app.interrupt": "escape",\n  "tui.input.submit": ["enter", "ctrl+s"],\n  "list.up": []\n}\n',
  async check(place, path) {
    const { keymap, problems, warnings } = await loadKeybindings(environmentOf(place));
    const told = [...problems, ...warnings];
    const unplaced = told.flatMap((text) => text.split("\n")).find((line) => !line.startsWith(path));
    if (unplaced !== undefined) return `without the file's name: ${unplaced}`;
    return new Set(told).size === told.length && keymap ? undefined : `reported twice: ${told.join("\n")}`;
  },
};

const LEARNED: KnowledgeEntry = {
  id: "aaaa1111",
  timestamp: STAMP,
  type: "pattern",
  content: "Tests: `bun test` 日本語.",
  confidence: 0.8,
  tags: ["test"],
  files: [{ path: "a.ts", hash: "00" }],
};

const KNOWLEDGE: Store = {
  name: "knowledge.jsonl",
  path: ({ project }) => join(project, ".diligent/knowledge/knowledge.jsonl"),
  content: [
    LEARNED,
    { ...LEARNED, id: "aaaa2222", supersedes: "aaaa1111" },
    { id: "r", timestamp: STAMP, removes: "x" },
  ]
    .map((line) => `${JSON.stringify(line)}\n`)
    .join(""),
  async check({ project }, path) {
    const before = readFileSync(path);
    const directory = join(project, ".diligent/knowledge");
    buildKnowledgeSection(await readKnowledge(directory), 2_000, { now: Date.parse(STAMP) });
    await appendKnowledge(directory, { ...LEARNED, id: "bbbb3333" });
    const isThere = (await readKnowledge(directory)).some(({ id }) => id === "bbbb3333");
    if (!isThere) return "added text is not found";
    return readFileSync(path).subarray(0, before.length).equals(before) ? undefined : "lines were rewritten";
  },
};

const TRUST: Store = {
  name: "trust.json",
  path: ({ home }) => join(home, STATE, "trust.json"),
  content: JSON.stringify({
    version: 1,
    projects: [
      {
        directory: "/a",
        trustedAt: STAMP,
        items: [{ kind: "config", path: "diligent.jsonc", sha256: "00" }],
      },
    ],
  }),
  async check(place, path) {
    const { warnings } = await readTrust(environmentOf(place));
    const change = updateTrust(environmentOf(place), (projects) => [
      ...projects,
      { directory: place.project, trustedAt: STAMP, items: [] },
    ]);
    return checkRefusal({ path, said: warnings.map(({ message }) => message), change });
  },
};

const GRANTS: Store = {
  name: "grants.json",
  path: ({ home }) => join(home, STATE, "grants.json"),
  content: JSON.stringify({
    version: 1,
    projects: [{ directory: "/a", grants: [{ kind: "command", directory: "/a", words: ["git", "status"] }] }],
  }),
  async check(place, path) {
    const store = new GrantStore({ environment: environmentOf(place), root: place.project });
    await store.list();
    const problem = await store.problem();
    const change = store.addForProject([{ kind: "command", directory: place.project, words: ["ls"] }]);
    return checkRefusal({ path, said: problem === undefined ? [] : [problem], change });
  },
};

/** Unusable content is reported once and not overwritten; usable content can be extended. */
async function checkRefusal({
  path,
  said,
  change,
}: {
  path: string;
  said: readonly string[];
  change: Promise<void>;
}) {
  const before = readFileSync(path);
  const failure = await change.then(
    () => undefined,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  if (said.length > 1) return `said ${said.length} times: ${said.join("\n")}`;
  if ((failure === undefined) !== (said.length === 0)) return `said: ${said.join()}, then: ${failure}`;
  if (failure === undefined) return undefined;
  const isNamed = failure.includes(path) && said.every((text) => text.includes(path));
  if (!isNamed) return `without the file's name: ${failure}`;
  return readFileSync(path).equals(before) ? undefined : "it was overwritten";
}

const HISTORY: Store = {
  name: "history.jsonl",
  path: ({ home }) => join(home, STATE, "history.jsonl"),
  content: ["one", "two 日本語", "three"]
    .map((text) => `${JSON.stringify({ time: STAMP, cwd: "/a", text })}\n`)
    .join(""),
  async check(place) {
    appendInputHistory(environmentOf(place), { cwd: place.project, text: "the newest" });
    const [first] = readRecentInputs(environmentOf(place), { root: place.project, limit: 10 });
    return first?.text === "the newest" ? undefined : `the newest prompt is ${first?.text}`;
  },
};

const CALIBRATION: Store = {
  name: "calibration.json",
  path: ({ home }) => join(home, STATE, "calibration.json"),
  content: JSON.stringify({ version: 1, models: [{ id: "anthropic/claude-x", ratio: 1.1, samples: 4 }] }),
  async check(place) {
    readCalibration(environmentOf(place), "anthropic/claude-x");
    await saveCalibration(environmentOf(place), "openai/gpt-x", { ratio: 1.2, samples: 2 });
    const kept = readCalibration(environmentOf(place), "openai/gpt-x");
    return kept?.ratio === 1.2 ? undefined : "the knowledge is not kept";
  },
};

/** The files that diligent keeps between sessions; sessions, checkpoints and configuration have separate targets. */
export const STORES: readonly Store[] = [KEYBINDINGS, KNOWLEDGE, TRUST, GRANTS, HISTORY, CALIBRATION];
