import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { PlaceRules } from "../../../core/src/extensions/rules/find-rules.ts";
import { SessionRules } from "../../../core/src/extensions/rules/session-rules.ts";
import { PUBLIC_RULES } from "../../../core/test/support/public-rules.ts";
import { EVASION_FILES, listEvasions } from "../../../core/test/support/rule-evasions.ts";
import type { Benchmark, Figure } from "../figure.ts";

const MOST_UNCOMPILED_PERCENT = 20;
const MOST_FALSE_PERCENT = 1;

/** How many rules are compiled, how many evasions get through, and how many real commands are refused wrongly. */
export const rules: Benchmark = {
  name: "rules",
  about: "rules that stay unenforced, evasions, and false refusals in `--commands FILE`",
  async measure(stage) {
    const project = join(stage.scratch.makeDirectory("rules"), "project");
    writeProject(project, {});
    const sentences = PUBLIC_RULES.map(([sentence]) => sentence.replace(/^- /, ""));
    const opened = await Promise.all(sentences.map((rule) => openRule(rule, project)));
    const bound = opened.filter(({ found }) => found.rules.some(({ guards }) => guards.length > 0));
    const evasions = listEvasions();
    let missed = 0;
    for (const { rule, line, files } of evasions) {
      writeProject(project, { ...EVASION_FILES, ...files });
      if ((await openRule(rule, project).then(({ check }) => check(line))) === undefined) missed++;
    }
    const amount = { unit: "%", rule: { kind: "amount" } } as const;
    const figures: Figure[] = [
      {
        ...amount,
        name: `unenforced of ${sentences.length} rules`,
        measured: [100 - (100 * bound.length) / sentences.length],
        budget: MOST_UNCOMPILED_PERCENT,
      },
      {
        ...amount,
        name: `missed of ${evasions.length} evasions`,
        measured: [(100 * missed) / evasions.length],
        budget: 0,
      },
    ];
    if (stage.commandsFile === undefined) return figures;
    writeProject(project, {});
    const commands = readCommands(resolve(stage.commandsFile), project);
    const wrong = new Set<string>();
    for (const { check } of bound)
      for (const line of commands) {
        const why = await check(line);
        if (why !== undefined && !isShown(why, line)) wrong.add(line);
      }
    const measured = [(100 * wrong.size) / commands.length];
    return [
      ...figures,
      {
        ...amount,
        name: `falsely refused of ${commands.length} commands`,
        measured,
        budget: MOST_FALSE_PERCENT,
      },
    ];
  },
};

async function openRule(rule: string, project: string) {
  const environment = { HOME: dirname(project) };
  const place = { cwd: project, root: project, environment };
  const trust = { selectTrusted: async <T>(_: unknown, items: readonly T[]) => [...items] };
  const found = await PlaceRules.open({ ...place, settings: { rule } }, trust);
  const session = new SessionRules(place, found);
  const check = async (command: string) =>
    (await session.check({ toolName: "bash", input: { command } }))?.why;
  return { found, check };
}

function writeProject(project: string, files: Readonly<Record<string, string>>): void {
  rmSync(project, { recursive: true, force: true });
  for (const [path, text] of Object.entries({ ".git/HEAD": "ref: refs/heads/work\n", ...files })) {
    mkdirSync(dirname(join(project, path)), { recursive: true });
    writeFileSync(join(project, path), text);
  }
}

function readCommands(file: string, project: string): string[] {
  if (!existsSync(file)) throw new Error(`There is no file ${file}.`);
  const lines = readFileSync(file, "utf8").split("\n");
  return lines
    .filter((line) => line.trim() !== "")
    .map((line): { cmd: string } => JSON.parse(line))
    .map(({ cmd }) => cmd.replaceAll("$ROOT", project));
}

/** True if the line, without what it quotes, shows the program that is refused: read apart from the gate. */
function isShown(why: string, line: string): boolean {
  const plain = line.replace(/'[^']*'|"[^"]*"|<<-?\s*['"]?(\w+)['"]?[\s\S]*?\n\1\b/g, " ");
  const isCheck = why.endsWith("has not passed since the last change");
  const program = isCheck ? undefined : /^`([\w.-]+)/.exec(why)?.[1];
  // Reasons about a message or a check concern a commit.
  return new RegExp(
    `(?:^|[\\s;&|(/])${program ?? "git[^;&|]* (?:commit|checkout|switch|branch)"}(?![\\w-])`,
  ).test(plain);
}
