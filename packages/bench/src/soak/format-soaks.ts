import type { SoakRow, SoakVerdict } from "./soak-row.ts";

/** What one session was like; `title` is its kind and size. */
export interface NamedSoak {
  title: string;
  verdict: SoakVerdict;
}

const HEADINGS = ["session", "what", "found", "budget", ""];

/** A line for everything that was looked at in each session, and the details of what is not right below. */
export function formatSoaks(soaks: readonly NamedSoak[]): string {
  const cells = soaks.flatMap(({ title, verdict }) =>
    verdict.rows.map((row, index) => toCells(index === 0 ? title : "", row)),
  );
  const rows = [HEADINGS, ...cells];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  const details = soaks.flatMap(({ title, verdict }) =>
    (verdict.details ?? []).map((detail) => `${title}: ${detail}`),
  );
  return [...lines, ...(details.length > 0 ? ["", ...details] : [])].join("\n");
}

function toCells(title: string, { what, found, budget, isBroken }: SoakRow): string[] {
  return [title, what, found, budget ?? "", budget === undefined ? "" : isBroken ? "BROKEN" : "ok"];
}
