import { CHECK_KINDS, type CheckKind, type CheckRecord, hasPassed, isGreen } from "./types.ts";

/** A sentence that says that something was checked and is fine. */
export interface Claim {
  text: string;
  /** Of what kind the check would have to be; undefined for any. */
  kind: CheckKind | undefined;
  /** True for one about everything, as in "all tests pass". */
  isWhole: boolean;
  /** How many tests passed, as it says. */
  passed?: number;
}

// An answer is not longer; what follows is not looked at.
const MAX_CHARS = 100_000;
const MAX_SENTENCE_CHARS = 600;

const FINE =
  "(?:pass(?:es|ed|ing)?|(?:is|are|was|were|all|stays?|now|still|be|run[s]?|comes? back|came back|went)(?: all| now| still)? green|succeed(?:s|ed)?|successful(?:ly)?|clean(?:ly)?|(?:is|are) (?:all )?(?:fine|ok(?:ay)?|happy)|no (?:\\w+ )?(?:errors?|warnings?|problems?|issues?|failures?|complaints?)|without (?:any )?(?:errors?|warnings?|problems?|failures?|issues?)|zero (?:errors?|failures?|warnings?)|0 (?:errors?|failures?|failed|fail|warnings?))";

/** A build's directory is no build, and what builds a tree is not said to be built. */
const NOT_OF_SOMETHING =
  "(?! (?:director(?:y|ies)|dir|folders?|cache|outputs?|artifacts?|number|(?:an?|the) (?!project|code|app|package|crate|program|workspace|binary|solution)))";

const KINDS: readonly { kind: CheckKind; pattern: RegExp }[] = [
  {
    kind: "tests",
    pattern: new RegExp(
      `\\b(?:tests?|specs?|test suite|suite|pytest|jest|vitest|rspec)\\b[^.;:]*?\\b${FINE}`,
      "i",
    ),
  },
  {
    kind: "tests",
    pattern:
      /\b\d+ (?:of \d+ |\/ ?\d+ )?(?:tests? )?pass(?:ed|ing|es)?\b|\bpass(?:es|ed|ing)? (?:all )?(?:the |its )?(?:\d+ )?tests?\b|\bgreen test (?:suite|run)\b/i,
  },
  {
    kind: "types",
    pattern: new RegExp(
      `\\b(?:type[- ]?check(?:s|ing|er)?|types|tsc|mypy|pyright|typescript)\\b[^.;:]*?\\b${FINE}|\\btype[- ]?checks\\b(?! (?:the|that|it|for|against))`,
      "i",
    ),
  },
  {
    kind: "lint",
    pattern: new RegExp(
      `\\b(?:lint(?:s|er|ing)?|eslint|biome|ruff|clippy|rubocop|flake8)\\b[^.;:]*?\\b${FINE}|\\blint-free\\b`,
      "i",
    ),
  },
  {
    kind: "build",
    pattern: new RegExp(
      `\\b(?:builds?|compil(?:es|ed|ation|ing|e))\\b${NOT_OF_SOMETHING}[^.;:]*?\\b${FINE}`,
      "i",
    ),
  },
  {
    kind: "build",
    pattern:
      /\b(?:it|code|project|everything|app|package|crate|binary|program|workspace)(?: now| still| all)? (?:builds|compiles)(?=\s*(?:$|[.,;:!()—–-])| (?:and|again|cleanly|fine|now|successfully|locally|too|with|without)\b)/i,
  },
];

