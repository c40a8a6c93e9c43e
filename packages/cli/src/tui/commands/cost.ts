import { note } from "../note.ts";
import { formatCost } from "../parts/status-line.ts";
import { countSpends, type ModelSpend, sumCosts } from "../session-status.ts";
import { formatNumber, formatRows, widthOf } from "./format-rows.ts";
import type { SlashCommand } from "./types.ts";

/** `/cost`: what each model was asked for on all branches; a list instead of a table where the screen is narrow. */
export const COST: SlashCommand = {
  name: "cost",
  aliases: ["usage"],
  description: "Tokens and dollars of this session, by model",
  isAlwaysPossible: true,
  async run(_, context) {
    const { session, model } = await context.session();
    const spends = countSpends(session.branches.entries, model);
    if (spends.length === 0) return note(context, "Nothing was asked for in this session yet.");
    const total = sumCosts(spends, model);
    const rows = [HEADINGS, ...spends.map(toRow)];
    const wide = formatRows(rows, { right: [1, 2, 3, 4, 5, 6] });
    const isTable = !context.isPlain && widthOf(wide) <= context.columns();
    const table = isTable ? wide : spends.map(toList).join("\n\n");
    context.print(
      [
        "Cost of this session",
        "",
        table,
        "",
        `  In all: ${total === null ? "unknown" : formatCost(total)}`,
        ...HINTS,
      ].join("\n"),
    );
  },
};

const HEADINGS = ["model", "answers", "input", "output", "from cache", "to cache", "cost"];

const HINTS = [
  "  All branches are counted, at the prices of today. Requests for summaries are",
  "  not in the session's file; the status line counts those of this run too.",
];

/** One below the other, for a narrow screen. */
function toList(spend: ModelSpend): string {
  const values = toRow(spend);
  return formatRows(HEADINGS.map((heading, index) => [heading, values[index] ?? ""]));
}

function toRow({ modelId, requests, usage, cost }: ModelSpend): string[] {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const counts = [requests, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens];
  return [modelId, ...counts.map(formatNumber), cost === null ? "unknown" : formatCost(cost)];
}
