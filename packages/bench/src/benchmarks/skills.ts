import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Benchmark, Figure } from "../figure.ts";
import { Series, takeTurns } from "../measure/statistics.ts";
import { textAnswer } from "../stage/answers.ts";
import { MessagesServer } from "../stage/messages-server.ts";
import { runPrintMode } from "../stage/program-runs.ts";
import type { Program, Stage } from "../stage/stage.ts";

const RUNS = 41;
const SKILLS = 500;
const BUDGET_MS = 5;
const BUDGET_PERCENT = 1;
// Of the benchmark's model, whose usable window is 200,000 tokens.
const WINDOW_TOKENS = 200_000;
const CHARACTERS_PER_TOKEN = 4;

/** What five hundred skills of the user cost: time until the first request, and room in it. */
export const skills: Benchmark = {
  name: "skills",
  about: "what 500 skills add to the start and to the first request",
  async measure(stage) {
    using server = new MessagesServer();
    const homes = { without: stage.scratch.makeDirectory("home"), with: stage.scratch.makeDirectory("home") };
    writeSkills(join(homes.with, ".claude", "skills"));
    const sizes = { without: 0, with: 0 };
    const measure = (program: Program, which: "without" | "with") =>
      new Series(async () => {
        const { untilRequestMs, characters } = await measureFirstRequest(stage, {
          server,
          program,
          home: homes[which],
        });
        sizes[which] = characters;
        return untilRequestMs;
      });
    const subjects = (await stage.programs()).map((program) => ({
      program,
      reference: measure(program, "without"),
      series: measure(program, "with"),
    }));
    const all = subjects.flatMap(({ reference, series }) => [reference, series]);
    await takeTurns(all, stage.runs(RUNS));
    const tokens = (sizes.with - sizes.without) / CHARACTERS_PER_TOKEN;
    return [
      ...subjects.map(
        ({ program, reference, series }): Figure => ({
          name: `${SKILLS} skills, until the first request, ${program.name}`,
          unit: "ms",
          rule: { kind: "per_item", items: 1 },
          measured: series.values,
          reference: { name: "without skills", values: reference.values },
          ...(program.name === "bundle" && { budget: BUDGET_MS }),
        }),
      ),
      {
        name: `${SKILLS} skills, share of the usable window`,
        unit: "%",
        rule: { kind: "amount" },
        measured: [(100 * tokens) / WINDOW_TOKENS],
        budget: BUDGET_PERCENT,
      },
    ];
  },
};

/** As long as public ones: the median has 5.8 KB, and a description of a sentence or two. */
function writeSkills(directory: string): void {
  for (let index = 0; index < SKILLS; index++) {
    const name = `bench-skill-${index}`;
    mkdirSync(join(directory, name), { recursive: true });
    const description = `Does task ${index} in a project. Use it when the user asks for task ${index} or what belongs to it.`;
    const body = "Do the steps of this task in their order.\n".repeat(130);
    writeFileSync(
      join(directory, name, "SKILL.md"),
      `---\nname: ${name}\ndescription: ${description}\n---\n${body}`,
      { mode: 0o600 },
    );
  }
}

interface RequestRun {
  server: MessagesServer;
  program: Program;
  home: string;
}

async function measureFirstRequest(
  stage: Stage,
  { server, program, home }: RequestRun,
): Promise<{ untilRequestMs: number; characters: number }> {
  server.begin([textAnswer("Done.")]);
  const { startedAt } = await runPrintMode(stage, { program, server, home });
  const [request] = server.requests;
  if (!request) throw new Error("No request arrived.");
  return { untilRequestMs: request.arrivedAt - startedAt, characters: request.body.length };
}
