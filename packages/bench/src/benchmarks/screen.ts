import type { Benchmark, Figure } from "../figure.ts";
import { readCpuSeconds, readMegabytes, readSleeps } from "../measure/process-run.ts";
import { median, quantile, Series, takeTurns } from "../measure/statistics.ts";
import { frameBytes, measureEchoes, type TerminalRun, withoutColors } from "../measure/terminal-run.ts";
import {
  askForLargeResults,
  createCodeAnswer,
  createLargeTurns,
  createMarkdownAnswer,
  createProse,
  LAST_WORD,
  LONG_TRANSCRIPT,
  restBriefly,
  streamedTurn,
  TURNS_PER_PROMPT,
} from "../stage/answers.ts";
import {
  askUntil,
  NO_TEXT,
  openScreen,
  type ScriptedTurn,
  startPlainProgram,
} from "../stage/program-runs.ts";
import type { Stage } from "../stage/stage.ts";

const STREAM_RUNS = 3;
const CHARS = 40_000;
const STREAM_BUDGETS = { cpuSeconds: 2, byteRatio: 1.5, frameKilobytes: 4 };

const TEXTS = {
  prose: createProse(CHARS),
  Markdown: createMarkdownAnswer(CHARS),
  "code blocks of 60 lines": createCodeAnswer(CHARS),
} as const;

type TextName = keyof typeof TEXTS;

/** The cost of one run of the screen, except its CPU time. */
interface Output {
  /** All bytes after the prompt, and those without colours. */
  kilobytes: number;
  uncoloredKilobytes: number;
  /** The final text as a plain program would write it into the same terminal. */
  textKilobytes: number;
  /** The 95th percentile. */
  frameKilobytes: number;
}

/** The cost of showing an answer that arrives in 5,000 chunks, 2 ms apart. */
export const screenStream: Benchmark = {
  name: "screen-stream",
  about: "an answer of 5,000 chunks on the screen: CPU time, bytes, size of the frames",
  async measure(stage) {
    const plain = new Series(() => measurePlainStream(stage));
    const subjects = (["prose", "Markdown", "code blocks of 60 lines"] as const).map((name) => {
      const outputs: Output[] = [];
      return {
        name,
        outputs,
        series: new Series(() => measureScreenStream(stage, streamedTurn(TEXTS[name]), outputs)),
      };
    });
    await takeTurns([plain, ...subjects.map(({ series }) => series)], stage.runs(STREAM_RUNS));
    // The first belongs to the warm-up round.
    return subjects.flatMap(({ name, series, outputs }) => [
      cpuFigure(name, series, plain),
      ...outputFigures(name, outputs.slice(1)),
    ]);
  },
};

function cpuFigure(name: TextName, screen: Series, plain: Series): Figure {
  return {
    name: `screen-stream, ${name}, CPU time`,
    unit: "s",
    rule: { kind: "amount" },
    measured: screen.values,
    reference: { name: "plain program", values: plain.values },
    budget: STREAM_BUDGETS.cpuSeconds,
  };
}

function outputFigures(name: TextName, outputs: readonly Output[]): Figure[] {
  const text = { name: "final text", values: outputs.map(({ textKilobytes }) => textKilobytes) };
  const bytes = { unit: "KB", rule: { kind: "ratio" }, reference: text } as const;
  return [
    {
      ...bytes,
      name: `screen-stream, ${name}, bytes`,
      measured: outputs.map(({ uncoloredKilobytes }) => uncoloredKilobytes),
      budget: STREAM_BUDGETS.byteRatio,
    },
    {
      ...bytes,
      name: `screen-stream, ${name}, bytes with colours`,
      measured: outputs.map(({ kilobytes }) => kilobytes),
    },
    {
      name: `screen-stream, ${name}, frame at the 95th percentile`,
      unit: "KB",
      rule: { kind: "amount" },
      measured: outputs.map(({ frameKilobytes }) => frameKilobytes),
      budget: STREAM_BUDGETS.frameKilobytes,
    },
  ];
}

async function measurePlainStream(stage: Stage): Promise<number> {
  const { text, chunkChars, chunkDelayMs } = streamedTurn(TEXTS.Markdown);
  await using run = startPlainProgram(stage, { text, chunkChars, chunkDelayMs });
  await run.waitForScreen(LAST_WORD);
  return readCpuSeconds(run.pid);
}

