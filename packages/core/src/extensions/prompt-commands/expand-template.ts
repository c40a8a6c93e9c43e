import { fillTemplate, type PromptTemplate } from "./fill-template.ts";

/** Runs a shell command of a template; it asks for approval as any other command does. */
export type RunTemplateCommand = (command: string) => Promise<string>;

const LONGEST_INLINE = 200;

/**
 * The prompt that a template stands for. Its shell commands run one after the other, before anything is sent.
 * @throws what `runCommand` throws.
 */
export async function expandTemplate(
  template: PromptTemplate,
  args: string,
  runCommand: RunTemplateCommand,
): Promise<{ text: string; mentions: string[] }> {
  const { parts, mentions } = fillTemplate(template, args);
  const texts: string[] = [];
  for (const part of parts)
    texts.push(part.kind === "text" ? part.text : toText(await runCommand(part.command)));
  return { text: texts.join(""), mentions };
}

/** Longer output is material, not a part of the sentence: it gets a fence that it cannot close. */
function toText(output: string): string {
  const text = output.trimEnd();
  if (text.length <= LONGEST_INLINE && !text.includes("\n")) return text;
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return `\n${fence}\n${text}\n${fence}\n`;
}
