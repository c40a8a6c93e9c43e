import type { ModelDefinition } from "@diligent/core/run";
import { sanitizeTerminalText, toSingleLine } from "../text/terminal-text.ts";

/** A model and its source; both flags are false for a model that is merely known. */
export interface ListedModel extends ModelDefinition {
  /** The default model. */
  isDefault: boolean;
  /** Named by the configuration. */
  isConfigured: boolean;
}

/** A provider in the table; `name` is `ModelDefinition.provider`. */
export interface ModelProvider {
  name: string;
  hasKey: boolean;
  /** The environment variable of its key; the user's own servers have none. */
  keyVariable?: string;
  /** Its address, if configured. */
  baseUrl?: string;
}

interface TableContext {
  /** In the order of the table. */
  providers: readonly ModelProvider[];
  /** The configured model and the source of that setting. */
  configured: string | undefined;
}

const MAX_COLUMNS = 80;
// Fits the longest known id with its marks. Longer ones get a line of their own.
const NAME_COLUMNS = 29;
const MAX_NAME_COLUMNS = 200;
const HEADINGS = ["   model", "window", "output", "$ in/out", "thinking", "aliases"] as const;

type Row = readonly [name: string, window: string, output: string, price: string, thinking: string];

/** The models as a table of 80 columns, grouped by provider. Ends with a line feed. */
export function formatModels(models: readonly ListedModel[], context: TableContext): string {
  const rows = models.map((model) => ({ model, row: toRow(model) }));
  const [, ...headings] = HEADINGS;
  const widths = headings.map((heading, index) =>
    Math.max(heading.length, ...rows.map(({ row }) => Bun.stringWidth(row[index + 1] ?? ""))),
  );
  const lines = context.providers.flatMap((provider) => {
    const own = rows.filter(({ model }) => model.provider === provider.name);
    return [
      ...describeProvider(provider, own.length),
      ...own.flatMap(({ model, row }) => formatRow(row, model.aliases ?? [], widths)),
      "",
    ];
  });
  const heading = formatRow(
    [HEADINGS[0], HEADINGS[1], HEADINGS[2], HEADINGS[3], HEADINGS[4]],
    [HEADINGS[5]],
    widths,
  );
  return sanitizeTerminalText([...heading, ...lines, ...describeMarks(models, context), ""].join("\n"));
}

function toRow(model: ListedModel): Row {
  const marks = `${model.isConfigured ? ">" : " "}${model.isDefault ? "*" : " "} `;
  const limit = (name: "contextWindow" | "maxOutputTokens") =>
    model.assumed?.includes(name) ? "unknown" : formatTokenLimit(model[name]);
  return [
    marks + toSingleLine(model.id, MAX_NAME_COLUMNS),
    limit("contextWindow"),
    limit("maxOutputTokens"),
    formatPrice(model),
    model.thinking ?? "unknown",
  ];
}

function formatRow(row: Row, aliases: readonly string[], widths: readonly number[]): string[] {
  const [name, window, output, price, thinking] = row;
  const [windowColumns = 0, outputColumns = 0, priceColumns = 0, thinkingColumns = 0] = widths;
  const isLong = Bun.stringWidth(name) > NAME_COLUMNS;
  const figures = [
    padEnd(isLong ? "" : name, NAME_COLUMNS),
    window.padStart(windowColumns),
    output.padStart(outputColumns),
    "",
    price.padEnd(priceColumns),
    "",
    thinking.padEnd(thinkingColumns),
    "",
  ].join(" ");
  const columns = MAX_COLUMNS - figures.length;
  const names = wrapNames(aliases, columns);
  const [first = ""] = names;
  const beside = Bun.stringWidth(first) <= columns ? names.splice(0, 1) : [];
  const below = names.map((line) => {
    const indent = Math.min(figures.length, Math.max(0, MAX_COLUMNS - Bun.stringWidth(line)));
    return " ".repeat(indent) + line;
  });
  const lines = [figures + beside.join(""), ...below].map((line) => line.trimEnd());
  return isLong ? [name, ...lines] : lines;
}

/** Comma-separated names, wrapped to this many columns if possible. */
function wrapNames(names: readonly string[], columns: number): string[] {
  const lines: string[] = [];
  for (const [index, alias] of names.entries()) {
    const name = toSingleLine(alias, MAX_NAME_COLUMNS) + (index < names.length - 1 ? "," : "");
    const joined = `${lines.at(-1)} ${name}`;
    if (lines.length > 0 && Bun.stringWidth(joined) <= columns) lines[lines.length - 1] = joined;
    else lines.push(name);
  }
  return lines;
}

function padEnd(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - Bun.stringWidth(text)));
}

/** Such as `200k`, `1.05M` or `8.2k`. */
export function formatTokenLimit(tokens: number): string {
  if (tokens < 1_000) return String(tokens);
  const thousands = Number((tokens / 1_000).toFixed(1));
  return thousands < 1_000 ? `${thousands}k` : `${Number((tokens / 1_000_000).toFixed(2))}M`;
}

/** US dollars per million input and output tokens. */
export function formatPrice({ inputCostPer1M, outputCostPer1M }: ModelDefinition): string {
  if (inputCostPer1M === undefined && outputCostPer1M === undefined) return "unknown";
  const format = (price: number | undefined) => (price === undefined ? "?" : Number(price.toPrecision(4)));
  return `${format(inputCostPer1M)}/${format(outputCostPer1M)}`;
}

function describeProvider(provider: ModelProvider, listed: number): string[] {
  const { name, hasKey, keyVariable, baseUrl } = provider;
  const missing = keyVariable === undefined ? "no key" : `no key: set ${keyVariable}`;
  const notes = [...(baseUrl === undefined ? [] : [placeOf(baseUrl)]), ...(hasKey ? [] : [missing])];
  const heading = notes.length === 0 ? name : `${name} (${notes.join(", ")})`;
  const isOwn = keyVariable === undefined;
  return listed === 0 && isOwn ? [heading, `   no models are listed; any works as ${name}/MODEL`] : [heading];
}

/** An address without credentials. */
export function placeOf(baseUrl: string): string {
  const { protocol, host, pathname } = new URL(baseUrl);
  return `${protocol}//${host}${pathname}`;
}

const GUESSES = [
  "Where a limit is unknown, a conservative one is used; set contextWindow and",
  "maxOutputTokens in the configuration to override it.",
];

const SERVERS = [
  "Any model of your servers works as NAME/MODEL, with a context window of 32,768",
  "tokens unless contextWindow is set.",
];

function describeMarks(models: readonly ListedModel[], { providers, configured }: TableContext): string[] {
  const isGuessed = models.some(({ assumed = [] }) => assumed.length > 0);
  const hasServer = providers.some(({ keyVariable }) => keyVariable === undefined);
  return [
    `* default${configured === undefined ? ", used here" : ""}`,
    ...(configured === undefined ? [] : [`> configured: ${toSingleLine(configured, MAX_NAME_COLUMNS)}`]),
    "Prices are in US dollars per million input/output tokens.",
    ...(isGuessed ? GUESSES : []),
    ...(hasServer ? SERVERS : []),
  ];
}
