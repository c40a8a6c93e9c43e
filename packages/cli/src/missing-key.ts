import type { DiligentConfig } from "@diligent/core/run";
import { UsageError } from "./usage-error.ts";

/** The provider of the model has no key. */
export class MissingKeyError extends UsageError {
  constructor(
    message: string,
    /** No provider at all was set up yet: whoever started us may never have used us. */
    readonly isFirstStart: boolean,
  ) {
    super(message);
  }
}

interface KeyPlace {
  /** The variable that holds its key. */
  variable: string;
  /** Where to get one. */
  keyPage: string;
}

/** The error that says where to get a key; it is for the caller to throw. */
export function missingKey(
  { variable, keyPage }: KeyPlace,
  { provider }: Pick<DiligentConfig, "provider">,
): MissingKeyError {
  const message = `No API key: set ${variable}. Get a key at ${keyPage}, or try \`diligent demo\`, which needs none.`;
  const { anthropic, openai, compatible = {} } = provider ?? {};
  const isSetUp = Boolean(anthropic?.apiKey || openai?.apiKey) || Object.keys(compatible).length > 0;
  return new MissingKeyError(message, !isSetUp);
}
