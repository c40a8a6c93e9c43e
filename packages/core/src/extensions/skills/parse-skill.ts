import {
  readBooleanField,
  readFrontmatter,
  readListField,
  readTextField,
} from "../../infrastructure/text/frontmatter.ts";

/** The head of a `SKILL.md`, as the open specification (agentskills.io) and its users write it. */
export interface SkillHead {
  /** 1 to 64 of `[a-z0-9-]`; made from the written name or the directory where that is not one. */
  name: string;
  /** On one line. */
  description: string;
  /** False: only the user may start it. */
  isModelInvocable: boolean;
  /** False: only the model may load it. */
  isUserInvocable: boolean;
  /** What it asks to use without approval, such as `Bash(git add:*)`. */
  allowedTools: readonly string[];
  argumentHint?: string;
  /** Names of its arguments, in order. */
  argumentNames: readonly string[];
  /** Where it differs from the specification, a clause each. */
  warnings: readonly string[];
}

const MAX_NAME = 64;
const MAX_DESCRIPTION = 1_024;
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** True for a name that the specification allows. */
export function isSkillName(name: string): boolean {
  return name.length <= MAX_NAME && NAME.test(name);
}

/**
 * Reads the head of a `SKILL.md`. Anything unusual is a warning; only a skill without a description, or without any
 * usable name, is not loaded.
 */
export function parseSkillHead(text: string, directoryName: string): SkillHead | { problem: string } {
  const file = readFrontmatter(text);
  const description = readTextField(file, "description");
  if (description === undefined) return { problem: "it has no description" };
  const written = readTextField(file, "name");
  const name = [written, directoryName].map((given) => given && toSkillName(given)).find(Boolean);
  if (!name) return { problem: "neither its name nor its directory has a letter or digit of a-z and 0-9" };
  const argumentHint =
    readTextField(file, "argument-hint") ?? readListField(file, "argument-hint")?.join(" ");
  return {
    name,
    description: toOneLine(withOccasion(description, readTextField(file, "when_to_use"))),
    isModelInvocable: readBooleanField(file, "disable-model-invocation") !== true,
    isUserInvocable: readBooleanField(file, "user-invocable") !== false,
    allowedTools: readListField(file, "allowed-tools") ?? [],
    ...(argumentHint !== undefined && argumentHint !== "" && { argumentHint: toOneLine(argumentHint) }),
    argumentNames: readListField(file, "arguments") ?? [],
    warnings: [
      ...(file.problem === undefined ? [] : [file.problem]),
      ...describeName(written, { name, directoryName }),
      ...(description.length > MAX_DESCRIPTION
        ? [`its description has ${description.length} characters, more than ${MAX_DESCRIPTION}`]
        : []),
    ],
  };
}

/** The nearest allowed name: `Hook Development` becomes `hook-development`. Empty if nothing of it is allowed. */
function toSkillName(written: string): string {
  const words = written.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  return words.join("-").slice(0, MAX_NAME).replace(/-$/, "");
}

function withOccasion(description: string, occasion: string | undefined): string {
  return occasion === undefined ? description : `${description} ${occasion}`;
}

function toOneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

function describeName(
  written: string | undefined,
  { name, directoryName }: { name: string; directoryName: string },
): string[] {
  if (written === undefined) return ["it has no name"];
  if (!isSkillName(written)) return [`its name is not 1 to ${MAX_NAME} of a-z, 0-9 and single hyphens`];
  return name === directoryName ? [] : ["its name differs from its directory"];
}
