import { nearestName } from "@diligent/core/light";
import { UsageError } from "../usage-error.ts";
import { APPROVAL_MODES, OUTPUT_FORMATS, type RunOptions } from "./command.ts";
import type { OptionName } from "./option-table.ts";
import type { SplitArguments } from "./split.ts";

/**
 * Checks the values of the options every run takes.
 * @throws UsageError for a bad value.
 */
export function toRunOptions(given: SplitArguments["options"]): RunOptions {
  const text = (name: OptionName) => {
    const value = given.get(name);
    return typeof value === "string" ? value : undefined;
  };
  return {
    isSaved: !given.has("no-session"),
    isVerbose: given.has("verbose"),
    ...present("isPlain", given.has("plain-ui") || undefined),
    ...present("model", toModel(text("model"), text("replay"))),
    ...present("approval", toChoice("--approval", text("approval"), APPROVAL_MODES)),
    ...present("maxTurns", toCount("--max-turns", text("max-turns"))),
    ...present("maxCost", toAmount("--max-cost", text("max-cost"))),
    ...present("outputFormat", toChoice("--output-format", text("output-format"), OUTPUT_FORMATS)),
    ...present("appendSystemPrompt", text("append-system-prompt")),
    ...present("directory", text("directory")),
    ...present("record", text("record")),
  };
}

/** `--replay FILE` is another word for `--model scripted/FILE`. */
function toModel(model: string | undefined, replay: string | undefined): string | undefined {
  if (replay === undefined) return model;
  if (model !== undefined)
    throw new UsageError("--replay plays a script in the place of a --model: leave one out");
  return `scripted/${replay}`;
}

function present<K extends string, V>(key: K, value: V | undefined): { [P in K]?: V } {
  const result: { [P in K]?: V } = {};
  if (value !== undefined) result[key] = value;
  return result;
}

function toChoice<T extends string>(
  label: string,
  text: string | undefined,
  choices: readonly T[],
): T | undefined {
  if (text === undefined) return undefined;
  const choice = choices.find((candidate) => candidate === text);
  if (choice !== undefined) return choice;
  const nearest = nearestName(text, choices);
  const hint = nearest ? `; did you mean ${nearest}?` : "";
  throw new UsageError(`${label} ${text}: not one of ${choices.join(", ")}${hint}`);
}

function toCount(label: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (/^\d+$/.test(text) && count >= 1 && Number.isSafeInteger(count)) return count;
  throw new UsageError(`${label} ${text}: not a whole number of 1 or more`);
}

function toAmount(label: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const amount = Number(text);
  if (/^(\d+\.?\d*|\.\d+)$/.test(text) && amount > 0 && Number.isFinite(amount)) return amount;
  throw new UsageError(`${label} ${text}: not an amount in US dollars above 0, such as 0.50`);
}
