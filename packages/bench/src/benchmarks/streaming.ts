import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { Series, takeTurns } from "../measure/series.ts";
import { streamedAnswer } from "../stage/answers.ts";
import { MessagesServer } from "../stage/messages-server.ts";
import { runPrint } from "../stage/print-run.ts";
import type { Stage } from "../stage/stage.ts";

const RUNS = 9;
const CHUNK = "word ";
/** Chunks of a long answer: enough that their cost stands out from that of starting. */
export const MANY_CHUNKS = 5_000;
const BUDGET_SECONDS = 0.25;

type Source = (stage: Stage, server: MessagesServer, count: number) => Series;

const SOURCES: Readonly<Record<string, Source>> = {
  "scripted provider": fromScript,
  "HTTP and SDK": (stage, server, count) => fromServer(stage, server, { count, format: "text" }),
  "HTTP, stream-json": (stage, server, count) => fromServer(stage, server, { count, format: "stream-json" }),
};

/** The CPU time of a run whose answer comes in 5,000 chunks: all of the process, start included. */
export const streaming: Benchmark = {
  name: "streaming",
  about: "CPU time of an answer of 5,000 chunks in print mode",
  async measure(stage) {
    using server = new MessagesServer();
    const subjects = Object.entries(SOURCES).map(([name, create]) => ({
      name,
      many: create(stage, server, MANY_CHUNKS),
      one: create(stage, server, 1),
    }));
    await takeTurns(
      subjects.flatMap(({ many, one }) => [many, one]),
      stage.runs(RUNS),
    );
    return subjects.flatMap(({ name, many, one }) => toFigures(name, many, one));
  },
};

function toFigures(name: string, many: Series, one: Series): Figure[] {
  const figure = {
    unit: "s",
    measured: many.values,
    reference: { name: "one chunk", values: one.values },
  } as const;
  return [
    { ...figure, name: `5,000 chunks, ${name}`, rule: { kind: "amount" }, budget: BUDGET_SECONDS },
    { ...figure, name: `5,000 chunks, ${name}, without start`, rule: { kind: "per_item", items: 1 } },
  ];
}

function fromScript(stage: Stage, _: MessagesServer, count: number): Series {
  const script = join(stage.scratch.makeDirectory("script"), "script.json");
  const turn = { text: CHUNK.repeat(count), chunkChars: CHUNK.length };
  writeFileSync(script, JSON.stringify({ version: 1, turns: [turn] }));
  return new Series(() => cpuSeconds(stage, { args: ["--model", `scripted/${script}`] }));
}

function fromServer(
  stage: Stage,
  server: MessagesServer,
  { count, format }: { count: number; format: "text" | "stream-json" },
): Series {
  const answer = streamedAnswer(Array.from({ length: count }, () => CHUNK));
  return new Series(() => {
    server.begin([answer]);
    return cpuSeconds(stage, { server, args: ["--output-format", format] });
  });
}

async function cpuSeconds(
  stage: Stage,
  options: { server?: MessagesServer; args: readonly string[] },
): Promise<number> {
  const { cpuMs } = await runPrint(stage, { program: stage.checkout, ...options });
  return cpuMs / 1000;
}
