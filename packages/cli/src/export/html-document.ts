import { readChildren, reportCost } from "@diligent/core/cost";
import { findKnownModel } from "@diligent/core/run";
import { toConversationPage } from "../html/conversation-page.ts";
import type { TrajectorySurroundings } from "./read-trajectory.ts";
import type { TrajectorySession } from "./trajectory.ts";

/** A conversation as a page, with what it and its sub-agents cost. */
export function toHtmlDocument(
  { header, entries, path, name }: TrajectorySession,
  { sessionsDirectory, redactor }: Pick<TrajectorySurroundings, "sessionsDirectory" | "redactor">,
): string {
  const children = readChildren(sessionsDirectory, { header, entries }, { redactor });
  const cost = reportCost([{ header, entries }, ...children], findKnownModel);
  return toConversationPage({ header, path, name, cost });
}
