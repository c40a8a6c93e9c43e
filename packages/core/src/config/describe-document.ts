import type { ConfigWarning } from "./config-error.ts";
import type { ConfigDocument } from "./document.ts";

/** What the user should know of a file that can be used. */
export function describeDocument({ source, duplicates, unset, placeOf }: ConfigDocument): ConfigWarning[] {
  const warnings: ConfigWarning[] = [];
  if (duplicates.length > 0) {
    const names = duplicates.map(({ key, nameOffset }) => {
      const { line, column } = placeOf(nameOffset);
      return `"${key}" (${line}:${column})`;
    });
    const message = `${source}: set more than once, the last one counts: ${listSome(names)}`;
    warnings.push({ code: "duplicate_key", message });
  }
  if (unset.size > 0) {
    const names = [...unset].map(([name, keys]) => `${name} (in ${listSome(keys)})`);
    const message = `${source}: environment variables that are not set count as empty: ${listSome(names)}`;
    warnings.push({ code: "unset_variable", message });
  }
  return warnings;
}

const MAX_LISTED = 50;

/** Names after commas; a file of nothing but faults does not fill the screen. */
export function listSome(names: readonly string[]): string {
  const rest = names.length - MAX_LISTED;
  return names.slice(0, MAX_LISTED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}
