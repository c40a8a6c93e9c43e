import type { CompactionDetails } from "../../src/session/types.ts";
import { wireTexts } from "./wire-texts.ts";
import type { WorkedFiles } from "./worked-files.ts";

/** What of a session is in one of its requests. */
export interface InspectedRequest {
  /** Behind how many compactions it was made. */
  compactions: number;
  /** The user's earlier messages that the request does not contain verbatim. */
  missingConstraints: string[];
  keptFacts: number;
  /** What is wrong with the lists of files, in words. */
  wrongLists: string[];
}

/** What has been said so far. */
export interface Said {
  constraints: readonly string[];
  facts: readonly string[];
  files: WorkedFiles;
  compactions: number;
}

export function inspectRequest(
  body: unknown,
  { constraints, facts, files, compactions }: Said,
): InspectedRequest {
  const texts = wireTexts(body);
  const holds = (text: string) => texts.some((each) => each.includes(text));
  const json = JSON.stringify(body);
  const expected = files.listsWithout((callId) => json.includes(`"${callId}"`));
  return {
    compactions,
    missingConstraints: constraints.filter((constraint) => !holds(constraint)),
    keptFacts: facts.filter(holds).length,
    wrongLists: compactions === 0 ? [] : compareLists(texts[0] ?? "", expected),
  };
}

function compareLists(summary: string, { readFiles, modifiedFiles }: CompactionDetails): string[] {
  if (!summary.startsWith("[Session Summary]\n"))
    return [`no summary stands first: ${summary.slice(0, 200)}`];
  return [
    ...compareList("read-files", summary, readFiles),
    ...compareList("modified-files", summary, modifiedFiles),
  ];
}

function compareList(tag: string, summary: string, expected: readonly string[]): string[] {
  const listed = listIn(tag, summary);
  const missing = expected.filter((path) => !listed.includes(path));
  const tooMany = listed.filter((path) => !expected.includes(path));
  return [
    ...missing.map((path) => `${tag} lacks ${path}`),
    ...tooMany.map((path) => `${tag} has ${path}`),
    ...(new Set(listed).size < listed.length ? [`${tag} names a file twice`] : []),
  ];
}

/** The lines of the last such list: the program's own stands at the very end. */
function listIn(tag: string, summary: string): string[] {
  const start = summary.lastIndexOf(`\n<${tag}>\n`);
  const end = summary.indexOf(`\n</${tag}>`, start);
  return start < 0 || end < 0 ? [] : summary.slice(start, end).split("\n").slice(2);
}
