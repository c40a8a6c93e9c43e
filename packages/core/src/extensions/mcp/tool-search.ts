import type { CatalogTool } from "./catalog.ts";

/** A tool by the name under which the model calls it. */
export type SearchedTool = CatalogTool;

const MAX_FOUND = 5;
const MAX_SELECTED = 20;
// The rest can be found by other words.
const MAX_CHARS = 24_000;

const NAME_WEIGHT = 4;
const ARGUMENT_WEIGHT = 1;
const DESCRIPTION_WEIGHT = 2;

/**
 * The tools that a query means, the best first: `select:a,b` by exact names, `+word` only with that word in the name,
 * otherwise by the words of name, description and arguments. Rare words count more.
 */
export function searchTools(tools: readonly SearchedTool[], query: string): SearchedTool[] {
  const [, selected] = /^\s*select:(.*)$/s.exec(query) ?? [];
  if (selected !== undefined) {
    const wanted = selected.split(",").map((name) => name.trim());
    return tools
      .filter(({ name }) => wanted.includes(name) || wanted.includes(name.slice(5)))
      .slice(0, MAX_SELECTED);
  }
  const required = [...query.matchAll(/(?:^|\s)\+(\S+)/g)].map((match) => (match[1] ?? "").toLowerCase());
  const candidates = tools.filter(({ name }) => required.every((word) => name.toLowerCase().includes(word)));
  const words = toWords(query);
  const indexed = candidates.map(toIndexed);
  const rarity = new Map(
    words.map((word) => [
      word,
      Math.log(1 + indexed.length / (1 + indexed.filter((each) => has(each, word)).length)),
    ]),
  );
  return indexed
    .map((each) => ({
      tool: each.tool,
      score: words.reduce((sum, word) => sum + score(each, word) * (rarity.get(word) ?? 0), required.length),
    }))
    .filter(({ score: value }) => value > 0)
    .sort((left, right) => right.score - left.score)
    .slice(0, MAX_FOUND)
    .map(({ tool }) => tool);
}

interface IndexedTool {
  tool: SearchedTool;
  name: readonly string[];
  description: readonly string[];
  arguments: readonly string[];
}

function toIndexed(tool: SearchedTool): IndexedTool {
  const { properties } = tool.inputSchema;
  const names = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  return {
    tool,
    name: toWords(tool.name.replace(/^mcp__/, "")),
    description: toWords(tool.description),
    arguments: names.flatMap(toWords),
  };
}

function score(tool: IndexedTool, word: string): number {
  return (
    NAME_WEIGHT * countMatches(tool.name, word) +
    DESCRIPTION_WEIGHT * Math.min(2, countMatches(tool.description, word)) +
    ARGUMENT_WEIGHT * Math.min(1, countMatches(tool.arguments, word))
  );
}

function has(tool: IndexedTool, word: string): boolean {
  return score(tool, word) > 0;
}

/** A longer word counts for its beginning, too: `issues` for `issue`. */
function countMatches(words: readonly string[], wanted: string): number {
  const isMatch = (word: string) =>
    word === wanted ||
    (wanted.length >= 3 && word.startsWith(wanted)) ||
    (word.length >= 4 && wanted.startsWith(word));
  return words.filter(isMatch).length;
}

function toWords(text: string): string[] {
  const parts = text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase();
  return [...new Set(parts.split(/[^\p{L}\p{N}]+/u).filter((word) => word.length > 1))];
}

/** What the model reads about the tools that were found. */
export function formatFoundTools(tools: readonly SearchedTool[], query: string): string {
  if (tools.length === 0) return `No tool matches ${JSON.stringify(query)}. Try other words.`;
  const texts = tools.map(
    ({ name, description, inputSchema }) => `${name}\n${description}\nschema: ${JSON.stringify(inputSchema)}`,
  );
  let size = 0;
  const shown = texts.filter((text) => {
    size += text.length;
    return size <= MAX_CHARS || size === text.length;
  });
  const left = texts.length - shown.length;
  return [...shown, ...(left > 0 ? [`${left} more, too long to be shown together`] : [])].join("\n\n");
}