/** Says that something was checked, not what. */
const VERIFIED =
  /^(?:i(?:'ve| have)? |we(?:'ve| have)? |it (?:is|was|has been) |this (?:is|was|has been) |everything (?:is|was|has been) |all (?:is |was )?|fully |changes? (?:is|are|was|were|have been) |fix (?:is|was|has been) )?(?:also |then |now |just )?(?:verified|confirmed|validated|tested)\b|\b(?:i|we)(?:'ve| have)? (?:also |then |now |just )?(?:verified|confirmed|validated|tested)\b|\b(?:changes?|fix(?:es)?|it|this|everything|implementation|feature|solution|refactoring|migration|patch) (?:is|are|was|were|has been|have been) (?:now |also |all |fully )*(?:verified|tested|validated)\b|\beverything (?:works|passes|is green|is working)\b|\ball (?:checks|green)\b(?:[^.]*\b(?:pass|green|fine))?/i;

const NOT_SAID =
  /\b(?:not|no longer|never|nothing is|nothing was|cannot|can't|couldn't|didn't|don't|doesn't|isn't|aren't|wasn't|weren't|won't|haven't|hasn't|unable|failed to|fails?|failing|failed(?! \d)|unverified|untested|instead of|rather than|without (?:running|verifying|testing|checking))\b/i;
const ONLY_MEANT =
  /(?:^|: )(?:then |next,? |finally,? |now )?(?:run|check|verify|confirm|make|get)\b|^(?:[-*+] )?\[ \]|\b(?:should|will|would|could|may|might|must|shall|if|unless|once|whether|until|expect(?:ed)?|probably|likely|presumably|hopefully|to (?:verify|confirm|check|make|ensure|see|be|get|have)|need(?:s|ed)? to|have to|let me|let's|i'll|you'll|you can|please|make sure|ensure|so that|in order|next step|todo|plan(?:ned)?|wants?|goal|before (?:the|this|my) (?:change|fix|edit)|previously|already passed before|(?:used to|supposed to))\b/i;
const SAID_BY_OTHERS =
  /\b(?:sub-?agents?|reviewers?|reported|according to|says?|said|claims?|claimed|states?|stated|ci (?:says|shows)|told me|you (?:said|mentioned|reported)|(?:agent|explorer|planner|helper|worker)s? (?:has |have )?(?:found|told|saw|confirmed|verified|ran|checked|noted))\b/i;
/** Texts that may say it, if they are named beside it. */
const TEXTS = /\b(?:documentation|readme|changelog|comment|the docs|message)\b/i;
const ABOUT_TESTS =
  /\b(?:add(?:s|ed)?|wr(?:ote|ite|itten)|new|updat(?:es|ed)|renam(?:es|ed)|remov(?:es|ed)|mov(?:es|ed)|test (?:that|which) (?:checks?|verifies|asserts|ensures)|tests? (?:now |also )?(?:checks?|verif(?:y|ies)|asserts?|ensures?|covers?))\b[^.]*\b(?:when|that|where|for|which)\b/i;
const WHOLE =
  /\b(?:all|every(?:thing)?|each|whole|entire|full|complete|suite|the tests|tests (?:now |still |all )?(?:pass|are|succeed)|nothing (?:fails|failed))\b/i;

/** What separates a claim from words that are not about it, before and after it. */
interface Scope {
  before: RegExp;
  after: RegExp;
}

// What fails after all, or is excepted, belongs to the claim before it.
const AFTER = "\\((?![^)]*\\b(?:fail|except|apart|skip))|, so (?!that)";
/** A modal verb, or a report, is about all that follows: "make sure that it builds and all tests pass". */
const WIDE: Scope = { before: /[()]|\s[—–]\s|,? but\s/gi, after: new RegExp(AFTER, "gi") };
const MIDDLE: Scope = {
  before: /[()]|\s[—–]\s|,? but\s|, and\s/gi,
  after: new RegExp(`${AFTER}|, and (?:i|we)\\b`, "gi"),
};
const NARROW: Scope = {
  before: /[()]|\s[—–]\s|,? but\s|,? and\s/gi,
  after: new RegExp(`${AFTER}|,? and\\b`, "gi"),
};

/** The sentences of an answer that claim a result. Quoted text, code, questions, plans and reports are none. */
export function findClaims(answer: string): Claim[] {
  return splitSentences(answer).flatMap((sentence): Claim[] => {
    const text = sentence.trim();
    if (text.length > MAX_SENTENCE_CHARS || text.endsWith("?")) return [];
    const said = withoutHarmless(text);
    const found = new Set(
      KINDS.filter(({ kind, pattern }) => isClaimed(said, pattern, kind === "tests")).map(({ kind }) => kind),
    );
    // "TypeScript compiles" is about types.
    if (found.has("types") && /\b(?:typescript|tsc)\b/i.test(said)) found.delete("build");
    const kinds = [...found];
    if (kinds.length === 0) {
      return isClaimed(said, VERIFIED, false) ? [{ text, kind: undefined, isWhole: false }] : [];
    }
    const isWhole = WHOLE.test(said);
    return kinds.map((kind) => {
      const count =
        kind === "tests" ? /\b(\d+)(?: of \d+)? (?:\w+ )?(?:tests? )?pass/i.exec(said)?.[1] : undefined;
      return { text, kind, isWhole, ...(count !== undefined && { passed: Number(count) }) };
    });
  });
}

/** True if a pattern matches where nothing beside it takes the claim back. */
function isClaimed(said: string, pattern: RegExp, isAboutTests: boolean): boolean {
  const search = new RegExp(pattern, "gi");
  for (let match = search.exec(said); match !== null; match = search.exec(said)) {
    const end = match.index + match[0].length;
    const around = (scope: Scope) => textAround(said, match.index, end, scope);
    const wide = around(WIDE);
    const narrow = around(NARROW);
    const isTaken =
      SAID_BY_OTHERS.test(wide) ||
      ONLY_MEANT.test(wide) ||
      NOT_SAID.test(around(MIDDLE)) ||
      TEXTS.test(narrow) ||
      (isAboutTests && ABOUT_TESTS.test(narrow));
    if (!isTaken) return true;
    // A later claim may begin within this one.
    search.lastIndex = match.index + 1;
  }
  return false;
}

function textAround(text: string, start: number, end: number, { before, after }: Scope): string {
  const left = [...text.slice(0, start).matchAll(before)].at(-1);
  const right = text.slice(end).search(after);
  return text.slice(left ? left.index + left[0].length : 0, right < 0 ? undefined : end + right);
}

/** "No errors" and "0 failed" deny nothing. */
function withoutHarmless(sentence: string): string {
  return sentence
    .replace(/\b(?:0|zero|no) (?:\w+ )?fail(?:ed|ures?|s|ing)?\b/gi, "no problems")
    .replace(/\bwithout (?:any\s)?(?:errors?|failures?|warnings?|problems?|issues?)\b/gi, "cleanly")
    .replace(/\bnothing (?:fails|failed|is failing)\b/gi, "everything passes")
    .replace(/\bpreviously failing\b/gi, "")
    .replace(/\bthe failing tests?\b/gi, "the test");
}

/** Prose only: no code blocks, no quotes; code in a line and quoted words are left out. */
function splitSentences(answer: string): string[] {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of answer.slice(0, MAX_CHARS).split("\n")) {
    const mark = /^\s*(```+|~~~+)/.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence)) fence = undefined;
      continue;
    }
    if (mark !== undefined) {
      fence = mark;
      continue;
    }
    if (/^\s*>|^ {4}\S|^\t/.test(line)) continue;
    lines.push(line);
  }
  const text = lines
    .join("\n")
    .replace(/“[^”\n]*”|"[^"\n]*"|«[^»\n]*»/g, " … ")
    .replace(/`([^`\n]*)`/g, (_, code: string) =>
      /^[\w@/ .:-]{1,40}$/.test(code) ? code.replaceAll(".", " ") : "code",
    )
    .replace(/[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}/g, "");
  return text
    .split(/(?<=[.!?])\s+|\n\s*(?:[-*+•]|\d+[.)]|#+|[✓✔✅]|\|)\s*|\n\s*\n|;\s+|\s+\|\s+/u)
    .filter((part) => /\w/.test(part));
}

/** The claims that no check supports, each as its sentence, once. */
export function findUnsupported(claims: readonly Claim[], checks: readonly CheckRecord[]): string[] {
  const unsupported = claims.filter((claim) => !isSupported(claim, checks));
  return [...new Set(unsupported.map(({ text }) => text))];
}

function isSupported({ kind, isWhole, passed }: Claim, checks: readonly CheckRecord[]): boolean {
  const kinds = kind === undefined ? CHECK_KINDS : [kind];
  return checks.some(
    (check) =>
      kinds.includes(check.kind) &&
      (isWhole ? isGreen(check) : hasPassed(check) && !check.isStale) &&
      (passed === undefined || check.passed === undefined || check.passed === passed),
  );
}
