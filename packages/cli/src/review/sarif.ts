import type { Finding } from "@diligent/core/review";
import { VERSION } from "../version.ts";

const SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const RULE = "review";

/** The findings as a log of SARIF 2.1.0, for programs that show the results of analyses. */
export function toSarif(findings: readonly Finding[]): object {
  return {
    $schema: SCHEMA,
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "diligent",
            version: VERSION,
            rules: [
              {
                id: RULE,
                name: "Review",
                shortDescription: { text: "A problem that a review of changes has found" },
              },
            ],
          },
        },
        columnKind: "utf16CodeUnits",
        invocations: [{ executionSuccessful: true }],
        results: findings.map(toResult),
      },
    ],
  };
}

function toResult({ file, line, severity, message, inDiff }: Finding): object {
  return {
    ruleId: RULE,
    ruleIndex: 0,
    level: severity,
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: toUri(file), uriBaseId: "%SRCROOT%" },
          region: { startLine: line },
        },
      },
    ],
    // The line is left out: it changes with every edit above.
    partialFingerprints: { "diligentFinding/v1": Bun.SHA256.hash(`${file}\0${message}`, "hex") },
    ...(inDiff === false && { properties: { inDiff } }),
  };
}

/** A relative URI; a colon in the first part of a name would be taken for a scheme. */
function toUri(file: string): string {
  return file.split("/").map(encodeURIComponent).join("/");
}
