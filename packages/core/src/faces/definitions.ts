/** What the commands about definitions need: skills, sub-agents, and the trust in those of a project. */

export { checkSkill, readSkillText } from "../extensions/skills/check-skill.ts";
export { isSkillName } from "../extensions/skills/parse-skill.ts";
export { type ListedSkill, listSkills } from "../harness/prompts/skills.ts";
export { listAgents } from "../harness/sub-agents.ts";
export { describeProjectTrust, openProjectTrust } from "../harness/trust.ts";
