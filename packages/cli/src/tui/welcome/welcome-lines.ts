import { sanitizeTerminalText } from "../../terminal-text.ts";
import { wrapIndented } from "../text/wrap-indented.ts";
import type { Theme } from "../theme.ts";

/** A provider with a service of its own, and how it gets its key. */
export interface KeyHint {
  variable: string;
  keyPage: string;
  /** Has to be set too, where the default model is another provider's. */
  modelId?: string | undefined;
}

/** What the page is made of; `width` is in columns. */
export interface WelcomeLook {
  width: number;
  theme: Theme;
  hints: readonly KeyHint[];
  /** Where the user's own configuration is, or would be. */
  configPath: string | undefined;
}

const SERVER_EXAMPLE = [
  '{ "model": "local/NAME",',
  '  "provider": { "compatible": { "local": {',
  '    "baseUrl": "http://localhost:11434/v1" } } } }',
];
// On a narrower screen, which is a small one as a rule, the example would push the rest out of sight.
const EXAMPLE_FROM_COLUMNS = 60;

/** What somebody needs to know who has no key yet, on one screen of 40 columns and 15 rows. */
export function welcomeLines({ width, theme, hints, configPath }: WelcomeLook): string[] {
  const isWide = width >= EXAMPLE_FROM_COLUMNS;
  const gap = isWide ? [""] : [];
  const path = configPath === undefined ? "your configuration" : sanitizeTerminalText(configPath);
  const lines = [
    theme.bold("No API key found. Set one, start again:"),
    "",
    ...hints.flatMap((hint) => [...hintLines(hint, theme), ...gap]),
    `${isWide ? "or, for a model on your own machine" : "or a local server"}, in`,
    theme.accent(`  ${path}`),
    ...(isWide ? SERVER_EXAMPLE.map((line) => `    ${line}`) : []),
    "",
    `${theme.accent("Enter")}  see the demo, without a key`,
    `${theme.accent("q")}      leave`,
  ];
  return lines.flatMap((line) => wrapIndented(line, width));
}

function hintLines({ variable, keyPage, modelId }: KeyHint, theme: Theme): string[] {
  const model = modelId === undefined ? [] : [theme.accent(`export DILIGENT_MODEL=${modelId}`)];
  const page = theme.dim(`  ${keyPage.replace(/^https:\/\//, "")}`);
  return [theme.accent(`export ${variable}=…`), ...model, page];
}
