import { removeInvisible } from "../infrastructure/content/invisible-text.ts";

/** A word of a text as it counts when texts are compared. */
export interface Term {
  /** In lower case, unless it is an identifier, and without the punctuation around it. */
  text: string;
  /** Turns or narrows what is said by itself: a negation, a number, a path, an identifier, an operator. */
  isTelling: boolean;
}

// In the languages that notes are most often written in; with any other the words around them must be the same anyway.
const NEGATIONS = new Set(
  (
    "not no non never none nothing nobody nowhere neither nor cannot without avoid except unless instead only hardly " +
    "nicht nichts nie niemals kein keine keinen keinem keiner ohne nur statt außer " +
    "ne pas jamais aucun aucune sans sauf nunca ni sin ningún ninguna solo não nem sem нет не без никогда"
  ).split(" "),
);
const NEGATED_VERB = /n't$/;

const PUNCTUATION_ONLY = /^[-–—.,;:!?…¡¿"“”„'‘’«»`*_()[\]{}|•·。、，]+$/u;
const LEADING = /^[“”"„'‘«([{`,;:¡¿]+/u;
const TRAILING = /[“”"'’»)\]}`.,;:!?…。、，]+$/u;
const EMPHASIS = /^(\*{1,3})([^*]+)\1([.,;:!?]*)$/u;

// Digits, paths, options, snake_case, member.access, operators; letters and the marks inside of words aside.
const MARKED = /[^\p{L}\p{M}'’-]|^-/u;
const CAMEL_CASE = /\p{Ll}\p{Lu}|\p{Lu}{2}\p{Ll}/u;
const CAPITALS = /^\p{Lu}[\p{Lu}'-]+$/u;

/** The words of a text in their order; those of punctuation alone are left out. */
export function readTerms(text: string): Term[] {
  const visible = removeInvisible(text).text.normalize("NFKC").replace(/[’ʼ]/g, "'");
  const hasSmallLetters = /\p{Ll}/u.test(visible);
  return visible
    .split(/\s+/)
    .map((word) => word.replace(EMPHASIS, "$2$3"))
    .filter((word) => word !== "" && !PUNCTUATION_ONLY.test(word))
    .map((word) => toTerm(word, hasSmallLetters));
}

/** Where all is in capitals they say nothing. */
function toTerm(word: string, hasSmallLetters: boolean): Term {
  const bare = word.replace(LEADING, "").replace(TRAILING, "");
  const isCode = word.includes("`") || MARKED.test(bare) || CAMEL_CASE.test(bare);
  const isIdentifier = isCode || (hasSmallLetters && CAPITALS.test(bare));
  const plain = bare.toLowerCase();
  const isNegation = NEGATIONS.has(plain) || NEGATED_VERB.test(plain);
  if (isNegation) return { text: plain, isTelling: true };
  return { text: isIdentifier ? bare : plain, isTelling: isIdentifier };
}
