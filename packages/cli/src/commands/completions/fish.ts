import type { CompletedOption, Vocabulary } from "./vocabulary.ts";

/** The completion script for fish: to be kept as `~/.config/fish/completions/diligent.fish`. */
export function formatFish({ options, commands }: Vocabulary): string {
  const lines = [
    ...options.map((option) => formatOption("__fish_use_subcommand", option)),
    ...commands.map(
      ({ name, help }) => `complete -c diligent -n __fish_use_subcommand -f -a ${name} -d ${quote(help)}`,
    ),
    ...commands.flatMap(({ name, words, options: own }) => {
      const condition = quote(`__fish_seen_subcommand_from ${name}`);
      const first = quote(
        `__fish_seen_subcommand_from ${name}; and not __fish_seen_subcommand_from ${words.join(" ")}`,
      );
      return [
        `complete -c diligent -n ${condition} -f`,
        ...(words.length > 0 ? [`complete -c diligent -n ${first} -f -a ${quote(words.join(" "))}`] : []),
        ...own.map((option) => formatOption(condition, option)),
      ];
    }),
  ];
  return `# fish completion for diligent, made by: diligent completions fish\n${lines.join("\n")}\n`;
}

function formatOption(condition: string, { spellings, help, value }: CompletedOption): string {
  const names = spellings.map((spelling) =>
    spelling.startsWith("--") ? `-l ${spelling.slice(2)}` : `-s ${spelling.slice(1)}`,
  );
  const words = [`complete -c diligent -n ${condition}`, ...names, formatValue(value), `-d ${quote(help)}`];
  return words.filter((word) => word !== "").join(" ");
}

/** `-x`: a value and no file; `-r`: a value, files are offered. */
function formatValue(value: CompletedOption["value"]): string {
  if (!value) return "-f";
  // The next word is its value only if it looks like one.
  if (value.isOptional) return "";
  if (value.from === "any") return "-x";
  if (value.from === "file") return "-r -F";
  if (value.from === "directory") return "-x -a '(__fish_complete_directories)'";
  return `-x -a ${quote(value.from.join(" "))}`;
}

function quote(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
