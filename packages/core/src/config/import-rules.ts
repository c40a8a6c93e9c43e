import { isDeepStrictEqual } from "node:util";
import { locateFile } from "../infrastructure/fs/read.ts";
import { isInside } from "../infrastructure/fs/real-path.ts";
import { type Environment, now } from "../infrastructure/runtime.ts";
import { readProjectFile } from "./document.ts";
import { surroundRules } from "./jsonc-edit.ts";
import type { PermissionRule } from "./schema.ts";
import { findProjectConfigPath, findUserConfigPath } from "./server-settings.ts";
import { describeTrust, findTrustState, type TrustState } from "./trust.ts";
import { readTrust, updateTrust } from "./trust-store.ts";

/** Where rules are added: to the user's file, or to that of the project. */
interface RuleTarget {
  environment: Environment;
  /** The project root, absolute and real. */
  root: string;
  scope: "user" | "project";
}

/** The rules that were added. */
export interface AddedRules {
  path: string;
  count: number;
  /** True if the project's file has to be trusted before its rules that allow apply. */
  needsTrust: boolean;
}

/**
 * Adds rules whose order matters: of those that match, the last one decides. The rules that are there already stay
 * stronger, but for denials without an exception, which are added at the end: nothing that was refused or asked about
 * before is allowed now. A project's file that was trusted, or that did not exist, is trusted with the new content.
 * @throws ConfigError or Error; nothing was written then.
 */
export async function addImportedRules(
  { environment, root, scope }: RuleTarget,
  rules: readonly PermissionRule[],
): Promise<AddedRules> {
  const select = (existing: readonly PermissionRule[]) => splitRules(existing, rules);
  if (scope === "user") {
    const path = await findUserConfigPath(environment);
    const { before, now } = await surroundRules({ path, environment, isShared: false }, select);
    return { path, count: now.length - before.length, needsTrust: false };
  }
  const path = await findProjectConfigPath(root);
  if (!isInside(locateFile(path).realPath, root))
    throw new Error(`${path} is a link out of the project; nothing was written.`);
  const trust = await findSavedTrust(root, environment);
  const { before, now, sha256 } = await surroundRules({ path, environment, isShared: true }, select);
  const count = now.length - before.length;
  const mayTrust = count > 0 && (trust === "trusted" || trust === "none");
  const isTrusted = mayTrust && (await trustConfigFile({ root, environment, sha256 }));
  return { path, count, needsTrust: count > 0 && !isTrusted };
}

/** What of the new rules comes before the existing ones, and what after them. */
function splitRules(
  existing: readonly PermissionRule[],
  rules: readonly PermissionRule[],
): { first: PermissionRule[]; last: PermissionRule[] } {
  const lastOther = rules.findLastIndex(({ action }) => action !== "deny");
  const isKnown = (rule: PermissionRule) => existing.some((each) => isDeepStrictEqual(each, rule));
  const lastRelaxing = existing.findLastIndex(({ action }) => action !== "deny");
  const holds = (rule: PermissionRule) =>
    existing.some((each, index) => index > lastRelaxing && isDeepStrictEqual(each, rule));
  return {
    first: withoutRepeats(rules.slice(0, lastOther + 1)).filter((rule) => !isKnown(rule)),
    last: withoutRepeats(rules.slice(lastOther + 1)).filter((rule) => !holds(rule)),
  };
}

/** The last of equal rules counts. */
function withoutRepeats(rules: readonly PermissionRule[]): PermissionRule[] {
  return rules.filter(
    (rule, index) => !rules.slice(index + 1).some((later) => isDeepStrictEqual(later, rule)),
  );
}

async function findSavedTrust(root: string, environment: Environment): Promise<TrustState> {
  const reading = await readProjectFile(root);
  if (reading.kind !== "file") return reading.kind === "none" ? "none" : "untrusted";
  const { projects } = await readTrust(environment);
  return findTrustState(
    projects.find(({ directory }) => directory === root),
    reading.file,
  );
}

/**
 * Saves the trust in the configuration file if it has this content; nothing else of the project becomes trusted. False if
 * another program has changed it meanwhile.
 */
async function trustConfigFile({
  root,
  environment,
  sha256,
}: Pick<RuleTarget, "root" | "environment"> & { sha256: string }): Promise<boolean> {
  const { items } = await describeTrust(root, environment);
  const config = items.find((item) => item.kind === "config" && item.sha256 === sha256);
  if (config === undefined) return false;
  await updateTrust(environment, (projects) => {
    const record = projects.find(({ directory }) => directory === root);
    const others = (record?.items ?? []).filter(({ kind }) => kind !== "config");
    const fresh = { directory: root, trustedAt: new Date(now()).toISOString() };
    return [
      ...projects.filter(({ directory }) => directory !== root),
      { ...(record ?? fresh), items: [config, ...others] },
    ];
  });
  return true;
}
