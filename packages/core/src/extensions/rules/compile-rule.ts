import type { CheckKind } from "../evidence/types.ts";
import { compileCommitFormat } from "./commit-wording.ts";
import { findCondition, isAdvice, isForeign, isNegatedTwice } from "./conditions.ts";
import { findOthers, isProgram, SKIPPED_HOOKS, toPatterns, WORDED_ACTIONS } from "./known-commands.ts";
import { compilePaths } from "./path-wording.ts";
import type { CheckGuard, CommandPattern, Compiled, Sentence } from "./types.ts";
import { type Clause, listCode, readClauses, splitWords } from "./wording.ts";

/** What shows that a sentence may tell how to work. */
const IMPERATIVE =
  /\b(?:never|always|must|do not|don'?t|only|cannot|should not|shouldn'?t|mustn'?t|forbidden|prohibited|banned|not allowed|off[- ]limits|required?|ensure|make sure|refrain|under no circumstances|avoid|prefer)\b|^(?:\P{L}*)(?:please )?(?:no|use|run|keep|follow|write|add|commit|check|test|put|name|prefix|format|start|stop|work|create|read|update|edit|sign|squash)\b|\bcommit messages?\b|\bis generated\b|\bbefore (?:you )?(?:finish|commit|push)|\b(?:after|before|when|once)\b.*\brun\b/iu;

const FORBIDDING_LEAD =
  /^(?:never|do not|don'?t|must not|you must not|you must never|forbidden|prohibited|not allowed|avoid|off[- ]limits|what not|hard no|things|under no)/i;

const NOTHING_KNOWN = "it names no command, path or check that can be recognized";

/**
 * Compiles a sentence to what a program can decide by, without a model: only wordings that are known and leave no doubt.
 * @returns undefined for a sentence that tells nothing to do.
 */
export function compileSentence(sentence: Sentence): Compiled | undefined {
  const { text, lead, isQuoted } = sentence;
  const plain = text.replace(/`[^`]*`/g, "``");
  if (isForeign(plain)) return { reason: "it is not in English" };
  const isForbiddenByLead = lead !== undefined && FORBIDDING_LEAD.test(lead);
  if (!isForbiddenByLead && !IMPERATIVE.test(text) && !(lead !== undefined && IMPERATIVE.test(lead)))
    return undefined;
  const unquoted = plain.replace(/(^|[\s(])["“'‘][^"”]{3,}["”'’](?=$|[\s.,;:!?)])/g, "$1");
  if (isQuoted || (!isForbiddenByLead && IMPERATIVE.test(plain) && !IMPERATIVE.test(unquoted)))
    return { reason: "it is quoted" };
  if (/\?["”')]*$/.test(text)) return { reason: "it is a question" };
  // A line that leads to a list or a code block is one only together with it.
  const compiled = compileWithLead(sentence, isForbiddenByLead);
  return /:$/.test(text) && compiled && !("guards" in compiled) ? undefined : compiled;
}

function compileWithLead(sentence: Sentence, isForbiddenByLead: boolean): Compiled | undefined {
  const { text, lead } = sentence;
  if (lead === undefined) return compileText(text, sentence);
  if (isForbiddenByLead) {
    const isNegative = /^(?:never|do not|don'?t|no |must not)/i.test(text);
    return compileText(isNegative ? text : `Never ${lowerFirst(text)}`, sentence);
  }
  const together = compileText(`${lead.replace(/\s*:\s*$/, "")} ${text}`, sentence);
  if (together && "guards" in together) return together;
  return IMPERATIVE.test(text) ? compileText(text, sentence) : undefined;
}

function compileText(text: string, sentence: Sentence): Compiled | undefined {
  if (isNegatedTwice(text)) return { reason: "it is negated twice" };
  const whole = compileAlternatives(text) ?? compileChecks(text) ?? compileCommitFormat(text);
  if (whole !== undefined) return whole;
  if (isAdvice(text.replace(/`[^`]*`/g, "``"))) return { reason: "it is advice, not a rule" };
  const compiled = readClauses(text).flatMap((clause) => compileClause(clause, sentence) ?? []);
  const guards = compiled.flatMap((each) => ("guards" in each ? each.guards : []));
  if (guards.length > 0) return { guards };
  return compiled.find((each) => "reason" in each) ?? { reason: NOTHING_KNOWN };
}

