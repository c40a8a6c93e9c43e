import { describe, expect, test } from "bun:test";
import type { Skill } from "../../../src/extensions/skills/skill-index.ts";
import { composeSkillSection } from "../../../src/extensions/skills/skill-section.ts";

function makeSkills(count: number, description: string, more: Partial<Skill> = {}): Skill[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `skill-${index}`,
    description,
    isModelInvocable: true,
    isUserInvocable: true,
    allowedTools: [],
    argumentNames: [],
    warnings: [],
    directory: "/d",
    path: "/d/SKILL.md",
    shown: "d",
    boundary: undefined,
    sha256: "",
    ...more,
  }));
}

describe("composeSkillSection()", () => {
  test("lists each skill with its whole description where they fit", () => {
    const section = composeSkillSection(makeSkills(2, "Does a thing."), 2_000) ?? "";
    expect(section.split("\n").slice(-2)).toEqual(["- skill-0: Does a thing.", "- skill-1: Does a thing."]);
  });

  test("is left out without a skill that the model may load", () => {
    expect(composeSkillSection([], 2_000)).toBeUndefined();
    expect(composeSkillSection(makeSkills(3, "x", { isModelInvocable: false }), 2_000)).toBeUndefined();
  });

  test.each([
    [50, "x".repeat(1_000), 2_000, /^- skill-49: x+…$/],
    [500, "Does a thing for the user, in many words.", 2_000, /^Names: skill-0, .*skill-499\. Call/],
    [10_000, "Does a thing.", 2_000, /^Names: skill-0, .*\. \d+ more: call/],
    [500, "Does a thing.", 80, /^500 more: call|^Names: skill-0.* more: call/],
  ])("keeps %i skills within their tokens", (count, description, tokens, last) => {
    const section = composeSkillSection(makeSkills(count, description), tokens) ?? "";
    expect(section.length).toBeLessThanOrEqual(tokens * 4);
    expect(section.split("\n").at(-1)).toMatch(last);
  });

  test("counts letters outside of ASCII as a token each, and cuts none of them in half", () => {
    const section = composeSkillSection(makeSkills(40, "😀説明".repeat(200)), 2_000) ?? "";
    expect(section.isWellFormed()).toBe(true);
    const others = section.match(/[^\p{ASCII}]/gu)?.length ?? 0;
    expect((section.length - others) / 4 + others).toBeLessThanOrEqual(2_000);
  });

  test("in a window without room says only how to use skills", () => {
    const section = composeSkillSection(makeSkills(3, "Does a thing."), 0) ?? "";
    expect(section).toContain("`skill` tool");
    expect(section).not.toContain("skill-0");
  });
});