async function measureScreenStream(stage: Stage, turn: ScriptedTurn, outputs: Output[]): Promise<number> {
  const [, program] = await stage.programs();
  await using run = await openScreen(stage, { program, turns: [turn] });
  const before = { seconds: readCpuSeconds(run.pid), writes: run.screen.writes.length };
  run.type("Tell me.\r");
  await run.waitForScreen(LAST_WORD);
  await run.settle();
  outputs.push(toOutput(run, before.writes));
  return readCpuSeconds(run.pid) - before.seconds;
}

function toOutput({ screen }: TerminalRun, firstWrite: number): Output {
  const written = screen.writes.slice(firstWrite).join("");
  return {
    kilobytes: toKilobytes(written),
    uncoloredKilobytes: toKilobytes(withoutColors(written)),
    textKilobytes: toKilobytes(screen.scrollback().join("\r\n")),
    frameKilobytes: quantile(frameBytes(written), 0.95) / 1024,
  };
}

function toKilobytes(text: string): number {
  return Buffer.byteLength(text) / 1024;
}

const KEYS_RUNS = 5;
const KEYS = 250;
// Nobody types faster; the text takes longer than all keys together.
const KEYS_INTERVAL_MS = 25;
const BUDGET_MS = 20;

/** The time from a key press to the screen, while an answer streams and below a long transcript. */
export const screenKeys: Benchmark = {
  name: "screen-keys",
  about: "key to echo while an answer streams, and below 5,000 rows of transcript",
  async measure(stage) {
    const plain = new Series(() => measurePlainKeys(stage));
    const subjects = [
      { name: "while an answer streams", series: new Series(() => measureStreaming(stage, [])) },
      { name: "below 5,000 rows", series: new Series(() => measureQuiet(stage)) },
      {
        name: "while an answer streams below 5,000 rows",
        series: new Series(() => measureStreaming(stage, [LONG_TRANSCRIPT])),
      },
    ];
    await takeTurns([plain, ...subjects.map(({ series }) => series)], stage.runs(KEYS_RUNS));
    return subjects.map(
      ({ name, series }): Figure => ({
        name: `screen-keys, 99th percentile, ${name}`,
        unit: "ms",
        rule: { kind: "amount" },
        measured: series.values,
        reference: { name: "plain program, streaming", values: plain.values },
        budget: BUDGET_MS,
      }),
    );
  },
};

const typing = { intervalMs: KEYS_INTERVAL_MS, until: (typed: number) => typed >= KEYS };

async function measurePlainKeys(stage: Stage): Promise<number> {
  const { text, chunkChars, chunkDelayMs } = streamedTurn();
  await using run = startPlainProgram(stage, { text, chunkChars, chunkDelayMs });
  await run.waitForScreen("Part 1");
  return quantile(await measureEchoes(run, typing), 0.99);
}

async function measureStreaming(stage: Stage, before: readonly ScriptedTurn[]): Promise<number> {
  const [, program] = await stage.programs();
  await using run = await openScreen(stage, { program, turns: [...before, streamedTurn()] });
  for (const _ of before) await askUntil(run, "Tell me all.", LAST_WORD);
  run.type("Tell me.\r");
  await run.waitForScreen("Answering");
  const times = await measureEchoes(run, typing);
  await run.screen.flush();
  if (!run.screen.screen().join("\n").includes("Answering")) throw new Error("The answer ended too early.");
  return quantile(times, 0.99);
}

async function measureQuiet(stage: Stage): Promise<number> {
  const [, program] = await stage.programs();
  await using run = await openScreen(stage, { program, turns: [LONG_TRANSCRIPT] });
  await askUntil(run, "Tell me all.", LAST_WORD);
  return quantile(await measureEchoes(run, typing), 0.99);
}

const IDLE_RUNS = 1;
const SECONDS = 20;
// The runtime cleans up what was loaded and shown.
const REST_MS = 2_000;
const BUDGET_PERCENT = 1;
// In addition to the plain program, whose runtime wakes up once a second by itself.
const BUDGET_WAKES_PER_SECOND = 1;

interface IdleUsage {
  percent: number;
  wakesPerSecond: number;
}

