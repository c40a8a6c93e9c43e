import type { AskForHost } from "../infrastructure/network/connection.ts";
import { formatHostAndPort } from "../infrastructure/network/host-pattern.ts";
import type { ApprovalRequest, ApprovalResponse } from "./types.ts";

/** Asks about a host through whatever decides about requests. */
export function createHostQuestion({
  approve,
}: {
  approve(request: ApprovalRequest): Promise<ApprovalResponse>;
}): AskForHost {
  return async ({ host, port }, command) => {
    const response = await approve({
      permission: "fetch",
      toolName: "network",
      description: `network: connect to ${formatHostAndPort({ host, port })}`,
      details: { host, port, ...(command !== undefined && { command }) },
    });
    return response !== "reject";
  };
}
