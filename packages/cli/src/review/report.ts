import type { Changes, Finding } from "@diligent/core/review";
import { toJsonText } from "../text/format.ts";
import { sanitizeTerminalText } from "../text/terminal-text.ts";
import { toSarif } from "./sarif.ts";

/** Values of `--format` of `diligent review`. */
export type ReviewFormat = "text" | "json" | "sarif";

/** What is written to stdout about a review. */
export function formatReview(
  findings: readonly Finding[],
  { title }: Pick<Changes, "title">,
  format: ReviewFormat,
): string {
  switch (format) {
    case "text":
      return [
        ...findings.map(toLine),
        `${describeCount(findings)} in ${sanitizeTerminalText(title)}.`,
        "",
      ].join("\n");
    case "json":
      return toJsonText(findings);
    case "sarif":
      return toJsonText(toSarif(findings));
  }
}

/** As compilers print it, so that terminals and editors find the place. */
function toLine({ file, line, severity, message, inDiff }: Finding): string {
  const mark = inDiff === false ? " (not in the diff)" : "";
  return `${toOneLine(file)}:${line}: ${severity}: ${toOneLine(message)}${mark}`;
}

function toOneLine(text: string): string {
  return sanitizeTerminalText(text).replace(/\s+/g, " ").trim();
}

function describeCount(findings: readonly Finding[]): string {
  if (findings.length === 0) return "No findings";
  const counts = (["error", "warning", "note"] as const).flatMap((severity) => {
    const count = findings.filter((finding) => finding.severity === severity).length;
    return count === 0 ? [] : [`${count} ${severity}${count === 1 ? "" : "s"}`];
  });
  return `${findings.length} finding${findings.length === 1 ? "" : "s"} (${counts.join(", ")})`;
}
