import { HIDDEN, UNKNOWN } from "./shell/text-value.ts";
import type { MessageFormat } from "./types.ts";

/** What a call of git says about the message of the commit that it makes. */
export type FoundMessage =
  | { kind: "none" }
  /** It cannot be read before the commit is made. */
  | { kind: "unseen" }
  /** `UNKNOWN` stands for what is not known. */
  | { kind: "text"; text: string };

/** @param readFile the text of a file, by its path as written. */
export function findCommitMessage(
  words: readonly string[],
  { stdin, readFile }: { stdin?: string | undefined; readFile(path: string): string | undefined },
): FoundMessage {
  const args = words.slice(1);
  const at = args.indexOf("commit");
  if (at < 0) return { kind: "none" };
  const texts: string[] = [];
  let keeps = false;
  const given = args.slice(at + 1);
  for (let index = 0; index < given.length; index++) {
    const word = given[index] ?? "";
    if (word === "--") break;
    const [name = "", ...value] = word.split("=");
    const next = () => (value.length > 0 ? value.join("=") : given[++index]);
    if (/^--mes/.test(name)) texts.push(next() ?? UNKNOWN);
    else if (/^--fil/.test(name)) texts.push(readMessage(next(), stdin, readFile));
    else if (/^--(?:no-edit|reuse-message|fixup|squash|dry-run|help|abort)/.test(name)) keeps = true;
    else if (/^-[A-Za-z]+/.test(word) && !word.startsWith("--")) {
      const letters = /^-([a-ln-zABDEG-Z]*?)([mFCcth])(.*)$/s.exec(word);
      const rest = letters?.[3] ?? "";
      const read = () => (rest === "" ? given[++index] : rest);
      if (letters?.[2] === "m") texts.push(read() ?? UNKNOWN);
      else if (letters?.[2] === "F") texts.push(readMessage(read(), stdin, readFile));
      else if (letters?.[2] === "C" || letters?.[2] === "c") {
        keeps = true;
        read();
      } else if (letters?.[2] === "h") keeps = true;
    }
  }
  if (texts.length > 0) return { kind: "text", text: texts.join("\n\n") };
  return keeps ? { kind: "none" } : { kind: "unseen" };
}

function readMessage(
  path: string | undefined,
  stdin: string | undefined,
  readFile: (path: string) => string | undefined,
): string {
  if (path === undefined) return UNKNOWN;
  return (path === "-" || path === "/dev/stdin" ? stdin : readFile(path)) ?? UNKNOWN;
}

/** What git itself writes for merges and reverts. */
const WRITTEN_BY_GIT =
  /^(?:Merge (?:(?:remote-tracking )?branch|branches|tag|commit|pull request) |Re(?:vert|apply) ")/;
const CONVENTIONAL = /^(?:revert: )?[\p{L}][\p{L}\p{N}-]*(?:\([^)]+\))?!?: \S/u;

/** Why a message does not have this format, a clause; undefined if it has. Text that is not known may be right. */
export function findFormatProblem(text: string, format: MessageFormat): string | undefined {
  const [subject = ""] = text.trimStart().split("\n", 1);
  const isPartial = text.includes(UNKNOWN) || text.includes(HIDDEN);
  if (text.replace(/[\uE000\uE001\s]/g, "") === "")
    return "its message cannot be read before it runs; give it with -m";
  // Unknown text at the beginning may be anything.
  const starts = subject.replace(/[\uE000\uE001]/g, "x");
  if (format.isConventional && !CONVENTIONAL.test(starts) && !WRITTEN_BY_GIT.test(subject))
    return "its first line is not of the form `type(scope): description`";
  if (format.maxSubject !== undefined && [...subject].length > format.maxSubject && !isPartial)
    return `its first line has ${[...subject].length} characters`;
  if (format.prefix !== undefined && !isPartial && !matchesPrefix(subject, format.prefix))
    return `its first line does not begin with ${format.prefix}`;
  if (
    format.reference !== undefined &&
    !isPartial &&
    !(format.reference === "ticket" ? /\b[A-Z][A-Z0-9]+-\d+\b/ : /#\d+/).test(text)
  )
    return "it names none";
  const found = format.without?.find((each) => text.toLowerCase().includes(each));
  if (found !== undefined) return `it contains “${found}”`;
  if (format.hasNoEmoji && /\p{Extended_Pictographic}/u.test(text)) return "it contains an emoji";
  if (format.hasNoPeriod && /\.\s*$/.test(subject)) return "its first line ends with a period";
  if (format.isLowerCase && /^(?:[^:]*:\s*)?\p{Lu}/u.test(subject))
    return "its description begins with a capital letter";
  return undefined;
}

function matchesPrefix(subject: string, prefix: string): boolean {
  const parts = prefix.split("*").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${parts.join(".+?")}`, "i").test(subject);
}
