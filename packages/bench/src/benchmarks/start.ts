import type { Benchmark, Figure } from "../figure.ts";
import { Series, takeTurns } from "../measure/statistics.ts";
import { measureEcho, TerminalRun } from "../measure/terminal-run.ts";
import { openAITextAnswer, textAnswer } from "../stage/answers.ts";
import { type Answer, MessagesServer } from "../stage/messages-server.ts";
import { FRAME_END, runPrintMode, startScreen, wholeProcess } from "../stage/program-runs.ts";
import { createProject, type Program, type Stage } from "../stage/stage.ts";

const VERSION_RUNS = 31;
const VERSION_BUDGET = 3;

/** The duration of `--version` as a whole process, as a multiple of an empty script. */
export const version: Benchmark = {
  name: "version",
  about: "--version as a whole process, compared with an empty script",
  async measure(stage) {
    const empty = wholeProcess(stage, [stage.emptyScript]);
    const programs = (await stage.programs()).map(({ name, path }) => ({
      name,
      series: wholeProcess(stage, [path, "--version"]),
    }));
    await takeTurns([empty, ...programs.map(({ series }) => series)], stage.runs(VERSION_RUNS));
    return programs.map(
      ({ name, series }): Figure => ({
        name: `version, ${name}`,
        unit: "ms",
        rule: { kind: "ratio" },
        measured: series.values,
        reference: { name: "empty script", values: empty.values },
        budget: VERSION_BUDGET,
      }),
    );
  },
};

const FIRST_REQUEST_RUNS = 21;

/** A service, and how its first request is measured. */
interface Service {
  benchmark: string;
  /** Its name in the results. */
  label: string;
  args: readonly string[];
  answer: Answer;
  budgets: Record<Program["name"], number>;
}

/** With Anthropic's adapter and SDK. */
export const firstRequest = measureFirstRequest({
  benchmark: "first-request",
  label: "first request",
  args: [],
  answer: textAnswer("Done."),
  budgets: { checkout: 20, bundle: 12 },
});

/** With OpenAI's adapter and SDK. */
export const firstRequestOpenAI = measureFirstRequest({
  benchmark: "first-request-openai",
  label: "first request to OpenAI",
  args: ["--model", "gpt-5.4"],
  answer: openAITextAnswer("Done."),
  budgets: { checkout: 18, bundle: 12 },
});

/** The time from the start of `-p` until its first request arrives, as a multiple of an empty script. */
function measureFirstRequest(service: Service): Benchmark {
  return {
    name: service.benchmark,
    about: `from the start of -p to its ${service.label}, compared with an empty script`,
    async measure(stage) {
      using server = new MessagesServer();
      const empty = wholeProcess(stage, [stage.emptyScript]);
      const subjects = (await stage.programs()).flatMap((program) => [
        { program, label: program.name, series: untilRequest(stage, server, { program, service }) },
        {
          program,
          label: `${program.name}, new home`,
          series: untilRequest(stage, server, { program, service, hasNewHome: true }),
        },
      ]);
      await takeTurns([empty, ...subjects.map(({ series }) => series)], stage.runs(FIRST_REQUEST_RUNS));
      return subjects.map(
        ({ program, label, series }): Figure => ({
          name: `${service.label}, ${label}`,
          unit: "ms",
          rule: { kind: "ratio" },
          measured: series.values,
          reference: { name: "empty script", values: empty.values },
          ...(label === program.name && { budget: service.budgets[program.name] }),
        }),
      );
    },
  };
}

interface FirstRequestStart {
  program: Program;
  service: Service;
  hasNewHome?: boolean;
}

function untilRequest(
  stage: Stage,
  server: MessagesServer,
  { program, service, hasNewHome = false }: FirstRequestStart,
): Series {
  return new Series(async () => {
    server.begin([service.answer]);
    const home = hasNewHome ? stage.scratch.makeDirectory("home") : stage.home;
    const { startedAt } = await runPrintMode(stage, { program, server, home, args: service.args });
    const [request] = server.requests;
    if (!request) throw new Error("No request arrived.");
    return request.arrivedAt - startedAt;
  });
}

