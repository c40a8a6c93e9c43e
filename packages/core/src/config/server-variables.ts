import type { Environment } from "../infrastructure/runtime.ts";

/** A text with its variables replaced, and the names of those that are not set and have no default. */
export interface ExpandedText {
  text: string;
  unset: string[];
}

// `${NAME}`, `${NAME:-default}` and `{env:NAME}`, as other agents write them.
const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\{env:([^{}]+)\}/g;

/** Replaces the variables in a setting of a server. Values are not expanded again. */
export function expandVariables(text: string, environment: Environment): ExpandedText {
  const unset: string[] = [];
  const expanded = text.replace(VARIABLE, (_, shell?: string, fallback?: string, written?: string) => {
    const name = shell ?? written?.trim() ?? "";
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (value !== undefined && (value !== "" || fallback === undefined)) return value;
    if (fallback === undefined) unset.push(name);
    return fallback ?? "";
  });
  return { text: expanded, unset };
}
