/** A command of a script for sed. */
export interface SedCommand {
  /** One letter, such as `s`. */
  name: string;
  /** What follows it; of `s`, the replacement. */
  text: string;
  /** Of `s`: the letters and numbers after it, empty for the others. */
  flags: string;
  /** The file that it writes, as written. */
  file?: string | undefined;
}

/** The commands of sed that matter to a rule: those that run or write something. @param args the words after `sed`. */
export function listSedCommands(args: readonly string[]): SedCommand[] {
  return listScripts(args).flatMap((script) => readScript(script));
}

function listScripts(args: readonly string[]): string[] {
  const given = args.flatMap((word, index) => {
    if (/^(?:-[a-zA-Z]*e|--expression)$/.test(word)) return args[index + 1] ?? [];
    return /^(?:-e|--expression=)(.+)$/s.exec(word)?.[1] ?? [];
  });
  if (given.length > 0 || args.some((word) => /^(?:-[a-zA-Z]*f|--file)/.test(word))) return given;
  const first = args.find((word) => !word.startsWith("-"));
  return first === undefined ? [] : [first];
}

const ADDRESS = String.raw`(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?|\\([^\w\s])(?:(?!\1).)*\1I?)`;
const BEFORE = new RegExp(
  String.raw`^[\s;{}]*(?:${ADDRESS}(?:\s*[,~]\s*[+~]?(?:\d+|\$|/(?:[^/\\\n]|\\.)*/I?))?)?[\s!]*`,
);
const SUBSTITUTION =
  /^s([^\w\s\\])((?:\\.|(?!\1)[^\\])*)\1((?:\\.|(?!\1)[^\\])*)\1([a-vx-zA-Z0-9]*)(?:w\s*([^\n]+))?/s;

function readScript(script: string): SedCommand[] {
  const found: SedCommand[] = [];
  let rest = script;
  while (rest !== "") {
    rest = rest.slice(BEFORE.exec(rest)?.[0].length ?? 0);
    const substitution = SUBSTITUTION.exec(rest);
    if (substitution) {
      const [all, , , text = "", flags = "", file] = substitution;
      found.push({ name: "s", text, flags, file });
      rest = rest.slice(all.length);
      continue;
    }
    const [all = "", name = "", text = ""] = /^(.)([^\n]*)/.exec(rest) ?? [];
    if (all === "") break;
    // The text of these ends with the line, that of the others with the command.
    const isLong = /[ewWraic]/.test(name);
    if (isLong && /[ewW]/.test(name))
      found.push({ name, text: text.trim(), flags: "", ...(name !== "e" && { file: text.trim() }) });
    const end = rest.search(isLong ? /\n/ : /[;\n}]/);
    rest = end < 0 ? "" : rest.slice(end + 1);
  }
  return found;
}
