import type { AgentEvent, CheckRecord } from "@diligent/core/run";
import { toSingleLine } from "../text/terminal-text.ts";

/** What was checked in a turn. */
export type Evidence = Omit<Extract<AgentEvent, { type: "evidence" }>, "type">;

const MAX_COLUMNS = 100;
const MAX_SENTENCES = 10;

/**
 * The evidence of a turn, as lines under its answer: what each check said and whether it still holds, what was not run,
 * and which sentences no check supports. Safe for a terminal; never empty.
 */
export function formatEvidence({ checks, missing, unsupported, lacking = [] }: Evidence): string[] {
  const shown = unsupported.slice(0, MAX_SENTENCES);
  const more = unsupported.length - shown.length;
  const lines = [
    ...checks.map(formatCheck),
    ...missing.map((kind) => `– ${kind} not run`),
    ...shown.map((sentence) => `⚠ no check shows this: ${sentence}`),
    ...(more > 0 ? [`⚠ and ${more} more sentences`] : []),
    ...lacking.map((clause) => `✗ required, and missing: ${clause}`),
  ];
  return ["Evidence, as diligent saw it:", ...lines.map((line) => `  ${toSingleLine(line, MAX_COLUMNS)}`)];
}

function formatCheck({
  name,
  exitCode,
  passed,
  failed = 0,
  isStale,
  laterEdits = 0,
  part,
}: CheckRecord): string {
  const counts = [
    ...(passed === undefined ? [] : [`${passed} passed`]),
    ...(failed > 0 ? [`${failed} failed`] : []),
  ];
  const said = counts.length === 0 ? "" : ` ${counts.join(", ")}`;
  if (failed > 0) return `✗ ${name}${said}`;
  if (exitCode === null) return `⚠ ${name}${said}, exit code unknown`;
  if (exitCode !== 0) return `✗ ${name}${said}, exit code ${exitCode}`;
  const files = laterEdits === 1 ? "1 later edit" : `${laterEdits} later edits`;
  if (isStale) return `⚠ ${name}${said}, ran before ${files}`;
  return part === undefined
    ? `✓ ${name}${said}, after the last change`
    : `⚠ ${name}${said}, only a part (${part})`;
}
