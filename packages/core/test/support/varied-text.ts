/** What the texts of a session are made of. */
export type TextKind = "prose" | "code" | "json" | "cjk" | "base64";

const WORDS =
  "the parser reads every line once and keeps what it has seen so that a later rule can ask for it without another pass while a test for each of them shows what happens when the input ends too early or holds a character nobody expected".split(
    " ",
  );
const NAMES = "entry session token result window summary request buffer offset leaf".split(" ");
const CJK =
  "会話が長くなると古い部分は要約に置き換えられます。设置文件在项目的根目录中，修改后需要重新启动服务。파일을 다시 읽어 보세요";
const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

const LINES: Readonly<Record<TextKind, (random: () => number) => string>> = {
  prose: (random) => `${words(random, 8 + Math.floor(random() * 10))}.`,
  code(random) {
    const [name, other, call] = [pick(random, NAMES), pick(random, NAMES), pick(random, NAMES)];
    return `  const ${name}${number(random)} = await read${upper(other)}(${call}.id, { maxBytes: ${number(random)}, "${other}": ${name} ?? null });`;
  },
  json: (random) =>
    `{"id":"${number(random).toString(16)}${number(random).toString(36)}","${pick(random, NAMES)}":${number(random)},"path":"src/${pick(random, NAMES)}/${pick(random, NAMES)}.ts","ok":${random() < 0.5},"at":"2026-0${1 + Math.floor(random() * 9)}-11T0${Math.floor(random() * 9)}:12:03Z"}`,
  cjk(random) {
    const start = Math.floor(random() * (CJK.length - 20));
    return CJK.slice(start, start + 12 + Math.floor(random() * 8));
  },
  base64: (random) => Array.from({ length: 76 }, () => BASE64[Math.floor(random() * 64)]).join(""),
};

/** A text of a length and a kind, line by line; the same row of numbers gives the same text. */
export function createText(random: () => number, kind: TextKind, characters: number): string {
  let text = "";
  while (text.length < characters) text += `${LINES[kind](random)}\n`;
  return text.slice(0, characters);
}

function words(random: () => number, count: number): string {
  return Array.from({ length: count }, () => pick(random, WORDS)).join(" ");
}

function number(random: () => number): number {
  return Math.floor(random() ** 2 * 100_000);
}

function upper(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function pick<T>(random: () => number, items: readonly T[]): T {
  const item = items[Math.floor(random() * items.length)];
  if (item === undefined) throw new Error("There is nothing to pick from.");
  return item;
}
