// The pairs of letters that make up some four fifths of English words. Random letters have one in six of them.
const COMMON_PAIRS = (
  "th he in er an re nd at on nt ha es st en ed to it ou ea hi is or ti as te et ng of al de se le sa si ar ve ra ld ur " +
  "me ri ro li ta no ne ic io us ss ns ll la el ec ct em et ce ma co pe tr ca om na so sh ec id ke ey rd ap pp ad ac " +
  "be ch ck ee ut ot lo un ge pr po pa di da do su su ul ow wo fo im mp ai am ab bl up ub ob bo op oo ol ir iv il ig " +
  "gh ht ef fi fa ex xt cl ue sp ty ly ry cy rs ts ds ks tt mi mo ag ga gr fr pl pu ph bu br ba bi wi wa we ew ev ep " +
  "oc od os og rt rm rn rk nk nc ni nu lu lt ay ys ov va vi au ru tu qu ui ua cr cu du sc sk sw dr ye yo"
).split(" ");

const HEXADECIMAL = /^(?:0x)?[0-9a-f]+$/i;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const TOKEN_CHARACTERS = /^[\w+/=.~!@#$%^&*:?-]+$/;
// What stands for a value, or leads to one.
const REFERENCE =
  /^(?:\$|%\w+%|\/|\.{1,2}\/|~|@|#)|:\/\/|\$\{|\{\{|^(?:process|os|env|config|import|secrets|vault)[.:]/;
const MIN_RANDOM_CHARS = 16;
const MIN_HEXADECIMAL_CHARS = 24;
const MIN_BITS = 3;
const MAX_COMMON_SHARE = 0.42;
// Names in camel case change after each word only.
const MIN_CHANGE_SHARE = 0.4;

/** True for a text that nobody would write by hand: a key, not a word, a name, a number, a path or a reference. */
export function isRandom(text: string): boolean {
  if (text.length < MIN_RANDOM_CHARS || !TOKEN_CHARACTERS.test(text) || REFERENCE.test(text)) return false;
  if (UUID.test(text)) return true;
  if (!/\d/.test(text) && !(/[a-z]/.test(text) && /[A-Z]/.test(text))) return false;
  if (!/[A-Za-z]/.test(text)) return false;
  if (HEXADECIMAL.test(text)) return text.length >= MIN_HEXADECIMAL_CHARS && new Set(text).size >= 8;
  if (bitsPerCharacter(text) < MIN_BITS) return false;
  const isMixed = /\d/.test(text) && changeShare(text) > MIN_CHANGE_SHARE;
  return isMixed || commonShare(text) < MAX_COMMON_SHARE;
}

const MIN_PASSWORD_CHARS = 8;
const WORDS_AND_NUMBERS = /^(?:[A-Za-z]+\d{0,4}|\d+)$/;

/** True for what could be a password, but is no word, no name, no list of words and no reference. */
export function isPassword(text: string): boolean {
  if (text.length < MIN_PASSWORD_CHARS || REFERENCE.test(text) || /[()<>{}\s]/.test(text)) return false;
  if (text.split(/[-_.:/,*?=&]+/).every((part) => part === "" || WORDS_AND_NUMBERS.test(part)))
    return isRandom(text);
  const kinds = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/].filter((kind) => kind.test(text)).length;
  return kinds >= 2 && new Set(text).size >= 6 && (/\d/.test(text) || kinds >= 3) && commonShare(text) < 0.7;
}

/** Shannon's entropy. */
function bitsPerCharacter(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** How many of the pairs of neighbours are of two kinds: small, capital, digit or sign. */
function changeShare(text: string): number {
  let changes = 0;
  for (let at = 1; at < text.length; at++)
    if (kindOfCode(text.charCodeAt(at)) !== kindOfCode(text.charCodeAt(at - 1))) changes += 1;
  return changes / (text.length - 1);
}

function kindOfCode(code: number): number {
  if (code >= 97 && code <= 122) return 0;
  if (code >= 65 && code <= 90) return 1;
  return code >= 48 && code <= 57 ? 2 : 3;
}

const LETTERS = 26;
const FIRST_LETTER = "a".charCodeAt(0);
const isCommonPair = new Uint8Array(LETTERS * LETTERS);
for (const pair of COMMON_PAIRS)
  isCommonPair[(pair.charCodeAt(0) - FIRST_LETTER) * LETTERS + pair.charCodeAt(1) - FIRST_LETTER] = 1;

/** How many of the pairs of letters are common ones; 0 for a text with few of them. */
function commonShare(text: string): number {
  let pairs = 0;
  let common = 0;
  let before = -1;
  for (let at = 0; at < text.length; at++) {
    const letter = (text.charCodeAt(at) | 32) - FIRST_LETTER;
    const isLetter = letter >= 0 && letter < LETTERS;
    if (isLetter && before >= 0) {
      pairs += 1;
      common += isCommonPair[before * LETTERS + letter] ?? 0;
    }
    before = isLetter ? letter : -1;
  }
  return pairs < 5 ? 0 : common / pairs;
}
