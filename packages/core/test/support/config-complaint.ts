import { ConfigError } from "../../src/config/errors.ts";
import { readConfig } from "../../src/config/layers.ts";

/** What is said against a configuration file named `F` with this text; `none` when nothing is wrong with it. */
export function complaintAbout(text: string): string {
  try {
    readConfig({ text, path: "F" }, { kind: "fill", environment: {} });
    return "none";
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}
