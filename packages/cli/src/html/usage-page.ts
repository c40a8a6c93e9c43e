import type { UsageGroup, UsageRow } from "@diligent/core/cost";
import { countInput, toAmounts } from "../cost/format-usage.ts";
import { formatNumber } from "../tui/commands/types.ts";
import { formatCost } from "../tui/live-region.ts";
import { drawBars } from "./charts.ts";
import { html, toPage } from "./page.ts";

/** The requests of all known projects, as a page. */
export function toUsagePage(
  rows: readonly UsageRow[],
  { by, since }: { by: UsageGroup; since: string | undefined },
): string {
  const title = `Usage by ${by}${since === undefined ? "" : ` since ${since}`}`;
  const amounts = toAmounts(rows);
  const bars = rows.map((row, index) => ({
    name: row.key,
    amount: amounts[index] ?? 0,
    text: row.cost === null ? `${formatNumber(countInput(row))} tokens` : formatCost(row.cost),
  }));
  const lines = rows.map(
    (row) =>
      html`<tr><td class="name">${row.key}</td><td class="n">${formatNumber(row.sessions)}</td><td class="n">${formatNumber(row.requests)}</td><td class="n">${formatNumber(countInput(row))}</td><td class="n">${formatNumber(row.tokens.output)}</td><td class="n">${row.cost === null ? "unknown" : formatCost(row.cost)}</td></tr>`,
  );
  const content =
    rows.length === 0
      ? html`<p>No requests found.</p>`
      : html`${drawBars(bars, title)}<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr><th scope="col">${by}</th><th scope="col" class="n">sessions</th><th scope="col" class="n">requests</th><th scope="col" class="n">input</th><th scope="col" class="n">output</th><th scope="col" class="n">cost</th></tr></thead><tbody>${lines}</tbody></table></div>`;
  return toPage({
    title,
    body: html`<header><h1>${title}</h1></header><main id="content">${content}</main>`,
  });
}
