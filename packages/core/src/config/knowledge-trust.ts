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
 * Whether the project's knowledge is used. `own`: written here. `once`: trusted until the program ends. `untrusted` and
 * `changed`: the model is not told what it says, and nothing is added to it. `none`: there is none yet.
 */
export type KnowledgeTrust =
  | { state: "none" | "own" | "trusted" }
  | { state: "once"; trustedOnce: Pick<TrustedProject, "directory" | "items"> }
  /** The message is one line for the user: why, and what to do. */
  | { state: "untrusted" | "changed"; message: string };

/** The project, and what is trusted there without being remembered. */
export interface KnowledgeTrustOptions {
  /** Absolute and real. */
  root: string;
  environment: Environment;
  trustedOnce?: Pick<TrustedProject, "directory" | "items"> | undefined;
}

/** Never throws: what cannot be read is not trusted. */
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
    return { state, message: `${path} is not used: ${explain(state, origin)}. ${WAY_OUT}` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { state: "untrusted", message: `The model is told nothing of earlier sessions: ${reason}` };
  }
}

const WAY_OUT = '"diligent knowledge" lists what it says, "diligent trust" accepts it.';

function explain(state: "untrusted" | "changed", origin: "tracked" | "foreign"): string {
  if (state === "changed") return "it has changed since you trusted it";
  return origin === "tracked"
    ? "git tracks it, so others may have written it"
    : "nothing shows that it was written on this machine";
}

/**
 * Lets our own line be appended: to a file that begins with it, which counts as the user's own from then on, to one that
 * is, and to one that the user trusts as it is now; the trust then holds for the file with the line.
 * @throws Error, in words for the user and the model, where the file waits for trust, and where that cannot be recorded.
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
