import { type CostReport, sumCauses } from "@diligent/core/cost";
import { formatTotal } from "../cost/format-cost.ts";
import { formatNumber } from "../tui/commands/types.ts";
import { formatCost } from "../tui/live-region.ts";
import { drawBars, drawTimeline } from "./charts.ts";
import { type Html, html, toPage } from "./page.ts";

const MAX_CAUSES = 20;
const MAX_LISTED_REQUESTS = 2_000;

/** What a session cost, as a page. @param title names the session. */
export function toCostPage(title: string, report: CostReport): string {
  const body = html`<header><h1>${title}</h1></header><main id="content">${renderCostSections(report)}</main>`;
  return toPage({ title, body });
}

/** The parts of a page about costs. */
export function renderCostSections(report: CostReport): Html {
  const { requests, breaks } = report;
  if (requests.length === 0) return html`<p>No requests in this session yet.</p>`;
  const causes = sumCauses(requests);
  const sum = causes.reduce((total, [, tokens]) => total + tokens, 0);
  const rows = causes.slice(0, MAX_CAUSES).map(([name, amount]) => ({
    name,
    amount,
    text: `${formatNumber(amount)} (${Math.round((amount / Math.max(1, sum)) * 100)} %)`,
  }));
  return html`<p><strong>${formatTotal(report)}</strong> for ${requests.length === 1 ? "1 request" : `${requests.length} requests`}</p>
${drawTimeline(requests)}
${rows.length > 0 ? html`<h3>Input tokens by cause</h3>${drawBars(rows, "Input tokens by cause")}` : undefined}
${breaks.length > 0 ? renderBreaks(report) : undefined}
${renderRequests(report)}`;
}

function renderBreaks({ breaks }: CostReport): Html {
  const rows = breaks.map(
    ({ why, where, detail, tokens, cost }) =>
      html`<tr><td>${why}</td><td>${detail === undefined ? where : `${where}: ${detail}`}</td><td class="n">${formatNumber(tokens)}</td><td class="n">${toPrice(cost)}</td></tr>`,
  );
  return html`<h3>Breaks of the cached beginning</h3><div class="scroll" tabindex="0" role="region" aria-label="Breaks"><table><thead><tr><th scope="col">why</th><th scope="col">from</th><th scope="col" class="n">read again</th><th scope="col" class="n">extra</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function renderRequests({ requests }: CostReport): Html {
  const rows = requests
    .slice(-MAX_LISTED_REQUESTS)
    .map(
      ({ model, agent, purpose, cached, written, fresh, output, cost }) =>
        html`<tr><td>${[model, agent, purpose].filter((part) => part !== undefined).join(", ")}</td><td class="n">${formatNumber(cached)}</td><td class="n">${formatNumber(written)}</td><td class="n">${formatNumber(fresh)}</td><td class="n">${formatNumber(output)}</td><td class="n">${toPrice(cost)}</td></tr>`,
    );
  return html`<details><summary>All requests</summary><div class="scroll" tabindex="0" role="region" aria-label="Requests"><table><thead><tr><th scope="col">model</th><th scope="col" class="n">from cache</th><th scope="col" class="n">to cache</th><th scope="col" class="n">fresh</th><th scope="col" class="n">output</th><th scope="col" class="n">cost</th></tr></thead><tbody>${rows}</tbody></table></div></details>`;
}

function toPrice(cost: number | null): string {
  return cost === null ? "unknown" : formatCost(cost);
}
