import { HIDDEN, isKnown, readEscapes, UNKNOWN } from "./text-value.ts";

/** Programs whose output can be anything that their input or their code makes of it. */
const DECODERS: ReadonlySet<string> = new Set(
  "base64 base32 basenc xxd uudecode openssl gpg gunzip zcat gzip bzip2 xz python python3 perl ruby node bun deno awk gawk sed tr rev cut dd od hexdump iconv bc dc jq php lua m4 strings".split(
    " ",
  ),
);

/** What a program prints, as far as it can be known from its words and its input. */
export function findOutput(words: readonly string[], stdin: string | undefined): string {
  const [program = "", ...args] = words;
  const input = stdin ?? UNKNOWN;
  switch (program) {
    case "echo":
      return readEcho(args);
    case "printf":
      return readPrintf(args);
    case "cat":
    case "tee":
      return args.every((word) => word === "-" || program === "tee") ? input : UNKNOWN;
    case "which":
    case "command":
    case "type":
      return args.findLast((word) => !word.startsWith("-")) ?? UNKNOWN;
    case "basename":
      return (args.at(0) ?? UNKNOWN).replace(/^.*\//, "");
    case "find":
      return args.includes("-printf") ? readEscapes(args[args.indexOf("-printf") + 1] ?? "") : UNKNOWN;
    case "rev":
      return isKnown(input) ? [...input.trimEnd()].toReversed().join("") : HIDDEN;
    case "tr":
      return isKnown(input) ? translate(input, args) : HIDDEN;
    case "base64":
      return args.some((word) => /^(?:-d|-D|--d\w*|-di)$/.test(word)) ? decode(input, "base64") : HIDDEN;
    case "xxd":
      return args.includes("-r") ? decode(input.replace(/\s/g, ""), "hex") : HIDDEN;
    default:
      return DECODERS.has(program) ? HIDDEN : UNKNOWN;
  }
}

function readEcho(args: readonly string[]): string {
  let at = 0;
  let isEscaped = false;
  for (; /^-[neE]+$/.test(args[at] ?? ""); at++) isEscaped = (args[at] ?? "").includes("e");
  const text = args.slice(at).join(" ");
  return isEscaped ? readEscapes(text) : text;
}

function readPrintf(args: readonly string[]): string {
  const [first = "", ...rest] = args;
  const [format = "", ...values] = first === "--" ? rest : first === "-v" ? rest.slice(1) : args;
  let next = 0;
  const print = () =>
    readEscapes(format).replace(/%(?:%|[-+ #0]*\d*(?:\.\d+)?([sdbqciuxXo]))/g, (whole, kind) => {
      if (whole === "%%") return "%";
      const value = values[next++] ?? "";
      return kind === "b" ? readEscapes(value) : value;
    });
  let text = print();
  // The format is used again for further values.
  while (next > 0 && next < values.length && text.length < 10_000) {
    const before = next;
    text += print();
    if (next === before) break;
  }
  return text;
}

function decode(text: string, encoding: "base64" | "hex"): string {
  if (!isKnown(text)) return HIDDEN;
  return Buffer.from(text.trim(), encoding).toString("utf8");
}

/** `tr a-z n-za-m`, and `tr -d` of letters. */
function translate(text: string, args: readonly string[]): string {
  const sets = args.filter((word) => !/^-[dscC]+$/.test(word)).map(listCharacters);
  const [from = [], to = []] = sets;
  if (args.some((word) => /^-d/.test(word))) return [...text].filter((char) => !from.includes(char)).join("");
  if (args.some((word) => word.startsWith("-")) || to.length === 0) return HIDDEN;
  return [...text]
    .map((char) => {
      const at = from.lastIndexOf(char);
      return at < 0 ? char : (to[Math.min(at, to.length - 1)] ?? char);
    })
    .join("");
}

const CLASSES: Readonly<Record<string, string>> = {
  upper: "A-Z",
  lower: "a-z",
  digit: "0-9",
  space: " \t\n",
};

function listCharacters(given: string): string[] {
  const set = readEscapes(given.replace(/\[:(\w+):\]/g, (_, name: string) => CLASSES[name] ?? ""));
  return [...set.replace(/^\[(.*)\]$/, "$1").matchAll(/(.)-(.)|(.)/gs)].flatMap(([, from, to, single]) => {
    if (single !== undefined || from === undefined || to === undefined) return single ?? [];
    const [start, end] = [from.charCodeAt(0), to.charCodeAt(0)];
    return Array.from({ length: Math.max(0, Math.min(256, end - start + 1)) }, (_, index) =>
      String.fromCharCode(start + index),
    );
  });
}
