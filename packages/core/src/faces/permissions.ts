/** What the import of permissions needs: the rules of other agents, and where they are added. */
export { findForeignRules } from "../approval/import/find-rules.ts";
export type { ForeignRule, ForeignRuleFile } from "../approval/import/types.ts";
export { type AddedRules, addImportedRules } from "../config/import-rules.ts";
