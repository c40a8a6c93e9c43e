/** What the commands about definitions need: skills, sub-agents, and the trust in those of a project. */
export { type ListedSkill, listSkills } from "../harness/prompts/skills.ts";
export { listAgents } from "../harness/sub-agents.ts";
export { describeProjectTrust, openProjectTrust } from "../harness/trust.ts";
export { checkSkill, readSkillText } from "../skills/check-skill.ts";
export { isSkillName } from "../skills/parse-skill.ts";
