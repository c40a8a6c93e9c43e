import type { Skill } from "./skill-index.ts";

// The rule of thumb for the fixed part of a request.
const CHARACTERS_PER_TOKEN = 4;
// A description that is cut further than this says nothing.
const LEAST_DESCRIPTION = 24;
const LONGEST_DESCRIPTION = 500;

const HEADING = "## Skills";
const INTRODUCTION =
  "A skill has instructions for one kind of task. When a task fits a skill, load it with the `skill` tool before you start.";

/**
 * The section of the system prompt that lists skills, in at most `maxTokens`: all descriptions where they fit, else
 * shortened ones, else names, else as many names as fit. The others are found by the tool. Undefined without a skill
 * that the model may load.
 */
export function composeSkillSection(skills: readonly Skill[], maxTokens: number): string | undefined {
  const listed = skills.filter(({ isModelInvocable }) => isModelInvocable);
  if (listed.length === 0) return undefined;
  const head = `${HEADING}\n\n${INTRODUCTION}`;
  const room = maxTokens * CHARACTERS_PER_TOKEN - head.length - 2;
  const list = listWithDescriptions(listed, room) ?? listNames(listed, room);
  return `${head}${list === "" ? "" : `\n\n${list}`}`;
}

function listWithDescriptions(skills: readonly Skill[], room: number): string | undefined {
  const toList = (limit: number) =>
    skills.map(({ name, description }) => `- ${name}: ${cutText(description, limit)}`).join("\n");
  const fits = (limit: number) => charactersOf(toList(limit)) <= room;
  const longest = Math.min(
    LONGEST_DESCRIPTION,
    Math.max(...skills.map(({ description }) => description.length)),
  );
  // The shortest list is measured without building it: there may be thousands of skills.
  if (skills.length * LEAST_DESCRIPTION > room) return undefined;
  if (fits(longest)) return toList(longest);
  if (!fits(LEAST_DESCRIPTION)) return undefined;
  let [fitting, tooLong] = [LEAST_DESCRIPTION, longest];
  while (tooLong - fitting > 1) {
    const middle = Math.floor((fitting + tooLong) / 2);
    if (fits(middle)) fitting = middle;
    else tooLong = middle;
  }
  return toList(fitting);
}

function listNames(skills: readonly Skill[], room: number): string {
  const whole = `Names: ${skills.map(({ name }) => name).join(", ")}. Call \`skill\` with words to search their descriptions.`;
  if (whole.length <= room) return whole;
  const toRest = (count: number) => `${count} more: call \`skill\` with words to search all of them.`;
  const names: string[] = [];
  let left = room - "Names: ".length - toRest(skills.length).length;
  for (const { name } of skills) {
    left -= name.length + 2;
    if (left < 0) break;
    names.push(name);
  }
  const rest = toRest(skills.length - names.length);
  if (names.length > 0) return `Names: ${names.join(", ")}. ${rest}`;
  return rest.length <= room ? rest : "";
}

/** Letters outside of ASCII take about one token each. */
function charactersOf(text: string): number {
  const others = text.match(/[^\p{ASCII}]/gu)?.length ?? 0;
  return text.length + others * (CHARACTERS_PER_TOKEN - 1);
}

function cutText(text: string, limit: number): string {
  return text.length <= limit
    ? text
    : `${text
        .slice(0, limit - 1)
        .toWellFormed()
        .trimEnd()}…`;
}