/** What the screen costs while it is idle, below a long transcript. */
export const screenIdle: Benchmark = {
  name: "screen-idle",
  about: "CPU time and wake-ups of an idle screen (--seconds N: how long)",
  async measure(stage) {
    const seconds = stage.seconds(SECONDS);
    const found: Record<"screen" | "plain", IdleUsage[]> = { screen: [], plain: [] };
    const screen = new Series(() => measureScreenIdle(stage, seconds, found.screen));
    const plain = new Series(() => measurePlainIdle(stage, seconds, found.plain));
    // An idle program needs no warm-up, so every round of a long observation counts.
    for (let run = 0; run < stage.runs(IDLE_RUNS); run++) {
      await screen.addValue();
      await plain.addValue();
    }
    const wakes = (idle: readonly IdleUsage[]) => idle.map(({ wakesPerSecond }) => wakesPerSecond);
    return [
      {
        name: `screen-idle, CPU time, ${seconds} s`,
        unit: "%",
        rule: { kind: "amount" },
        measured: screen.values,
        reference: { name: "plain program", values: plain.values },
        budget: BUDGET_PERCENT,
      },
      {
        name: `screen-idle, wake-ups of its thread in addition to the reference's, ${seconds} s`,
        unit: "/s",
        rule: { kind: "per_item", items: 1 },
        measured: wakes(found.screen),
        reference: { name: "plain program", values: wakes(found.plain) },
        budget: BUDGET_WAKES_PER_SECOND,
      },
    ];
  },
};

async function measureScreenIdle(stage: Stage, seconds: number, found: IdleUsage[]): Promise<number> {
  const [, program] = await stage.programs();
  const timeLimitMs = (seconds + 120) * 1000;
  await using run = await openScreen(stage, { program, turns: [LONG_TRANSCRIPT], timeLimitMs });
  await askUntil(run, "Tell me all.", LAST_WORD);
  return await look(run, seconds, found);
}

async function measurePlainIdle(stage: Stage, seconds: number, found: IdleUsage[]): Promise<number> {
  await using run = startPlainProgram(stage, { ...NO_TEXT, timeLimitMs: (seconds + 120) * 1000 });
  await run.settle();
  return await look(run, seconds, found);
}

async function look(run: TerminalRun, seconds: number, found: IdleUsage[]): Promise<number> {
  await Bun.sleep(REST_MS);
  const before = { cpuSeconds: readCpuSeconds(run.pid), sleeps: readSleeps(run.pid) };
  await Bun.sleep(seconds * 1000);
  const percent = ((readCpuSeconds(run.pid) - before.cpuSeconds) / seconds) * 100;
  found.push({ percent, wakesPerSecond: (readSleeps(run.pid) - before.sleeps) / seconds });
  return percent;
}

const MEMORY_RUNS = 3;
const TURNS = 1_000;
const WARM_TURNS = 100;
const MEMORY_BUDGETS = { megabytes: 150, growthMegabytes: 50, timeRatio: 2 };
const TIME_LIMIT_MS = 600_000;

interface LongRun {
  /** When idle: at the end, and the growth after the first hundred turns. */
  megabytes: number;
  growthMegabytes: number;
  /** The peak at any moment, with turns as long as their tools take. */
  peakMegabytes: number;
  /** Per turn, in ms: the median of the second hundred turns, and of the last. */
  earlyTurnMs: number;
  lateTurnMs: number;
}

/** The memory of the screen after 1,000 turns, each with a result of 50 KB. */
export const screenMemory: Benchmark = {
  name: "screen-memory",
  about: "resident memory and time per turn over 1,000 turns with results of 50 KB",
  async measure(stage) {
    const runs: LongRun[] = [];
    const plain: number[] = [];
    for (let run = 0; run < stage.runs(MEMORY_RUNS); run++) {
      plain.push(await measurePlainMemory(stage));
      runs.push(await measureScreenMemory(stage));
    }
    const memory = {
      unit: "MB",
      rule: { kind: "amount" },
      reference: { name: "plain program", values: plain },
    } as const satisfies Partial<Figure>;
    return [
      {
        ...memory,
        name: "screen-memory, after 1,000 turns",
        measured: runs.map(({ megabytes }) => megabytes),
        budget: MEMORY_BUDGETS.megabytes,
      },
      {
        ...memory,
        name: "screen-memory, growth after the first 100",
        measured: runs.map(({ growthMegabytes }) => growthMegabytes),
        budget: MEMORY_BUDGETS.growthMegabytes,
      },
      {
        ...memory,
        name: "screen-memory, peak without a pause",
        measured: runs.map(({ peakMegabytes }) => peakMegabytes),
      },
      {
        name: "screen-memory, time of a turn at the end",
        unit: "ms",
        rule: { kind: "ratio" },
        measured: runs.map(({ lateTurnMs }) => lateTurnMs),
        reference: { name: "in the second hundred", values: runs.map(({ earlyTurnMs }) => earlyTurnMs) },
        budget: MEMORY_BUDGETS.timeRatio,
      },
    ];
  },
};

async function measurePlainMemory(stage: Stage): Promise<number> {
  await using run = startPlainProgram(stage, NO_TEXT);
  await run.settle();
  return readMegabytes(run.pid).now;
}

