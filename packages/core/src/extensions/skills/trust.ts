import { join, relative } from "node:path";
import type { TrustItem, TrustKind } from "../../config/trust-items.ts";
import { findNestedDirectories, SKILL_LOCATIONS } from "../definitions/directories.ts";
import { readSkills } from "./find-skills.ts";
import type { Skill } from "./skill-index.ts";

/** The skills of a project, as they need trust. */
export const SKILL_TRUST: TrustKind = {
  kind: "skill",
  title: "Skills that the model is offered",
  noun: ["skill", "skills"],
  async find({ root, environment }) {
    const directories = findNestedDirectories(root, SKILL_LOCATIONS.project);
    const { skills, skipped } = await readSkills(directories, {
      environment,
      isPersistent: false,
      keepsEqualNames: true,
    });
    return {
      items: skills.map((skill) => toSkillItem(skill, root)),
      warnings: skipped.map(({ shown, reason }) => ({
        code: "skill_not_loaded",
        message: `${join(root, shown)} is not a usable skill: ${reason}`,
      })),
    };
  },
};

/** What the user decides about before a skill of the project is used. */
export function toSkillItem(skill: Skill, root: string): TrustItem & { skill: Skill } {
  const { name, description, allowedTools, path, sha256 } = skill;
  const details: Record<string, string> = { description };
  if (allowedTools.length > 0) details["allowed-tools"] = allowedTools.join(", ");
  return { kind: "skill", name, path: relative(root, path), details, sha256, skill };
}
