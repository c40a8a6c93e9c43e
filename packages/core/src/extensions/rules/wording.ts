/** A part of a sentence that states one thing, and whether it forbids it. */
export interface Clause {
  /** What is forbidden or told to do, beginning with its verb or its subject; code keeps its backticks. */
  text: string;
  isForbidden: boolean;
}

const PREAMBLE =
  /^(?:(?:important|critical|note|warning|caution|attention|rule|mandatory|required|reminder|remember|policy|security|git|commits?|style|general|nb|ps)(?: \d+)?\s*(?::|!|-|–|—)\s*|(?:and|but|also|again|then|so|please|kindly|instead|additionally|finally|first|otherwise|remember:?|remember to|be sure to|make sure (?:to|that you|you)|make sure|ensure (?:that )?you|ensure to|don'?t forget to|do not forget to|never forget to|always remember to|it is (?:required|mandatory|essential) (?:to|that you)|(?:you|we|agents?|ai agents?|assistants?|claude|codex|contributors?|developers?|everyone|all agents|all contributors) (?:must|should|shall|need to|have to|are (?:required|expected) to|will)(?! not|n'?t)|(?:you|agents?|claude) (?=must not|should not|mustn|shouldn|may not|cannot|can'?t|are not|never))(?:,|\b)\s*|(?:(?:[\p{S}•‼\s]|\uFE0F)(?<![`+=<>$~^|]))+)/iu;

const FORBIDS =
  /^(?:(?:you |agents? |claude |we |it |code )?(?:must|should|shall|may|can|ought|will|do|does|are|is) ?(?:not|n'?t)(?: allowed to| permitted to| to be| to)?|(?:must |should )?never(?: ever)?(?:, ever,?)?|don'?t ever|don'?t|do not ever|mustn'?t|shouldn'?t|cannot|can'?t|refrain from|under no circumstances,?(?: (?:should|may|must) you)?|at no (?:time|point),?(?: (?:should|may) you)?|strictly no|absolutely no|no)\s+(?:(?:ever|directly|simply|just|blindly|accidentally|intentionally|under any circumstances|attempt to|try to)\s+)*/i;

/** The gerunds and nouns that a prohibition may have instead of a verb. */
const VERBS: readonly (readonly [RegExp, string])[] = [
  [/^(?:the )?(?:use|usage|using) (?:of )?/i, "use "],
  [/^(?:running|executing|calling|invoking|run|execute|invoke|call|issue|issuing) /i, "run "],
  [
    /^(?:direct |manual |any |new |more |other )*(?:edits?|changes?|modifications?|writes?|additions?|manual edits?|direct edits?) (?:to|in|of|inside|under|within) /i,
    "edit ",
  ],
  [
    /^(?:hand[- ]?edit(?:ing)?|manually (?:edit|editing|modify|modifying|change|update)|directly (?:edit|modify|change)|editing|modifying|changing|touching|altering|updating|writing to|writing into|modify|alter|touch|write to|write into|write in|make (?:any )?changes? (?:to|in)|make (?:any )?edits? (?:to|in)|tamper with|overwrite|overwriting|edit) /i,
    "edit ",
  ],
  [/^(?:deleting|removing) /i, "delete "],
  [/^(?:creating|generating) /i, "create "],
  [/^(?:adding|introducing|introduce|pulling in|pull in|bring in) /i, "add "],
  [/^(?:installing) /i, "install "],
  [
    /^(?:reading|opening|printing|accessing|viewing|displaying|logging|print|access|view|display|open|cat|look (?:at|into|inside)|inspect) (?=[`./]|the\b|files?\b|anything|any\b|from\b)/i,
    "read ",
  ],
  [/^(?:direct |directly |straight )?(?:push(?:es|ing)?)(?=$|\W)/i, "push"],
  [/^(?:direct |directly )?(?:commits|committing)(?=$|\W)/i, "commit"],
  [/^(?:direct |git )?(?:force[- ]?push(?:es|ing)?)(?=$|\W)/i, "force-push"],
  [/^(?:amending) /i, "amend "],
  [/^(?:rebasing|rebases)(?=$|\W)/i, "rebase"],
  [/^(?:merging|merges)(?=$|\W)/i, "merge"],
  [/^(?:skipping) /i, "skip "],
  [/^(?:bypassing) /i, "bypass "],
  [/^(?:publishing)(?=$|\W)/i, "publish"],
];

function toVerb(text: string): string {
  for (const [pattern, verb] of VERBS) {
    const match = pattern.exec(text);
    if (match)
      return `${verb}${text.slice(match[0].length)}`.replace(
        /^(push|commit|force-push|rebase|merge|publish)(?=\w)/,
        "$1 ",
      );
  }
  return text;
}

const PASSIVE =
  /^(?:the |all |any |files? (?:in|under|inside|below|within) (?:the )?|everything (?:in|under) |anything (?:in|under) )?(.{1,120}?),? (?:(?:must|should|shall|may|can|will|is|are|ought)(?:n'?t| not| never)(?: to)?(?: ever)? be|is never|are never|(?:is|are)(?: not|n'?t)(?: to be)?)(?: (?:manually|directly|hand-?))? ?(used|run|executed|called|invoked|edited|hand-edited|modified|changed|touched|altered|updated|written(?: to)?|overwritten|deleted|removed|created|added|installed|introduced|committed|read|opened|pushed(?: to)?|amended|allowed|permitted|accepted|skipped|bypassed)\b(.*)$/i;

const BANNED =
  /^(.{1,120}?) (?:is|are) (?:strictly |explicitly |absolutely |completely )?(?:forbidden|prohibited|banned|disallowed|off[- ]limits|read[- ]only|not ok(?:ay)?|verboten|a no-go)\b(.*)$/i;

const PARTICIPLES: Readonly<Record<string, string>> = {
  used: "use",
  run: "run",
  executed: "run",
  called: "run",
  invoked: "run",
  deleted: "delete",
  removed: "delete",
  created: "create",
  added: "add",
  installed: "install",
  introduced: "add",
  committed: "commit",
  read: "read",
  opened: "read",
  amended: "amend",
  skipped: "skip",
  bypassed: "bypass",
};

/** The clauses of a sentence that tell to do something or forbid it. */
export function readClauses(sentence: string): Clause[] {
  return splitClauses(sentence).map(readClause);
}

function readClause(given: string): Clause {
  let text = given
    .trim()
    .replace(/[.!;,:]+$/, "")
    .trim();
  for (let match = PREAMBLE.exec(text); match && match[0] !== ""; match = PREAMBLE.exec(text))
    text = text.slice(match[0].length).trim();
  const forbids = FORBIDS.exec(text);
  if (forbids) return { text: toVerb(text.slice(forbids[0].length)), isForbidden: true };
  const passive = PASSIVE.exec(text);
  if (passive) return { text: fromPassive(passive), isForbidden: true };
  const banned = BANNED.exec(text);
  if (banned) return { text: fromBanned(text, banned), isForbidden: true };
  return { text: text.replace(/^always\s+/i, ""), isForbidden: false };
}

function fromPassive([, subject = "", participle = "", rest = ""]: RegExpExecArray): string {
  const word = participle.toLowerCase();
  if (/^(?:allowed|permitted|accepted)$/.test(word)) return toSubject(subject) + rest;
  if (/^pushed/.test(word)) return `push to ${subject}${rest}`;
  return `${PARTICIPLES[word] ?? "edit"} ${subject}${rest}`;
}

function fromBanned(text: string, [, subject = "", rest = ""]: RegExpExecArray): string {
  return /off[- ]limits|read[- ]only/i.test(text) && !/^push|^commit|^force/i.test(subject)
    ? `edit ${subject}${rest}`
    : toSubject(subject) + rest;
}

/** What is not allowed may be an action or a thing. */
function toSubject(subject: string): string {
  const verb = toVerb(subject);
  return verb === subject && /^`/.test(subject) ? `use ${subject}` : verb;
}

/** Where another statement begins within a sentence. */
const BOUNDARY =
  /(?:,? and |,? but |, |; | [-–—]+ ?|: |\. |\()(?=(?:please )?(?:never|do not|don'?t|must not|should not|always|you must (?:not|never))\b)|,? and (?=(?:keep|run|use)\b)|\)\s*/i;

function splitClauses(sentence: string): string[] {
  const parts: string[] = [];
  let rest = sentence;
  for (;;) {
    const hidden = rest.replace(/`[^`]*`/g, (code) => "`".repeat(code.length));
    const match = BOUNDARY.exec(hidden);
    if (!match) break;
    parts.push(rest.slice(0, match.index));
    rest = rest.slice(match.index + match[0].length);
  }
  return [...parts, rest].filter((part) => /\p{L}/u.test(part));
}

/** The pieces of code in a text, without their backticks. */
export function listCode(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code.trim());
}

/** Splits a command as plain words; quotes keep a word together. */
export function splitWords(command: string): string[] {
  const words = command.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? [];
  return words.map((word) => word.replace(/^(["'])(.*)\1$/, "$2"));
}
