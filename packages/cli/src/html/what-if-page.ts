import { toWhatIfCells, WHAT_IF_COLUMNS } from "../worktree/format-what-if.ts";
import type { WhatIfRun } from "../worktree/what-if.ts";
import { html, toPage } from "./page.ts";

/** The runs of the variants, as a page. */
export function toWhatIfPage(title: string, runs: readonly WhatIfRun[]): string {
  const heads = WHAT_IF_COLUMNS.map((name) => html`<th scope="col">${name}</th>`);
  const lines = runs.map((run) => html`<tr>${toWhatIfCells(run).map((cell) => html`<td>${cell}</td>`)}</tr>`);
  const content =
    runs.length === 0
      ? html`<p>No run has ended.</p>`
      : html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table><thead><tr>${heads}</tr></thead><tbody>${lines}</tbody></table></div>`;
  return toPage({
    title,
    body: html`<header><h1>${title}</h1></header><main id="content">${content}</main>`,
  });
}
