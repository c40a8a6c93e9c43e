import { resolvePaths } from "../infrastructure/diligent-dir.ts";
import { knowledgeFilePath } from "../infrastructure/knowledge-file.ts";
import {
  findKnowledgeOrigin,
  markOwnKnowledge,
  readKnowledgeContent,
} from "../infrastructure/knowledge-origin.ts";
import type { Environment } from "../infrastructure/runtime.ts";
import { findKnowledgeState, readTrust, type TrustedProject, updateTrust, withKnowledge } from "./trust.ts";

/**
 * Whether the project's knowledge is used. `own`: written on this machine. `once`: trusted until the program ends.
 * `untrusted` and `changed`: it is not sent to the model, and nothing is added to it. `none`: there is none yet.
 */
export type KnowledgeTrust =
  | { state: "none" | "own" | "trusted" }
  | { state: "once"; trustedOnce: Pick<TrustedProject, "directory" | "items"> }
  /** The message is one line for the user: the reason, and what to do. */
  | { state: "untrusted" | "changed"; message: string };

/** The project, and the trust that is not saved. */
export interface KnowledgeTrustOptions {
  /** Absolute and real. */
  root: string;
  environment: Environment;
  trustedOnce?: Pick<TrustedProject, "directory" | "items"> | undefined;
}

/** Never throws: unreadable knowledge is not trusted. */
export async function readKnowledgeTrust({
  root,
  environment,
  trustedOnce,
}: KnowledgeTrustOptions): Promise<KnowledgeTrust> {
  const origin = findKnowledgeOrigin(root, environment);
  if (origin === "none" || origin === "own") return { state: origin };
  const path = knowledgeFilePath(resolvePaths(root).knowledge);
  try {
    const content = readKnowledgeContent(root);
    const { projects } = await readTrust(environment);
    const record = projects.find(({ directory }) => directory === root);
    const state = findKnowledgeState(record, content);
    if (state === "trusted") return { state };
    const isOnce = trustedOnce?.directory === root && findKnowledgeState(trustedOnce, content) === "trusted";
    if (isOnce) return { state: "once", trustedOnce };
    return { state, message: `${path} is not used: ${explain(state, origin)}. ${REMEDY}` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { state: "untrusted", message: `Knowledge of earlier sessions is not used: ${reason}` };
  }
}

const REMEDY = '"diligent knowledge" shows its content, "diligent trust" accepts it.';

function explain(state: "untrusted" | "changed", origin: "tracked" | "foreign"): string {
  if (state === "changed") return "it has changed since you trusted it";
  return origin === "tracked"
    ? "git tracks it, so others may have written it"
    : "nothing shows that it was written on this machine";
}

/**
 * Appends to the knowledge file: if the line's file counts as the user's own, it still does afterwards; if the user
 * trusts it in its current state, the trust covers the new line.
 * @throws Error with a message for the user and the model when the file is not trusted, or when the trust cannot be
 * saved.
 */
export async function guardKnowledgeAppend(
  { root, environment }: Pick<KnowledgeTrustOptions, "root" | "environment">,
  firstLine: string,
  append: () => void,
): Promise<void> {
  const origin = findKnowledgeOrigin(root, environment);
  if (origin === "none") markOwnKnowledge(environment, firstLine);
  if (origin === "none" || origin === "own") {
    append();
    return;
  }
  const trust = await readKnowledgeTrust({ root, environment });
  if (trust.state !== "trusted")
    throw new Error(`Nothing was written. ${"message" in trust ? trust.message : ""}`);
  await updateTrust(environment, (projects) =>
    projects.map((project) => {
      const isTrusted =
        project.directory === root && findKnowledgeState(project, readKnowledgeContent(root)) === "trusted";
      if (!isTrusted) return project;
      append();
      return withKnowledge(project, readKnowledgeContent(root));
    }),
  );
}