function compileClause(clause: Clause, sentence: Sentence): Compiled | undefined {
  return (
    compileDependencies(clause) ??
    compilePaths(clause, sentence) ??
    (clause.isForbidden ? compileForbidden(clause) : compileDemanded(clause))
  );
}

/** `use bun, not npm` and the like. */
const ALTERNATIVES: readonly RegExp[] = [
  /\b(?:use|using|run|running) (?<use>.+?),? (?:and not|but not|not|never|and never) (?:with |use |using |run |via )?(?<refused>.+)$/i,
  /\b(?:use|using|run) (?<use>.+?) (?:instead of|rather than|in place of|in favou?r of not) (?<refused>.+)$/i,
  /\b(?:instead of|rather than) (?<refused>.+?), (?:always )?(?:use|run) (?<use>.+)$/i,
  /\b(?:do not|don'?t|never|must not) (?:use|run|call) (?<refused>.+?)(?:,|;|:| [-–—]| and| but|\.)+ (?:please |always |instead |only |instead,? )*(?:use|run|prefer) (?<use>.+)$/i,
  /\b(?:always|only|must) (?:use|run) (?<use>.+?) (?:over) (?<refused>.+)$/i,
];

const OBJECT_END =
  /,? (?:for (?:all|any|every|package|managing|running|dependency|installing|scripts?|tests?|testing|everything|the|this|it|dependencies|python|javascript|node)\b|in (?:this|the|our|all|any)\b|to (?:run|install|manage|add|execute|build|test|search|start|format|lint)\b|as (?:the|a|our|your)\b|when\b|because\b|since\b|here\b|everywhere\b|throughout\b|exclusively\b|at all\b|anywhere\b|ever\b|directly\b|globally\b|[-–—] |\(|e\.g\.|i\.e\.|, which|, as|, so|, because|, since|, it|, they|, this).*$/i;

function compileAlternatives(text: string): Compiled | undefined {
  const clean = text.replace(/[.!;]+$/, "");
  for (const pattern of ALTERNATIVES) {
    const { use, refused } = pattern.exec(clean)?.groups ?? {};
    if (use === undefined || refused === undefined) continue;
    if (/\b(?:if|when|unless|while)\b/i.test(refused.replace(/`[^`]*`/g, ""))) continue;
    const names = listCommands(refused.replace(/^(?:plain|raw|bare|direct(?:ly)?|the) /i, ""));
    if (names === undefined) continue;
    const chosen = listCommands(use);
    const behind = chosen?.find((words) =>
      names.some(
        (name) =>
          words.length > name.length &&
          name.every((word, index) => words[words.length - name.length + index] === word),
      ),
    );
    const patterns = names.flatMap((words) =>
      toPatterns(words).map((refusedPattern) =>
        behind === undefined
          ? refusedPattern
          : { ...refusedPattern, unlessBehind: behind.slice(0, -words.length).join(" ") },
      ),
    );
    // What the rule tells to use is not refused, such as `uv pip` in place of `pip`.
    const kept = patterns.filter(
      ({ words }) =>
        !chosen?.some(
          (name) =>
            startsWith(words, name) &&
            name.length >= 1 &&
            words.length >= name.length &&
            name.join(" ") !== names[0]?.join(" "),
        ),
    );
    if (kept.length > 0)
      return { guards: [{ kind: "command", refused: kept, ...(chosen && { instead: chosen }) }] };
  }
  return undefined;
}

function startsWith(words: readonly string[], prefix: readonly string[]): boolean {
  return prefix.every((word, index) => words[index] === word);
}

/**
 * The commands that a list names, such as `npm`, `yarn` or `pnpm`: in code, or known programs in plain words.
 * Undefined if it names anything else.
 */
function listCommands(list: string): string[][] | undefined {
  const cut = cutObject(list);
  const code = listCode(cut);
  const outside = cut
    .replace(/`[^`]*`/g, " ")
    .replace(
      /[,/]|\b(?:or|and|nor|any|other|commands?|the|cli|directly|a|an|plain|raw|calls?|binary|tool|package manager|script|globally|of|either|ever|with|flag|option|switch|the use)\b/gi,
      " ",
    )
    .trim();
  if (code.length > 0) {
    if (outside !== "") return undefined;
    const commands = code.map((text) =>
      splitWords(text.replace(/\s*(?:<[^>]*>|\[[^\]]*\]|…|\.\.\.|\*)+\s*$/g, "")),
    );
    return commands.every((words) => isCommand(words)) ? commands : undefined;
  }
  const names = cut.split(/\s*(?:,|\/|\bor\b|\band\b|\bnor\b)\s*/i).filter((name) => name !== "");
  const commands = names.map((name) =>
    splitWords(
      name
        .replace(/^(?:the |any |plain )/i, "")
        .replace(/ (?:cli|commands?|directly|binary|tool|script)$/i, "")
        .toLowerCase(),
    ),
  );
  const areKnown = commands.length > 0 && commands.every((words) => isKnownInWords(words));
  return areKnown ? commands : undefined;
}

function cutObject(list: string): string {
  const hidden = list.replace(/`[^`]*`/g, (code) => "`".repeat(code.length));
  const at = OBJECT_END.exec(hidden)?.index ?? hidden.length;
  return list
    .slice(0, at)
    .replace(/[.,;:!)]+$/, "")
    .trim();
}

function isCommand([program = "", ...rest]: readonly string[]): boolean {
  if (program === "" || /[(){}=<>$]/.test(program) || rest.some((word) => /^[|&;<>]+$/.test(word)))
    return false;
  return (
    isProgram(program, true) ||
    /^\.{1,2}\/[\w./-]+$/.test(program) ||
    (rest.length > 0 && /^[a-z][\w.-]*$/.test(program) && rest.some((word) => word.startsWith("-")))
  );
}

/** In plain words: one known program, or one with subcommands and options only. */
function isKnownInWords([program = "", ...rest]: readonly string[]): boolean {
  return (
    isProgram(program, false) &&
    rest.length <= 3 &&
    rest.every((word) =>
      /^-{1,2}[\w-]+$|^(?:install|add|run|test|build|push|commit|exec|i|ci|publish|start|dev|stash|rebase|reset|merge|amend)$/.test(
        word,
      ),
    )
  );
}

const TAILS =
  /,? (?:directly|manually|yourself|by hand|ever|under any circumstances|at any time|for any reason|in any case|in this (?:repo(?:sitory)?|project|codebase|workspace)|here|on your own|on my behalf|to (?:the |any )?(?:remotes?|origin|upstream|github|remote repositor(?:y|ies))|any (?:code|changes)|changes|code|your (?:changes|work)|anything|at all|automatically|autonomously|from (?:this|the) .*|in git|locally|for me)$/i;
const EXPLANATION =
  /(?:,? (?:because|since|as (?:it|this|they|that)|so that|[-–—]+) .*|,;? (?:it|its|this|that|they|these|those|there|other|others|we|our|you|your|the|use|which|instead) .*|[:(].*| [-–—] .*)$/i;

function withoutTails(text: string): string {
  let rest = text.replace(/[.!;,]+$/, "");
  for (let cut = rest.replace(TAILS, ""); cut !== rest; cut = rest.replace(TAILS, "")) rest = cut;
  return rest;
}

function compileForbidden({ text }: Clause): Compiled | undefined {
  const hidden = text.replace(/`[^`]*`/g, (code) => "`".repeat(code.length));
  const told = text.slice(0, EXPLANATION.exec(hidden)?.index ?? text.length).trim();
  const found = compileWithoutCheck(told) ?? compileBranches(told) ?? compileOptions(told);
  if (found) return found;
  const condition = findCondition(told);
  const action = withoutTails(
    (condition === undefined ? told : told.slice(0, told.lastIndexOf(condition))).trim(),
  );
  const refused = findAction(action) ?? findCommands(action);
  if (refused === undefined) return undefined;
  if (condition !== undefined)
    return { reason: `it depends on something that cannot be checked: “${condition}”` };
  return { guards: [{ kind: "command", refused }] };
}

function findAction(text: string): readonly CommandPattern[] | undefined {
  const words = text.replaceAll("`", "").toLowerCase().trim();
  const parts = words.split(/,? (?:or|and|nor) (?:never )?|, /);
  const found = parts.map(
    (part) => WORDED_ACTIONS.find(([pattern]) => pattern.test(withoutTails(part.trim())))?.[1],
  );
  return found.every((patterns) => patterns !== undefined)
    ? found.flatMap((patterns) => patterns ?? [])
    : undefined;
}

function findCommands(text: string): CommandPattern[] | undefined {
  const match = /^(?:use|run|install|rely on|touch|reach for|start|invoke)\s+(?:the )?(?<list>.+)$/i.exec(
    text,
  );
  const list =
    match?.groups?.list ??
    (/^`[^`]+`(?:(?:,| or| and| nor|,? or|\/)\s*`[^`]+`)*$/.test(text)
      ? text
      : isKnownInWords(splitWords(text.toLowerCase()))
        ? text
        : undefined);
  return list === undefined ? undefined : listCommands(list)?.flatMap(toPatterns);
}

/** `never use --no-verify`, `do not pass --force to git push`. */
function compileOptions(text: string): Compiled | undefined {
  const match =
    /^(?:use|pass|add|run(?: \S+)? with|commit with|push with|append|supply|include|specify|set)?\s*(?:the )?(?<list>`?--?[a-z][\w-]*`?(?:(?:,| or| and|\/|,? or)\s*`?--?[a-z][\w-]*`?)*)(?: (?:flags?|options?|switch(?:es)?))?(?: (?:with|to|on|for|when|in|while) (?:using |running )?(?<where>`[^`]+`|git commits?|git push|git|commits?|committing|push(?:es|ing)?|npm|pnpm|yarn|bun))?$/i.exec(
      withoutTails(text),
    );
  const list = match?.groups?.list;
  if (list === undefined) return undefined;
  const options: string[] = list.match(/--?[a-z][\w-]*/gi) ?? [];
  const where = match?.groups?.where?.replaceAll("`", "").toLowerCase();
  const program =
    where === undefined ? /^(commit|push|run (\S+)) with/i.exec(text)?.[1]?.toLowerCase() : where;
  const words =
    program === undefined
      ? []
      : /commit/.test(program)
        ? ["git", "commit"]
        : /push/.test(program)
          ? ["git", "push"]
          : splitWords(program.replace(/^run /, ""));
  if (words.length > 0 && !isProgram(words[0] ?? "", true)) return undefined;
  if (options.some((option) => option === "--no-verify"))
    return { guards: [{ kind: "command", refused: SKIPPED_HOOKS }] };
  return { guards: [{ kind: "command", refused: [{ words, options }] }] };
}

const BRANCH_ACTION =
  /^(?:(?<push>push|force-push)|(?<commit>commit|work)|(?<both>push or commit|commit or push|commit,? (?:and|or) push|push,? (?:and|or) commit))(?: (?:any |your )?(?:changes|code|commits|anything))?(?: (?:directly|straight))? (?:to|on|onto|into|in|against) (?:the )?(?<branches>.+?)$/i;

/** `never push to main`. */
function compileBranches(text: string): Compiled | undefined {
  const groups = BRANCH_ACTION.exec(withoutTails(text))?.groups;
  const named = groups?.branches;
  if (groups === undefined || named === undefined || /^(?:remotes?|origin|upstream|github|git)$/i.test(named))
    return undefined;
  const branches = readBranches(named);
  if (branches === undefined) return undefined;
  const isPush = groups.push !== undefined || groups.both !== undefined;
  const refused: CommandPattern[] = [
    ...(isPush
      ? [
          {
            words: ["git", "push"],
            branches,
            ...(groups.push?.toLowerCase() === "force-push" && {
              options: ["--force", "-f", "--force-with-lease", "--mirror"],
            }),
          },
        ]
      : []),
    ...(groups.push === undefined ? [{ words: ["git", "commit"], branches }] : []),
  ];
  return { guards: [{ kind: "command", refused }] };
}

function readBranches(named: string): string[] | undefined {
  const words = named
    .replace(
      /\b(?:the|any|remote|upstream|protected|default|long-lived|shared|branch(?:es)?|origin\/)\b\/?/gi,
      " ",
    )
    .split(/[\s,/`]+|\bor\b|\band\b/i)
    .filter((word) => word !== "");
  if (words.length === 0) return /protected|default/i.test(named) ? ["main", "master"] : undefined;
  return words.every((word) =>
    /^(?:main|master|trunk|develop(?:ment)?|dev|production|prod|staging|release|stable|gh-pages)$/i.test(
      word,
    ),
  )
    ? words
    : undefined;
}

const NAMED_CHECKS: readonly (readonly [RegExp, CheckKind])[] = [
  [
    /^(?:all |the |full |entire |whole |relevant |unit |our |project'?s? |complete )*(?:tests?|test[- ]suite|unit tests?|specs?)$/i,
    "tests",
  ],
  [
    /^(?:all |the |our |project'?s? )*(?:lint(?:er|ers|ing)?(?: checks?)?|eslint|ruff|biome|clippy)$/i,
    "lint",
  ],
  [/^(?:all |the |our |project'?s? |a )*(?:type[- ]?check(?:er|s|ing)?|types|tsc|mypy|pyright)$/i, "types"],
  [/^(?:all |the |our |project'?s? |a |full )*(?:build|compiler)$/i, "build"],
];

/** The checks that a list names; undefined if it names anything else. */
function readChecks(list: string): CheckGuard["run"][] | undefined {
  const cut = list
    .replace(/[.,;:!]+$/, "")
    .replace(/\s+(?:successfully|locally|again|first|once|cleanly)$/i, "");
  const code = listCode(cut);
  const outside = cut
    .replace(/`[^`]*`/g, " ")
    .replace(
      /[,&]|\b(?:and|both|all|then|the|of|also|commands?|scripts?|checks?|linter|tests?|test suite|type ?checker|with|via|using|that|passes|pass|first)\b/gi,
      " ",
    )
    .replace(/\([^)]*\)/g, " ")
    .trim();
  if (code.length > 0) {
    if (outside !== "" || !code.every((text) => isCommand(splitWords(text)))) return undefined;
    return code.flatMap((text) => text.split(/\s*&&\s*/)).map((text) => splitWords(text));
  }
  const parts = cut.split(/\s*(?:,|&|\band\b|\/)\s*(?:then )?/i).filter((part) => part !== "");
  const kinds = parts.map(
    (part) =>
      NAMED_CHECKS.find(([pattern]) => pattern.test(part))?.[1] ??
      (isKnownInWords(splitWords(part)) ? splitWords(part) : undefined),
  );
  return parts.length > 0 && kinds.every((kind) => kind !== undefined) ? kinds : undefined;
}

const BEFORE: readonly (readonly [RegExp, CheckGuard["before"]])[] = [
  [
    /^(?:any |each |every |the |a |you |making |creating |your )*(?:commit(?:s|ting)?(?: (?:any |your )?(?:changes|code|anything|work))?)$/i,
    "commit",
  ],
  [
    /^(?:any |each |every |you |a )*push(?:es|ing)?(?: (?:any |your )?(?:changes|code|anything|to .*))?$/i,
    "push",
  ],
  [
    /^(?:any |each |every |you |a )*(?:open(?:ing)?|creat(?:e|ing)|submit(?:ting)?|rais(?:e|ing)) (?:a |any |the )?(?:prs?|pull requests?|merge requests?)$/i,
    "pull_request",
  ],
  [
    /^(?:you |we |the |your |any |a |considering |declaring |marking |reporting |claiming |calling |saying |ending |concluding )*(?:are |is |it |task |as |being |turn |work |that |work is |that you are |you'?re )*(?:(?:a |the |your |any |task |work )*(?:finish(?:ed|ing)?|complet(?:e|ed|ing|ion)|done|end(?:ing)?|stop(?:ping)?|hand(?:ing)? (?:it |over |back |off |in )*|respond(?:ing)?|report(?:ing)?(?: back)?|conclud(?:e|ing)|return(?:ing)?|final(?:ising|izing)?|wrap(?:ping)? up|sign(?:ing)? off|success))(?: (?:a |the |your |any |each |every |this |with |it |as |of )*(?:task|work|turn|job|session|answer|response|changes?|done|complete|finished|back|it|control|to the user|the user|success))*$/i,
    "end",
  ],
  [
    /^(?:(?:any|each|every|all|making|making any|making code|code|your|you make|you have made|you|finishing|completing|a|the|of|set|series|modifying|editing|changing|writing|non-trivial|significant|file|source|production) )*(?:changes?|edits?|modifications?|code|files?|task|work|refactor(?:ing)?|done|finish(?:ed)?|edit(?:ing)?|source files?|any code|a change|changes to .*)(?: (?:to|in) (?:the )?(?:code|source|codebase|project|repo(?:sitory)?|files?|any file))?$/i,
    "end",
  ],
];

function readMoment(text: string): CheckGuard["before"] | undefined {
  return BEFORE.find(([pattern]) => pattern.test(text.trim().replace(/[.,;:!]+$/, "")))?.[1];
}

const RUN = "(?:run|execute|re-?run|runs?|invoke|use)";
const CHECKS: readonly RegExp[] = [
  new RegExp(
    `^(?:prior to|before) (?<when>[^,:]+?)(?:,|:)? (?:please |always |you must |you should |make sure (?:to|you) |ensure (?:that )?(?:you )?|remember to |also )*${RUN}:? (?<list>.+)$`,
    "i",
  ),
  new RegExp(
    `^(?:after|when(?:ever)?|once) (?:you are |you'?re |you have |you |having )?(?<when>[^,:]+?)(?:,|:) ?(?:please |always |you must |you should |make sure (?:to|you) |ensure (?:that )?(?:you )?|remember to |also )*${RUN}:? (?<list>.+)$`,
    "i",
  ),
  new RegExp(
    `(?:^|[.;,] )(?:please |always |you must |you should |agents must |make sure (?:to|you) |ensure (?:that )?you |remember to |don'?t forget to |do not forget to |never forget to |must |also |make sure that you )*(?:always )?${RUN}:? (?<list>.+?),? (?:before|prior to|after|when(?:ever)?|once|at the end of) (?:you are |you'?re |you have |having )?(?<when>[^,:(]+?)$`,
    "i",
  ),
  /^(?:please |always |make sure (?:that )?|ensure (?:that )?|verify (?:that )?|check (?:that )?)*(?<list>.+?) (?:must|should|have to|has to|need to|needs to|shall)?(?: all)? ?(?:be (?:green|passing|run|clean|executed)|pass(?:es)?|succeeds?|is (?:green|clean)|are (?:green|passing)|run(?:s)?) (?:before|prior to|after|when) (?<when>[^,:(]+?)$/i,
  /^(?:before|prior to) (?<when>[^,:]+?)(?:,|:)? (?:please |always |you must |make sure (?:that )?|ensure (?:that )?|verify (?:that )?|check (?:that )?)*(?<list>.+?) (?:must|should|have to|has to|need to)?(?: all)? ?(?:pass(?:es)?|succeeds?|be green|is green|are green|is clean)$/i,
  new RegExp(
    `^(?:please |you must |you should |make sure (?:to|you) )*always ${RUN}:? (?<list>[^,:(]+?)$`,
    "i",
  ),
  /^(?:a |the |your |every |any )?(?:task|work|change|turn) (?:is|are) (?:only |not )(?:done|finished|complete|completed) (?:when|until|once|unless|if) (?<list>.+?) (?:pass(?:es)?|succeeds?|(?:is|are) green|ha(?:s|ve) (?:run|passed))$/i,
];

/** `run the linter before you finish`. */
function compileChecks(text: string): Compiled | undefined {
  const clean = text
    .replace(/[.!;]+$/, "")
    .replace(/^(?:important|note|critical|always|mandatory|required)\s*[:!]\s*/i, "")
    .replace(/\s*\((?:[^`)]*)\)/g, "")
    .replace(
      /,? (?:and )?(?:fix|make sure|ensure|address|resolve|confirm|verify)\b(?! (?:you|to) run)[^`]*$/i,
      (rest, at: number) => (at > 12 ? "" : rest),
    )
    .trim();
  if (/^(?:never|do not|don'?t|no )\b(?! forget)/i.test(clean)) return undefined;
  for (const pattern of CHECKS) {
    const { list, when } = pattern.exec(clean)?.groups ?? {};
    if (list === undefined) continue;
    const before = when === undefined ? "end" : readMoment(when);
    const checks = readChecks(list);
    if (before === undefined || checks === undefined) continue;
    return { guards: checks.map((run) => ({ kind: "check", run, before })) };
  }
  return undefined;
}

/** `never commit without running the tests`. */
function compileWithoutCheck(text: string): Compiled | undefined {
  const match =
    /^(?<what>commit|push|finish|stop|end your turn|(?:open|create|submit) (?:a )?(?:pr|pull request)|(?:consider|mark|declare|call|report) .*?(?:done|complete|finished))(?: (?:code|changes|anything|any changes|a task|work))? (?:without (?:first )?(?:running|having run|executing|passing)|before (?:running|you have run|having run)|(?:until|unless) (?:you have run )?) ?(?<list>.+?)(?: (?:first|pass(?:es)?|succeeds?|are green|is green|have passed|has passed))?$/i.exec(
      text,
    );
  const { what, list } = match?.groups ?? {};
  if (what === undefined || list === undefined) return undefined;
  const checks = readChecks(list);
  if (checks === undefined) return undefined;
  const before = /^commit/i.test(what)
    ? "commit"
    : /^push/i.test(what)
      ? "push"
      : /^(?:open|create|submit)/i.test(what)
        ? "pull_request"
        : "end";
  return { guards: checks.map((run) => ({ kind: "check", run, before })) };
}

const DEPENDENCIES =
  /^(?:add|install|introduce|use|include|create)?\s*(?:any |new |additional |external |third[- ]party |extra |more |other |runtime |npm |python |unnecessary |project |production |a )*(?:dependenc(?:y|ies)|packages|libraries|crates|gems|modules from npm|npm packages?)$/i;

function compileDependencies({ text, isForbidden }: Clause): Compiled | undefined {
  if (!isForbidden) return undefined;
  const condition = findCondition(text);
  const told = withoutTails(condition === undefined ? text : text.slice(0, text.lastIndexOf(condition)))
    .replace(
      / (?:to|in|into) (?:the |this )?(?:project|repo(?:sitory)?|codebase|`?package\.json`?|`?Cargo\.toml`?|`?pyproject\.toml`?|workspace)$/i,
      "",
    )
    .replace(EXPLANATION, "")
    .trim();
  if (
    !DEPENDENCIES.test(told) ||
    !/^(?:add|install|introduce|.*\b(?:new|additional|external|third|extra|more))/i.test(told)
  )
    return undefined;
  if (/^(?:use|create|include)\b/i.test(told) && !/\b(?:new|additional|external|third|extra)/i.test(told))
    return undefined;
  if (condition !== undefined)
    return { reason: `it depends on something that cannot be checked: “${condition}”` };
  return { guards: [{ kind: "dependencies" }] };
}

function compileDemanded({ text }: Clause): Compiled | undefined {
  const branch =
    /\b(?:branch(?: names?|es)?|name (?:your )?(?:feature )?branches)\b.*?\b(?:start|begin|prefix(?:ed)?|named?|follow|use|be)\b[^`"“]*(?<list>[`"“][^`"”]+[`"”](?:(?:,| or|,? or)\s*[`"“][^`"”]+[`"”])*)/i.exec(
      text,
    )?.groups?.list;
  if (branch !== undefined) {
    const prefixes = (branch.match(/[`"“]([^`"”]+)[`"”]/g) ?? []).map((quoted) =>
      quoted.slice(1, -1).replace(/[<{[*].*$/, ""),
    );
    if (prefixes.every((prefix) => /^[\w./-]+$/.test(prefix)))
      return { guards: [{ kind: "branch_name", prefixes }] };
  }
  const work =
    /^(?:all )?(?:work|commits?|do all work|changes|commit)(?: must| should)?(?: (?:be|happen|go|is))? ?(?:done |made )?(?:only )?(?:on|in|to) (?:a |an |your own |separate |new |dedicated )*(?:feature|topic|separate|new|working)? ?branch(?:es)?$/i.test(
      text,
    );
  if (work)
    return {
      guards: [{ kind: "command", refused: [{ words: ["git", "commit"], branches: ["main", "master"] }] }],
    };
  return compileFamily(text);
}

/** `use pnpm`: of a family of tools, the others are not used. */
function compileFamily(text: string): Compiled | undefined {
  const { tool } =
    /^(?:only )?(?:use|using|run everything with|install (?:dependencies|packages) with|manage (?:dependencies|packages) with)(?: only)? (?<tool>`[^`]+`|[\w-]+)(?: (?:only|exclusively))?(?=$|,| (?:for|as|to|in|here|everywhere|throughout|exclusively|only|workspaces|instead)\b| [-–—(])/i.exec(
      text,
    )?.groups ?? {};
  const name = tool?.replaceAll("`", "").toLowerCase();
  if (name === undefined) return undefined;
  const purpose = /\b(?:for|to) (?<purpose>.+)$/i.exec(text)?.groups?.purpose;
  // `use npm for the docs` says nothing about the rest.
  if (
    purpose !== undefined &&
    !/^(?:all |any |every|the |this |our |python |javascript |node |js |package|dependenc|manag|install|run|script|test|build|command|project|unit )/i.test(
      purpose,
    )
  )
    return undefined;
  if (/\b(?:in|under|inside) (?:the )?`/i.test(text)) return undefined;
  const refused = findOthers(name);
  return refused && { guards: [{ kind: "command", refused, instead: [[name]] }] };
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}
