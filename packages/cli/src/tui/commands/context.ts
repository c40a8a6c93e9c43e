import { measureSystemPrompt, type PromptShares } from "@diligent/core/interactive";
import type { ContextUsage } from "@diligent/core/run";
import { formatNumber, formatRows } from "./format-rows.ts";
import type { SlashCommand } from "./types.ts";

const BAR_COLUMNS = 20;
const BAR_FROM_COLUMNS = 60;

/** `/context`: estimates what each cause has of the context window; on a wide screen with bars. */
export const CONTEXT: SlashCommand = {
  name: "context",
  description: "What fills the model's window, by cause",
  isAlwaysPossible: true,
  async run(_, { columns, isPlain, session, print }) {
    const { session: manager, model, promptParts } = await session();
    const usage = await manager.describeContext();
    const lines = describe(
      usage,
      measureSystemPrompt(promptParts()),
      !isPlain && columns() >= BAR_FROM_COLUMNS,
    );
    print([`Context of ${model.id}`, "", ...lines].join("\n"));
  },
};

/** The rows of a table, and what is to be known about its numbers. */
function describe(usage: ContextUsage, prompt: PromptShares, hasBars: boolean): string[] {
  const { contextWindow, tokens, isEstimate, compactsAt } = usage;
  const row = (label: string, count: number, mark: string) => {
    const share = contextWindow > 0 ? count / contextWindow : 0;
    const bar = hasBars ? [toBar(share)] : [];
    return [label, mark + formatNumber(count), `${Math.round(share * 100)}%`, ...bar];
  };
  const causes = listCauses(usage, prompt).map(([label, count]) => row(label, count, "≈ "));
  const total = isEstimate ? "≈ " : "";
  const free = Math.max(0, contextWindow - tokens);
  return [
    formatRows([...causes, row("free", free, total), row("used", tokens, total)], { right: [1, 2] }),
    "",
    `  The window has ${formatNumber(contextWindow)} tokens.${describeLimit(compactsAt)}`,
    isEstimate
      ? "  ≈ is an estimate by length."
      : "  The provider has counted what is used; ≈ is an estimate by length.",
  ];
}

function listCauses({ causes }: ContextUsage, prompt: PromptShares): [string, number][] {
  const characters = prompt.base + prompt.instructions + prompt.knowledge;
  const ofPrompt = (share: number) =>
    characters === 0 ? 0 : Math.round((causes.systemPrompt * share) / characters);
  const instructions = ofPrompt(prompt.instructions);
  const knowledge = ofPrompt(prompt.knowledge);
  return [
    ["system prompt", causes.systemPrompt - instructions - knowledge],
    ["instructions", instructions],
    ["knowledge", knowledge],
    ["tools", causes.tools],
    ["summary", causes.summary],
    ["user", causes.user],
    ["assistant", causes.assistant],
    ["tool results", causes.toolResults],
  ];
}

function describeLimit(compactsAt: number | undefined): string {
  return compactsAt === undefined
    ? " Nothing is summarised by itself."
    : ` From ${formatNumber(compactsAt)} on the older part is summarised.`;
}

function toBar(share: number): string {
  return "■".repeat(Math.max(0, Math.min(BAR_COLUMNS, Math.round(share * BAR_COLUMNS))));
}
