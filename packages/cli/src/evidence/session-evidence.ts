import type { CheckRecord } from "@diligent/core/run";
import { type Evidence, formatEvidence } from "./format-evidence.ts";

const MAX_TURNS = 20;

/** The evidence of the last turns that have any, as lines. Entries that another program wrote are left out. */
export function describeEvidenceOf(entries: readonly { timestamp: string; data: unknown }[]): string[] {
  const reports = entries.flatMap(({ timestamp, data }) => {
    const evidence = parseEvidence(data);
    return evidence ? [{ timestamp, evidence }] : [];
  });
  if (reports.length === 0) return ["No check has run in this conversation."];
  const shown = reports.slice(-MAX_TURNS).flatMap(({ timestamp, evidence }) => {
    const [, ...lines] = formatEvidence(evidence);
    return [`${timestamp.slice(0, 16).replace("T", " ")} (UTC)`, ...lines];
  });
  const hidden = reports.length - MAX_TURNS;
  return [
    "Evidence of this conversation",
    "",
    ...(hidden > 0 ? [`(${hidden} earlier turns are not shown)`] : []),
    ...shown,
  ];
}

function parseEvidence(data: unknown): Evidence | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { checks, missing, unsupported, lacking }: Partial<Record<string, unknown>> = { ...data };
  if (!isList(checks, isCheck) || !isList(unsupported, isText)) return undefined;
  return {
    checks,
    missing: isList(missing, isKind) ? missing : [],
    unsupported,
    ...(isList(lacking, isText) && { lacking }),
  };
}

function isList<T>(value: unknown, isItem: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(isItem);
}

const isText = (value: unknown): value is string => typeof value === "string";

const isKind = (value: unknown): value is CheckRecord["kind"] =>
  value === "tests" || value === "types" || value === "lint" || value === "build";

function isCheck(value: unknown): value is CheckRecord {
  if (typeof value !== "object" || value === null) return false;
  const { name, kind, exitCode, isStale }: Partial<Record<string, unknown>> = { ...value };
  const hasCode = exitCode === null || typeof exitCode === "number";
  return isText(name) && isKind(kind) && hasCode && typeof isStale === "boolean";
}
