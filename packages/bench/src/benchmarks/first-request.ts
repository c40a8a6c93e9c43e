import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { Series, takeTurns } from "../measure/series.ts";
import { openAITextAnswer, textAnswer } from "../stage/answers.ts";
import { type Answer, MessagesServer } from "../stage/messages-server.ts";
import { runPrint } from "../stage/print-run.ts";
import type { Program, Stage } from "../stage/stage.ts";
import { wholeProcess } from "../stage/whole-process.ts";

const RUNS = 21;

/** A service, and how its first request is measured. */
interface Service {
  benchmark: string;
  /** As the figures call it. */
  label: string;
  args: readonly string[];
  answer: Answer;
  budgets: Record<Program["name"], number>;
}

/** With the adapter and the SDK of Anthropic. */
export const firstRequest = measureFirstRequest({
  benchmark: "first-request",
  label: "first request",
  args: [],
  answer: textAnswer("Done."),
  budgets: { checkout: 20, bundle: 12 },
});

/** With the adapter and the SDK of OpenAI. */
export const firstRequestOpenAI = measureFirstRequest({
  benchmark: "first-request-openai",
  label: "first request to OpenAI",
  args: ["--model", "gpt-5.4"],
  answer: openAITextAnswer("Done."),
  budgets: { checkout: 18, bundle: 12 },
});

/** How long it takes from the start of `-p` until its first request arrives, as a multiple of an empty script. */
function measureFirstRequest(service: Service): Benchmark {
  return {
    name: service.benchmark,
    about: `from the start of -p to its ${service.label}, against an empty script`,
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
      await takeTurns([empty, ...subjects.map(({ series }) => series)], stage.runs(RUNS));
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

interface Start {
  program: Program;
  service: Service;
  hasNewHome?: boolean;
}

function untilRequest(
  stage: Stage,
  server: MessagesServer,
  { program, service, hasNewHome = false }: Start,
): Series {
  return new Series(async () => {
    server.begin([service.answer]);
    const home = hasNewHome ? stage.scratch.makeDirectory("home") : stage.home;
    const { startedAt } = await runPrint(stage, { program, server, home, args: service.args });
    const [request] = server.requests;
    if (!request) throw new Error("No request came.");
    return request.arrivedAt - startedAt;
  });
}
