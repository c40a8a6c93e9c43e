/** What the commands about definitions need: rules, skills, sub-agents, and the trust in those of a project. */

export { readPlugins } from "../extensions/plugins/plugin-paths.ts";
export { describeGuards } from "../extensions/rules/describe-guard.ts";
export { checkRuleFile, findRules, type PlacedRule } from "../extensions/rules/find-rules.ts";
export type { Rule } from "../extensions/rules/types.ts";
export { checkSkill, readSkillText } from "../extensions/skills/check-skill.ts";
export { isSkillName } from "../extensions/skills/parse-skill.ts";
export { type ListedSkill, listSkills } from "../harness/prompts/skills.ts";
export { listAgents } from "../harness/sub-agents.ts";
export { describeProjectTrust, openProjectTrust } from "../harness/trust.ts";
