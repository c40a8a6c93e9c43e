/** Words of other languages that are no English ones, and that a short sentence of theirs contains. */
const FOREIGN =
  /(?<![\p{L}-])(?:nie|niemals|nicht|immer|keine[nrs]?|kein|benutze|verwende[nt]?|führe|bitte|und|oder|vor dem|jamais|toujours|ne pas|n['’](?:utilise|exécute)\p{L}*|utilise[zr]?|avant de|nunca|siempre|jamás|usar|utilizar?|ejecutar?|antes de|sempre|mai|usare|não|nooit|altijd|gebruik|niet|voor je|nigdy|zawsze|używaj|aldrig|alltid|använd|inte|asla|her zaman)(?!\p{L})/iu;
const OTHER_SCRIPT =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Cyrillic}\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Devanagari}\p{Script=Thai}\p{Script=Greek}]/u;

/** True if a sentence, without its code, is in another language than English. */
export function isForeign(text: string): boolean {
  return OTHER_SCRIPT.test(text) || FOREIGN.test(text);
}

const NEGATION =
  /\b(?:never|not|don'?t|mustn'?t|shouldn'?t|can'?t|cannot|won'?t|avoid|refrain|forbid(?:den)?|prohibited|prevent|stop|forget|(?:fail|neglect|hesitate) to|skip|omit)\b/gi;

/**
 * True if a prohibition is itself negated: `do not avoid`, `never don't`. What follows a comma or a dash is another
 * statement, and `don't forget to` is none.
 */
export function isNegatedTwice(text: string): boolean {
  if (
    /\b(?:not|n't|isn'?t|is not|no longer)\s+(?:true|the case|required|necessary|needed|forbidden|prohibited|banned|a problem|an issue|wrong)\b/i.test(
      text,
    )
  )
    return true;
  const plain = text.replace(/\b(?:do not|don'?t|never) (?:forget|fail|neglect|omit) to\b/gi, "");
  const clauses = plain.split(/,|;|:|\.\s| [-–—] |\(|\band\b|\bbut\b|\bor\b|\bbecause\b|\binstead\b/i);
  return clauses.some((clause) => {
    const found = [...clause.matchAll(NEGATION)].map(([word]) => word.toLowerCase());
    // `skip` is what a prohibition may be about.
    return found.filter((word) => word !== "skip" && word !== "stop").length > 1;
  });
}

const SOFT =
  /\b(?:prefer(?:ably|red|s)?|try(?:ing)? (?:not )?to|ideally|if possible|where possible|when possible|whenever possible|usually|generally|typically|in general|consider|avoid|might want|could|recommended|feel free|discouraged|as (?:a )?last resort|normally|mostly|sparingly|unnecessar(?:y|ily))\b/i;

/** True for advice: it says what is better, and forbids nothing. */
export function isAdvice(text: string): boolean {
  return SOFT.test(text);
}

const CONDITION =
  /\b(?:unless|except(?:ing)?|other than|apart from|without (?:(?:first |explicit |explicitly |prior |my |the user'?s? |human |written |express )*(?:ask\w*|permission|approval|consent|confirm\w*|authoriz\w*|being (?:asked|told)|instruction\w*|request\w*|checking|discuss\w*|a (?:good |very good |clear )?reason|justification|review|consult\w*|need|necessity))|only (?:if|when|with|after)|if|when(?:ever)?|while|until|as long as|in case|where|during|for (?:which|whom|trivial|small|large|big)|in (?:production|prod|ci|staging|tests?|test files|new code|your (?:answer|response|replies|reply))|on (?:ci|production|windows|macos|linux|fridays?)|needlessly|again|twice|more than (?:one|once|two|twice|three)|too (?:many|much|often)|large|big|huge|broken|failing|untested|half-finished|unfinished|incomplete|unrelated|secrets?|credentials?|passwords?|(?:api )?keys|tokens)\b.*/i;

/** What a prohibition depends on that no program can see, as written; undefined if it holds always. */
export function findCondition(text: string): string | undefined {
  const outside = text.replace(/`[^`]*`/g, (code) => "`".repeat(code.length));
  const found = CONDITION.exec(outside);
  return found ? text.slice(found.index, found.index + found[0].length).replace(/[.!]+$/, "") : undefined;
}
