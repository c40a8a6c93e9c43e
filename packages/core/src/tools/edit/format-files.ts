import { readFileSync } from "node:fs";
import { stat } from "node:fs/promises";
import { extname } from "node:path";
import { systemErrorText } from "../../infrastructure/system-error.ts";
import type { Formatter } from "../formatters.ts";
import type { ChangeContext } from "../observe-changes.ts";
import { runShell } from "../shell/run-shell.ts";
import { displayPath } from "../target.ts";
import { createFingerprint, type Workspace } from "../workspace.ts";
import { createUnifiedDiff } from "./unified-diff.ts";

const TIMEOUT_MS = 30_000;
const MAX_DIFF_LINES = 60;
const MAX_PROBLEM_LINES = 5;

interface FormatOptions {
  workspace: Workspace;
  formatters: readonly Formatter[];
  context: ChangeContext;
}

/**
 * Runs the formatters of these files, one after the other, in the session's sandbox if it has one.
 *
 * @param realPaths the files, which the session has just written.
 * @returns for the model: what the formatters changed, and which of them failed; empty if there is nothing to say.
 */
export async function formatFiles(
  realPaths: readonly string[],
  { workspace, formatters, context }: FormatOptions,
): Promise<string> {
  const reports: string[] = [];
  for (const realPath of realPaths) {
    const extension = extname(realPath).toLowerCase();
    for (const formatter of formatters) {
      if (!formatter.extensions.some((each) => toExtension(each) === extension)) continue;
      reports.push(...(await formatFile(realPath, formatter, { workspace, context })));
    }
  }
  return reports.join("\n");
}

function toExtension(text: string): string {
  return (text.startsWith(".") ? text : `.${text}`).toLowerCase();
}

async function formatFile(
  realPath: string,
  formatter: Formatter,
  { workspace, context }: Pick<FormatOptions, "workspace" | "context">,
): Promise<string[]> {
  const shownPath = displayPath(workspace, realPath);
  const before = readFileSync(realPath);
  const problem = await run(formatter, realPath, { workspace, context });
  const problems = problem === undefined ? [] : [`[formatter ${formatter.name}, ${shownPath}: ${problem}]`];
  try {
    const after = readFileSync(realPath);
    if (after.equals(before)) return problems;
    // The model is shown the changes, so it may edit the file without reading it again.
    const stats = await stat(realPath, { bigint: true });
    workspace.files.recordModified(realPath, createFingerprint(stats, after), after);
    return [await describeChange(shownPath, formatter, { workspace, realPath, before, after }), ...problems];
  } catch (error) {
    return [
      ...problems,
      `[formatter ${formatter.name}, ${shownPath}: the file is gone (${systemErrorText(error)})]`,
    ];
  }
}

/** Why it failed; undefined if it has not. */
async function run(
  { command }: Formatter,
  realPath: string,
  { workspace, context }: Pick<FormatOptions, "workspace" | "context">,
): Promise<string | undefined> {
  const namesFile = command.some((word) => word.includes("$FILE"));
  const words = namesFile
    ? command.map((word) => word.replaceAll("$FILE", realPath))
    : [...command, realPath];
  try {
    const line = words.map(quoteWord).join(" ");
    // It never becomes a job, and no host is asked about.
    const { output, isError } = await runShell(
      { command: line, timeout: TIMEOUT_MS },
      { ...workspace, jobs: undefined },
      { toolCallId: `${context.toolCallId}-format`, signal: context.signal, approve: async () => "reject" },
    );
    return isError ? lastLines(output) : undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function quoteWord(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

function lastLines(output: string): string {
  return output.trim().split("\n").slice(-MAX_PROBLEM_LINES).join("\n");
}

async function describeChange(
  shownPath: string,
  { name }: Formatter,
  {
    workspace,
    realPath,
    before,
    after,
  }: { workspace: Workspace; realPath: string; before: Buffer; after: Buffer },
): Promise<string> {
  const lead = `Then ${name} formatted ${shownPath}`;
  try {
    const [old, now] = [before, after].map((bytes) => workspace.files.decode(realPath, bytes).text);
    const { diff } = await createUnifiedDiff(shownPath, old ?? "", now ?? "");
    const lines = diff.trimEnd().split("\n").slice(2);
    if (lines.length === 0) return `${lead}.`;
    const left = lines.length - MAX_DIFF_LINES;
    const more = left > 0 ? [`… ${left} more lines; read the file before you edit it again.`] : [];
    return [`${lead}:`, ...lines.slice(0, MAX_DIFF_LINES), ...more].join("\n");
  } catch {
    return `${lead}; its text cannot be shown. Read it again.`; // It is not in the encoding any more in which it was read.
  }
}
