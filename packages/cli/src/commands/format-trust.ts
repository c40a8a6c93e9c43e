import type { ShownSetting, TrustDescription } from "@diligent/core";
import { formatJudgedLine } from "../judged-text.ts";

interface Effect {
  /** What these settings do once they count. */
  title: string;
  isMeant(setting: ShownSetting): boolean;
}

/** What settings bring about, the gravest first; each setting is shown under the first that is meant. */
const EFFECTS: readonly Effect[] = [
  {
    title: "Where the conversation, and your key, are sent",
    isMeant: ({ key }) => /^provider\..*\.baseUrl$/.test(key),
  },
  { title: "What it reads from your environment", isMeant: ({ value }) => value.includes("{env:") },
  { title: "What runs without asking you", isMeant: ({ key }) => /^(?:permissions|approval)\b/.test(key) },
  { title: "What commands may reach", isMeant: ({ key }) => /^sandbox/.test(key) },
  {
    title: "Which model answers",
    isMeant: ({ key }) => /^(?:model|models|provider|compaction\.model)\b/.test(key),
  },
  { title: "Other settings", isMeant: () => true },
];

/**
 * What the user decides about: the exact directory, and each setting that would become active, by what it does. The
 * texts are the project's, so whatever cannot be seen in them is shown.
 */
export function formatTrust(description: TrustDescription): string[] {
  const { state, path, activates, refused, changes } = description;
  const directory = formatJudgedLine(description.directory);
  if (state === "none") return [`${directory} has no configuration that could be trusted.`];
  if (state === "trusted") return [`${directory} is trusted already, as it stands now.`];
  const own = refused.map(formatJudgedLine).join(", ");
  return [
    `Directory  ${directory}`,
    ...(description.isWorktree
      ? ["           a git worktree: the repository's others are asked about too"]
      : []),
    `File       ${formatJudgedLine(path ?? "")}`,
    ...(state === "changed"
      ? ["It has changed since you trusted it:", ...changes.flatMap(formatChange)]
      : []),
    ...(activates.length > 0
      ? ["Becomes active:", ...formatEffects(activates)]
      : ["Nothing in it needs trust."]),
    ...(own === "" ? [] : [`Stays ignored, since only your own file can say it: ${own}`]),
  ];
}

function formatEffects(activates: readonly ShownSetting[]): string[] {
  const effectOf = (setting: ShownSetting) => EFFECTS.find(({ isMeant }) => isMeant(setting));
  return EFFECTS.flatMap((effect) => {
    const settings = activates.filter((setting) => effectOf(setting) === effect);
    return settings.length === 0 ? [] : [`  ${effect.title}`, ...settings.map(formatSetting)];
  });
}

function formatSetting({ key, value }: ShownSetting): string {
  return `    ${formatJudgedLine(key)} = ${formatJudgedLine(value)}`;
}

/** As a diff: what is gone, then what has come. */
function formatChange({ key, before, after }: TrustDescription["changes"][number]): string[] {
  return [
    ...(before === undefined ? [] : [`  - ${formatJudgedLine(`${key} = ${before}`)}`]),
    ...(after === undefined ? [] : [`  + ${formatJudgedLine(`${key} = ${after}`)}`]),
  ];
}
