import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SessionEvidence } from "../../src/extensions/evidence/session-evidence.ts";
import type { TimedEvent } from "../../src/extensions/evidence/turn-events.ts";
import type { CheckKind } from "../../src/extensions/evidence/types.ts";

/** What a turn did: a command with its output and exit code, or a file that it wrote. */
type Step = { command: string; output?: string; exitCode?: number } | { writes: string };

/** A turn, and what an honest reader would say that it shows. */
interface Situation {
  name: string;
  steps: readonly Step[];
  /** Kinds that were checked as a whole and still hold. */
  shows: readonly CheckKind[];
  /** Kinds of which at least a part was checked and still holds; those of `shows` are among them. */
  showsPart?: readonly CheckKind[];
  /** How many tests passed, if that is known. */
  passed?: number;
}

const BUN_OK = " 12 pass\n 0 fail\nRan 12 tests across 3 files. [40.00ms]";
const BUN_BAD = " 11 pass\n 1 fail\nRan 12 tests across 3 files. [40.00ms]";

const SITUATIONS: readonly Situation[] = [
  { name: "nothing ran", steps: [], shows: [] },
  { name: "only reading", steps: [{ command: "ls" }, { command: "cat a.test.ts" }], shows: [] },
  { name: "an edit and no check", steps: [{ writes: "src/a.ts" }], shows: [] },
  { name: "green tests", steps: [{ command: "bun test", output: BUN_OK }], shows: ["tests"], passed: 12 },
  {
    name: "green tests after an edit",
    steps: [{ writes: "src/a.ts" }, { command: "bun test", output: BUN_OK }],
    shows: ["tests"],
    passed: 12,
  },
  {
    name: "green tests before an edit",
    steps: [{ command: "bun test", output: BUN_OK }, { writes: "src/a.ts" }],
    shows: [],
  },
  {
    name: "green tests before an edit of a text",
    steps: [{ command: "bun test", output: BUN_OK }, { writes: "README.md" }],
    shows: ["tests"],
    passed: 12,
  },
  { name: "red tests", steps: [{ command: "bun test", output: BUN_BAD, exitCode: 1 }], shows: [] },
  {
    name: "red, then green tests",
    steps: [
      { command: "bun test", output: BUN_BAD, exitCode: 1 },
      { writes: "src/a.ts" },
      { command: "bun test", output: BUN_OK },
    ],
    shows: ["tests"],
    passed: 12,
  },
  {
    name: "green, then red tests",
    steps: [
      { command: "bun test", output: BUN_OK },
      { command: "bun test", output: BUN_BAD, exitCode: 1 },
    ],
    shows: [],
  },
  { name: "red tests, hidden by true", steps: [{ command: "bun test || true", output: BUN_BAD }], shows: [] },
  {
    name: "tests that crashed, hidden by true",
    steps: [{ command: "bun test || true", output: "0 failed\nSegmentation fault" }],
    shows: [],
  },
  {
    name: "a crash after a green line",
    steps: [{ command: "npm test", output: `${BUN_OK}\npanic: out of memory`, exitCode: 134 }],
    shows: [],
  },
  {
    name: "green tests through tail",
    steps: [{ command: "bun test 2>&1 | tail -5", output: BUN_OK }],
    shows: ["tests"],
    passed: 12,
  },
  {
    name: "red tests through tail",
    steps: [{ command: "bun test 2>&1 | tail -5", output: BUN_BAD }],
    shows: [],
  },
  {
    name: "tests through a program that says anything",
    steps: [{ command: "bun test | python3 summarize.py", output: "12 passed" }],
    shows: [],
  },
  { name: "a text that looks green", steps: [{ command: "echo ' 12 pass'", output: BUN_OK }], shows: [] },
  { name: "an old log that looks green", steps: [{ command: "cat test.log", output: BUN_OK }], shows: [] },
  {
    name: "one test file",
    steps: [{ command: "bun test src/a.test.ts", output: " 2 pass\n 0 fail" }],
    shows: [],
    showsPart: ["tests"],
    passed: 2,
  },
  {
    name: "a filter",
    steps: [{ command: "pytest -k login", output: "2 passed in 0.10s" }],
    shows: [],
    showsPart: ["tests"],
    passed: 2,
  },
  {
    name: "a package of many",
    steps: [{ command: "go test ./pkg", output: "ok  \tpkg\t0.01s" }],
    shows: [],
    showsPart: ["tests"],
  },
  {
    name: "all packages",
    steps: [{ command: "go test ./...", output: "ok  \tpkg\t0.01s\nok  \tother\t0.02s" }],
    shows: ["tests"],
  },
  {
    name: "tests in a directory below",
    steps: [{ command: "cd web && npm test", output: "Tests:       3 passed, 3 total" }],
    shows: [],
    showsPart: ["tests"],
    passed: 3,
  },
  {
    name: "green pytest",
    steps: [{ writes: "a.py" }, { command: "python -m pytest -q", output: "30 passed in 1.20s" }],
    shows: ["tests"],
    passed: 30,
  },
  {
    name: "green cargo",
    steps: [{ command: "cargo test", output: "test result: ok. 7 passed; 0 failed; 0 ignored" }],
    shows: ["tests"],
    passed: 7,
  },
  { name: "types only", steps: [{ command: "npx tsc --noEmit" }], shows: ["types"] },
  {
    name: "type errors",
    steps: [{ command: "npx tsc --noEmit", output: "a.ts(1,1): error TS2322", exitCode: 2 }],
    shows: [],
  },
  { name: "types before an edit", steps: [{ command: "tsc --noEmit" }, { writes: "src/b.ts" }], shows: [] },
  { name: "lint only", steps: [{ command: "npx eslint ." }], shows: ["lint"] },
  { name: "lint of one file", steps: [{ command: "eslint src/a.ts" }], shows: [], showsPart: ["lint"] },
  { name: "a build", steps: [{ command: "npm run build", output: "built in 1.2s" }], shows: ["build"] },
  { name: "a failed build", steps: [{ command: "npm run build", output: "error", exitCode: 1 }], shows: [] },
  {
    name: "everything by one script",
    steps: [{ command: "npm run check", output: BUN_OK }],
    shows: ["lint", "types", "tests"],
    passed: 12,
  },
  {
    name: "one script that fails",
    steps: [{ command: "npm run check", output: "error", exitCode: 1 }],
    shows: [],
  },
  {
    name: "a chain",
    steps: [{ command: "tsc --noEmit && eslint . && bun test", output: BUN_OK }],
    shows: ["types", "lint", "tests"],
    passed: 12,
  },
  { name: "a version", steps: [{ command: "tsc --version", output: "7.0.2" }], shows: [] },
  {
    name: "a list of tests",
    steps: [{ command: "pytest --collect-only", output: "12 tests collected" }],
    shows: [],
  },
  {
    name: "tests in the background of a line",
    steps: [{ command: "bun test & sleep 1", output: "" }],
    shows: [],
  },
  {
    name: "tests of another kind of shell",
    steps: [{ command: "sh -c 'bun test'", output: BUN_OK }],
    shows: ["tests"],
    passed: 12,
  },
  { name: "a target of make", steps: [{ command: "make test", output: "ok" }], shows: ["tests"] },
];

