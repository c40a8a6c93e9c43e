/** What a command line can ask for beyond a plain run. */
export type Feature =
  | "continue"
  | "fork"
  | "list"
  | "verbose"
  | "demo"
  | "sessions"
  | "config"
  | "trust"
  | "untrust"
  | "knowledge"
  | "models"
  | "export"
  | "doctor"
  | "completions";

/** What is built. The parser knows all features; help lists these, and asking for another one says so. */
export const AVAILABLE_FEATURES: ReadonlySet<Feature> = new Set<Feature>([
  "config",
  "continue",
  "demo",
  "fork",
  "knowledge",
  "list",
  "models",
  "sessions",
  "trust",
  "untrust",
  "verbose",
]);
