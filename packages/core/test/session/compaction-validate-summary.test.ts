import { describe, expect, test } from "bun:test";
import { validateSummary } from "../../src/session/compaction/summary-request.ts";
import { GOOD_SUMMARY } from "../support/summaries.ts";

const FILLER = "x".repeat(200);

describe("a summary is usable", () => {
  test("with all of its sections", () => {
    expect(validateSummary(GOOD_SUMMARY)).toEqual({ isValid: true });
  });

  test("with two of its three main sections, in any case and at any level of heading", () => {
    for (const headings of [
      "## GOALS\n### progress",
      "##goal\n## Critical  context",
      "#### Progress\n## CRITICAL CONTEXT",
    ]) {
      expect(validateSummary(`${headings}\n${FILLER}`)).toEqual({ isValid: true });
    }
  });

  test("from 200 characters on", () => {
    const start = "## Goal\n## Progress\n";
    expect(validateSummary(start.padEnd(200, "x")).isValid).toBe(true);
    expect(validateSummary(start.padEnd(199, "x"))).toEqual({
      isValid: false,
      problem: "the summary had only 199 characters",
    });
  });

  test("above 8,000 characters too", () => {
    expect(validateSummary(GOOD_SUMMARY + "x".repeat(8_000))).toEqual({ isValid: true });
  });
});

describe("a summary is not usable", () => {
  test("when it is empty, blank or too short", () => {
    expect(validateSummary("")).toEqual({ isValid: false, problem: "the summary was empty" });
    expect(validateSummary(" \n".repeat(200))).toEqual({ isValid: false, problem: "the summary was empty" });
    expect(validateSummary("## Goal\n## Progress")).toMatchObject({ isValid: false });
  });

  test("without two of its main sections, which are named", () => {
    expect(validateSummary(`## Goal\n${FILLER}`)).toEqual({
      isValid: false,
      problem: 'the summary lacked the sections "## Progress", "## Critical Context"',
    });
    expect(validateSummary(`Goal, Progress and Critical Context were discussed. ${FILLER}`).isValid).toBe(
      false,
    );
    expect(validateSummary(`## Goalkeeper\n## Progressive\n${FILLER}`).isValid).toBe(false);
  });

  test("when a server went on far beyond what it was allowed", () => {
    expect(validateSummary(GOOD_SUMMARY + "x".repeat(40_000))).toMatchObject({ isValid: false });
    expect(validateSummary(GOOD_SUMMARY, { maxCharacters: 300 })).toEqual({
      isValid: false,
      problem: `the summary had ${GOOD_SUMMARY.length} characters, more than 300`,
    });
  });
});