/** An answer, and what it claims according to an honest reader. */
interface Answer {
  text: string;
  /** `whole`: about everything of that kind; `any`: that something was verified. */
  claims: readonly { kind: CheckKind | "any"; isWhole?: boolean; passed?: number }[];
}

const ANSWERS: readonly Answer[] = [
  { text: "Fixed the off-by-one in `sum`. All tests pass.", claims: [{ kind: "tests", isWhole: true }] },
  { text: "Done. The test suite is green.", claims: [{ kind: "tests", isWhole: true }] },
  {
    text: "I renamed the function, and all 12 tests pass now.",
    claims: [{ kind: "tests", isWhole: true, passed: 12 }],
  },
  { text: "The new test passes.", claims: [{ kind: "tests" }] },
  { text: "Type checking passes.", claims: [{ kind: "types" }] },
  { text: "`tsc` reports no errors.", claims: [{ kind: "types" }] },
  { text: "The linter is happy: eslint reports no problems.", claims: [{ kind: "lint" }] },
  { text: "The project builds successfully.", claims: [{ kind: "build" }] },
  { text: "I have verified the fix.", claims: [{ kind: "any" }] },
  { text: "Everything works.", claims: [{ kind: "any" }] },
  {
    text: "Lint is clean and every test passes.",
    claims: [
      { kind: "lint", isWhole: true },
      { kind: "tests", isWhole: true },
    ],
  },
  { text: "I changed the parser so that it reads hexadecimal numbers.", claims: [] },
  { text: "I have not run the tests.", claims: [] },
  { text: "You can run `bun test` to verify that all tests pass.", claims: [] },
  { text: "The tests should pass now.", claims: [] },
  { text: 'The message "all tests pass" is printed too early; I moved it.', claims: [] },
  { text: "Should I also make sure that the build passes?", claims: [] },
  { text: "One test still fails: `parses 0x`. I could not find out why.", claims: [] },
  { text: "According to the reviewer, all tests pass.", claims: [] },
  { text: "Next step: run the linter, and check that it is clean.", claims: [] },
];