const START_RUNS = 21;
const START_BUDGET = 12;
const KEY = "Q";
// A user who continues typing must not notice what is loaded after the first frame.
const LATER_KEYS = ["W", "X", "Y", "Z", "K", "J", "V", "H"];
const LATER_KEY_MS = 30;
const BUDGET_LATER_MS = 50;

interface StartStart {
  /** From the start until a key typed at the first prompt is visible. */
  usableMs: number;
  /** The longest echo time of the following keys. */
  worstEchoMs: number;
}

/** From the start of the screen to a prompt that shows typed text. */
export const screenStart: Benchmark = {
  name: "screen-start",
  about: "from the start of the screen to the echo of the first key, compared with an empty script",
  async measure(stage) {
    const empty = new Series(() => runEmpty(stage));
    const subjects = (await stage.programs()).map((program) => {
      const echoes: number[] = [];
      const series = new Series(async () => {
        const { usableMs, worstEchoMs } = await measureStart(stage, program);
        echoes.push(worstEchoMs);
        return usableMs;
      });
      return { program, series, echoes };
    });
    await takeTurns([empty, ...subjects.map(({ series }) => series)], stage.runs(START_RUNS));
    return subjects.flatMap(({ program, series, echoes }): Figure[] => [
      {
        name: `screen-start, ${program.name}`,
        unit: "ms",
        rule: { kind: "ratio" },
        measured: series.values,
        reference: { name: "empty script", values: empty.values },
        ...(program.name === "bundle" && { budget: START_BUDGET }),
      },
      {
        name: `screen-start, slowest of the next ${LATER_KEYS.length} keys, ${program.name}`,
        unit: "ms",
        rule: { kind: "amount" },
        // The first belongs to the warm-up round.
        measured: echoes.slice(1),
        ...(program.name === "bundle" && { budget: BUDGET_LATER_MS }),
      },
    ]);
  },
};

async function runEmpty(stage: Stage): Promise<number> {
  await using run = new TerminalRun({
    argv: [stage.emptyScript],
    cwd: createProject(stage.scratch),
    environment: stage.environment(),
  });
  return (await run.ended) - run.startedAt;
}

async function measureStart(stage: Stage, program: Program): Promise<StartStart> {
  await using run = startScreen(stage, { program, turns: [] });
  await run.nextOutput(FRAME_END);
  await measureEcho(run, KEY);
  const usableMs = performance.now() - run.startedAt;
  let worstEchoMs = 0;
  for (const key of LATER_KEYS) {
    await Bun.sleep(LATER_KEY_MS);
    worstEchoMs = Math.max(worstEchoMs, await measureEcho(run, key));
  }
  return { usableMs, worstEchoMs };
}

const BUDGET_KILOBYTES = 12;

/** The bytes of the first request: system prompt, tools and a short prompt. */
export const requestSize: Benchmark = {
  name: "request-size",
  about: "bytes of the first request",
  async measure(stage) {
    using server = new MessagesServer();
    server.begin([textAnswer("Done.")]);
    await runPrintMode(stage, { program: stage.checkout, server });
    const [request] = server.requests;
    if (!request) throw new Error("No request arrived.");
    const { system, tools }: Record<string, unknown> = JSON.parse(request.body);
    return [
      { ...toFigure("first request, whole body", request.body), budget: BUDGET_KILOBYTES },
      toFigure("first request, system prompt", JSON.stringify(system)),
      toFigure("first request, tools", JSON.stringify(tools)),
    ];
  },
};

/** In KB of 1,024 bytes. Every run sends the same request, so one is enough. */
function toFigure(name: string, text: string): Figure {
  return { name, unit: "KB", rule: { kind: "amount" }, measured: [Buffer.byteLength(text) / 1024] };
}
