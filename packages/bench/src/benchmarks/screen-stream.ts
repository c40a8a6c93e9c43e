import type { Benchmark } from "../benchmark.ts";
import type { Figure } from "../figure.ts";
import { frameBytes, withoutColors } from "../measure/frames.ts";
import { readCpuSeconds } from "../measure/process-figures.ts";
import { Series, takeTurns } from "../measure/series.ts";
import { quantile } from "../measure/statistics.ts";
import type { TerminalRun } from "../measure/terminal-run.ts";
import { LAST_WORD, streamedTurn } from "../stage/long-answers.ts";
import { createCodeAnswer, createMarkdownAnswer, createProse } from "../stage/markdown-answer.ts";
import { startPlainProgram } from "../stage/plain-program.ts";
import { openScreen, type ScriptedTurn } from "../stage/screen-run.ts";
import type { Stage } from "../stage/stage.ts";

const RUNS = 3;
const CHARS = 40_000;
const BUDGETS = { cpuSeconds: 2, byteRatio: 1.5, frameKilobytes: 4 };

const TEXTS = {
  prose: createProse(CHARS),
  Markdown: createMarkdownAnswer(CHARS),
  "code blocks of 60 lines": createCodeAnswer(CHARS),
} as const;

type TextName = keyof typeof TEXTS;

/** What one run of the screen costs beside its CPU time. */
interface Output {
  /** All bytes from the prompt on, and those that are no colours. */
  kilobytes: number;
  uncoloredKilobytes: number;
  /** As a plain program would write into the same terminal what stands there in the end. */
  textKilobytes: number;
  /** The 95th percentile. */
  frameKilobytes: number;
}

/** An answer that comes in 5,000 chunks, 2 ms apart: what it costs to show it. */
export const screenStream: Benchmark = {
  name: "screen-stream",
  about: "an answer of 5,000 chunks on the screen: CPU time, bytes, size of the frames",
  async measure(stage) {
    const plain = new Series(() => measurePlain(stage));
    const subjects = (["prose", "Markdown", "code blocks of 60 lines"] as const).map((name) => {
      const outputs: Output[] = [];
      return {
        name,
        outputs,
        series: new Series(() => measureScreen(stage, streamedTurn(TEXTS[name]), outputs)),
      };
    });
    await takeTurns([plain, ...subjects.map(({ series }) => series)], stage.runs(RUNS));
    // The first belongs to the round that does not count.
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
    budget: BUDGETS.cpuSeconds,
  };
}

function outputFigures(name: TextName, outputs: readonly Output[]): Figure[] {
  const text = { name: "text in the end", values: outputs.map(({ textKilobytes }) => textKilobytes) };
  const bytes = { unit: "KB", rule: { kind: "ratio" }, reference: text } as const;
  return [
    {
      ...bytes,
      name: `screen-stream, ${name}, bytes`,
      measured: outputs.map(({ uncoloredKilobytes }) => uncoloredKilobytes),
      budget: BUDGETS.byteRatio,
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
      budget: BUDGETS.frameKilobytes,
    },
  ];
}

async function measurePlain(stage: Stage): Promise<number> {
  const { text, chunkChars, chunkDelayMs } = streamedTurn(TEXTS.Markdown);
  await using run = startPlainProgram(stage, { text, chunkChars, chunkDelayMs });
  await run.waitForScreen(LAST_WORD);
  return readCpuSeconds(run.pid);
}

async function measureScreen(stage: Stage, turn: ScriptedTurn, outputs: Output[]): Promise<number> {
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
