import type { RequestCost } from "@diligent/core/cost";
import { formatNumber } from "../tui/commands/types.ts";
import { formatCost } from "../tui/live-region.ts";
import { type Html, html } from "./page.ts";

const WIDTH = 800;
const HEIGHT = 220;
const LEFT = 4;
// Half of the width of the line.
const TOP = 2;
const BOTTOM = 2;
/** More requests than this are grouped: a bar would be thinner than a pixel. */
const MAX_BARS = 200;

interface Bar {
  cached: number;
  written: number;
  fresh: number;
  cost: number;
  first: number;
  last: number;
}

/** The input of each request as a bar, and the cost of all requests so far as a line. */
export function drawTimeline(requests: readonly RequestCost[]): Html {
  if (requests.length === 0) return html``;
  const bars = toBars(requests);
  const most = Math.max(1, ...bars.map((bar) => bar.cached + bar.written + bar.fresh));
  const total = bars.reduce((sum, { cost }) => sum + cost, 0);
  const room = HEIGHT - TOP - BOTTOM;
  const step = (WIDTH - LEFT * 2) / bars.length;
  let spent = 0;
  const points: string[] = [];
  const drawn = bars.map((bar, index) => {
    const x = LEFT + index * step;
    spent += bar.cost;
    points.push(`${round(x + step / 2)},${round(HEIGHT - BOTTOM - (total > 0 ? spent / total : 0) * room)}`);
    return drawBar(bar, { x, width: Math.max(1, step * 0.8), scale: room / most });
  });
  const label = `${requests.length} requests; the largest has ${formatNumber(most)} tokens of input; ${formatCost(total)} in total`;
  return html`<figure>
<div class="ends"><span>${formatNumber(most)} tokens</span><span>${formatCost(total)}</span></div>
<svg class="timeline" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">
${drawn}${total > 0 ? html`<polyline class="l" points="${points.join(" ")}"/>` : undefined}
</svg>
<div class="ends"><span>request 1</span><span>request ${requests.length}</span></div>
<figcaption><span class="key k1"></span> from cache <span class="key k2"></span> to cache <span class="key k3"></span> fresh <span class="key kc"></span> cost so far</figcaption>
</figure>`;
}

function toBars(requests: readonly RequestCost[]): Bar[] {
  const size = Math.ceil(requests.length / MAX_BARS);
  const bars: Bar[] = [];
  for (const [index, { cached, written, fresh, cost }] of requests.entries()) {
    const bar = bars[Math.floor(index / size)];
    if (bar) {
      bar.cached += cached;
      bar.written += written;
      bar.fresh += fresh;
      bar.cost += cost ?? 0;
      bar.last = index + 1;
    } else bars.push({ cached, written, fresh, cost: cost ?? 0, first: index + 1, last: index + 1 });
  }
  return bars;
}

function drawBar(bar: Bar, { x, width, scale }: { x: number; width: number; scale: number }): Html {
  const which = bar.first === bar.last ? `Request ${bar.first}` : `Requests ${bar.first} to ${bar.last}`;
  const title = `${which}: ${formatNumber(bar.cached)} from cache, ${formatNumber(bar.written)} to cache, ${formatNumber(bar.fresh)} fresh, ${formatCost(bar.cost)}`;
  let bottom = HEIGHT - BOTTOM;
  const rectangles = ([bar.cached, bar.written, bar.fresh] as const).map((tokens, index) => {
    const height = tokens * scale;
    bottom -= height;
    return height > 0
      ? html`<rect class="f${index + 1}" x="${round(x)}" y="${round(bottom)}" width="${round(width)}" height="${round(height)}"/>`
      : html``;
  });
  return html`<g><title>${title}</title>${rectangles}</g>`;
}

/** A named amount of a bar chart, and how it is written. */
export interface ChartRow {
  name: string;
  amount: number;
  text: string;
}

/** Amounts as horizontal bars, with their texts beside them, so that these stay legible on a narrow screen. */
export function drawBars(rows: readonly ChartRow[], label: string): Html {
  if (rows.length === 0) return html``;
  const most = Math.max(...rows.map(({ amount }) => amount), Number.MIN_VALUE);
  const lines = rows.map(({ name, amount, text }) => {
    const width = Math.max(amount > 0 ? 0.3 : 0, (amount / most) * 100);
    return html`<li><span>${name}</span><svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect class="f1" width="${round(width)}" height="1"/></svg><span class="n">${text}</span></li>`;
  });
  return html`<ul class="bars" aria-label="${label}">${lines}</ul>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