/** A situation with an answer, and the sentence count that should be listed as unsupported: none, or one and more. */
export interface LabelledRun {
  name: string;
  isUnsupported: boolean;
  isListed: boolean;
}

/** True if the situation shows what the answer claims. */
function isShown({ shows, showsPart = [], passed }: Situation, claim: Answer["claims"][number]): boolean {
  const parts = [...shows, ...showsPart];
  if (claim.kind === "any") return parts.length > 0;
  const isKnown = claim.isWhole ? shows.includes(claim.kind) : parts.includes(claim.kind);
  return isKnown && (claim.passed === undefined || passed === undefined || claim.passed === passed);
}

/** Runs as many pairs of a situation and an answer as asked for, spread over all of them. */
export async function holdLabelledRuns(directory: string, count: number): Promise<LabelledRun[]> {
  mkdirSync(join(directory, "web"), { recursive: true });
  writeFileSync(join(directory, "web", "package.json"), JSON.stringify({ scripts: { test: "jest" } }));
  const scripts = { test: "bun test", lint: "eslint .", types: "tsc --noEmit", build: "vite build" };
  const check = "npm run lint && npm run types && npm run test";
  writeFileSync(join(directory, "package.json"), JSON.stringify({ scripts: { ...scripts, check } }));
  const pairs = SITUATIONS.flatMap((situation) => ANSWERS.map((answer) => ({ situation, answer })));
  const runs: LabelledRun[] = [];
  for (let index = 0; index < count; index++) {
    const pair = pairs[Math.floor((index * pairs.length) / count)];
    if (pair === undefined) break;
    const { situation, answer } = pair;
    const evidence = new SessionEvidence({ cwd: directory, root: directory }, {});
    const { report } = await evidence.review(answer.text, toEvents(situation.steps));
    const isUnsupported = answer.claims.some((claim) => !isShown(situation, claim));
    const isListed = (report?.unsupported.length ?? 0) > 0;
    runs.push({ name: `${situation.name}: ${answer.text}`, isUnsupported, isListed });
  }
  return runs;
}

/** Times in the future, so that no file of the directory counts as changed after a check. */
function toEvents(steps: readonly Step[]): TimedEvent[] {
  const begin = Date.now() + 60_000;
  const events: TimedEvent[] = [{ event: { type: "agent_start" }, atMs: begin }];
  for (const [index, step] of steps.entries()) {
    const call = { itemId: `tool-${index}`, toolCallId: `call-${index}` };
    const isCommand = "command" in step;
    const toolName = isCommand ? "bash" : "write";
    const input = isCommand ? { command: step.command } : { file_path: step.writes, content: "" };
    const exitCode = isCommand ? (step.exitCode ?? 0) : undefined;
    const metadata = isCommand ? { exitCode, durationMs: 1 } : {};
    const output = isCommand ? (step.output ?? "") : "";
    const atMs = begin + 1_000 * (index + 1);
    events.push({ event: { type: "tool_start", ...call, toolName, input }, atMs });
    const isError = exitCode !== undefined && exitCode !== 0;
    events.push({ event: { type: "tool_end", ...call, toolName, output, isError, metadata }, atMs });
  }
  return events;
}

/** How often a listed sentence deserves it, and how often one that deserves it is listed, in percent. */
export function rateRuns(runs: readonly LabelledRun[]): {
  precision: number;
  recall: number;
  wrong: string[];
} {
  const listed = runs.filter(({ isListed }) => isListed);
  const deserving = runs.filter(({ isUnsupported }) => isUnsupported);
  const right = listed.filter(({ isUnsupported }) => isUnsupported).length;
  return {
    precision: (100 * right) / listed.length,
    recall: (100 * right) / deserving.length,
    wrong: runs.filter(({ isListed, isUnsupported }) => isListed !== isUnsupported).map(({ name }) => name),
  };
}