async function measureScreenMemory(stage: Stage): Promise<LongRun> {
  const [, program] = await stage.programs();
  await using run = await openScreen(stage, {
    program,
    ...createLargeTurns(TURNS),
    timeLimitMs: TIME_LIMIT_MS,
  });
  const turnTimes: number[] = [];
  let warmMegabytes = 0;
  for (let prompt = 0; prompt < TURNS / TURNS_PER_PROMPT; prompt++) {
    turnTimes.push((await askForLargeResults(run, prompt)) / TURNS_PER_PROMPT);
    if ((prompt + 1) * TURNS_PER_PROMPT === WARM_TURNS) warmMegabytes = await readAtRest(run);
  }
  const peakMegabytes = readMegabytes(run.pid).peak;
  const megabytes = await readAtRest(run);
  const hundred = WARM_TURNS / TURNS_PER_PROMPT;
  return {
    megabytes,
    peakMegabytes,
    growthMegabytes: megabytes - warmMegabytes,
    earlyTurnMs: median(turnTimes.slice(hundred, 2 * hundred)),
    lateTurnMs: median(turnTimes.slice(-hundred)),
  };
}

async function readAtRest(run: TerminalRun): Promise<number> {
  await restBriefly(run);
  return readMegabytes(run.pid).now;
}

const FLOOD_RUNS = 3;
const FLOOD_INTERVAL_MS = 10;
const FLOOD_LAST_WORD = "THE-FLOOD-IS-OVER";
// A command that fails at once leaves no time for the keys.
const MIN_KEYS = 20;
const FLOOD_BUDGETS = { echoMs: 100, megabytes: 64 };

/** Commands with very long output, and one with almost none for the same time. */
const QUIET = "sleep 3; echo done";
const FLOODS = {
  "1 GB in lines": "yes 'a line of output as a build prints them, again and again' | head -c 1000000000",
  "1 GB in one line": "tr '\\0' 'x' < /dev/zero | head -c 1000000000",
};

interface Flood {
  /** The 99th percentile. */
  echoMs: number;
  /** The peak memory above that before the command. */
  megabytes: number;
}

/** Keys and memory while a tool prints 1 GB. */
export const screenFlood: Benchmark = {
  name: "screen-flood",
  about: "key to echo and memory while a command prints 1 GB",
  async measure(stage) {
    const subjects = Object.entries(FLOODS).map(([name, command]) => ({
      name,
      command,
      floods: [] as Flood[],
    }));
    const quiet: Flood[] = [];
    for (let run = 0; run < stage.runs(FLOOD_RUNS); run++) {
      quiet.push(await measureCommand(stage, QUIET));
      for (const { command, floods } of subjects) floods.push(await measureCommand(stage, command));
    }
    return subjects.flatMap(({ name, floods }) => toFigures(name, floods, quiet));
  },
};

function toFigures(name: string, floods: readonly Flood[], quiet: readonly Flood[]): Figure[] {
  const values = (key: keyof Flood) => ({
    measured: floods.map((flood) => flood[key]),
    reference: { name: "a quiet command", values: quiet.map((flood) => flood[key]) },
  });
  return [
    {
      name: `screen-flood, key to echo at the 99th percentile, ${name}`,
      unit: "ms",
      rule: { kind: "amount" },
      ...values("echoMs"),
      budget: FLOOD_BUDGETS.echoMs,
    },
    {
      name: `screen-flood, extra memory, ${name}`,
      unit: "MB",
      rule: { kind: "amount" },
      ...values("megabytes"),
      budget: FLOOD_BUDGETS.megabytes,
    },
  ];
}

async function measureCommand(stage: Stage, command: string): Promise<Flood> {
  const [, program] = await stage.programs();
  const call = { toolCalls: [{ name: "bash", input: { command } }] };
  await using run = await openScreen(stage, { program, turns: [call, { text: FLOOD_LAST_WORD }] });
  const before = readMegabytes(run.pid).now;
  run.type("Go.\r");
  await run.waitForScreen("Running bash");
  let isOver = false;
  const over = run.waitForScreen(FLOOD_LAST_WORD).then(() => {
    isOver = true;
  });
  const echoes = await measureEchoes(run, { intervalMs: FLOOD_INTERVAL_MS, until: () => isOver });
  await over;
  if (echoes.length < MIN_KEYS) throw new Error(`Only ${echoes.length} keys were typed meanwhile.`);
  return { echoMs: quantile(echoes, 0.99), megabytes: readMegabytes(run.pid).peak - before };
}
