import type { SessionFormatter } from "@diligent/core/light";
import type { SessionInfo } from "@diligent/core/sessions";
import { formatLocalMinute } from "../text/format.ts";
import { toSingleLine } from "../text/terminal-text.ts";

/** Even if closing something hangs, the program ends within two seconds of a signal. */
export const SESSION_FORMATTER: SessionFormatter = {
  reference: (text) => toSingleLine(text, 60),
  session: ({ id, modified, name, firstUserMessage }) =>
    `${id} [${formatLocalMinute(modified)}] ${toSingleLine(name ?? firstUserMessage ?? "", 40)}`.trimEnd(),
};

/** The remark of a list after a session, for example that it is archived. */
export function sessionMarks({ archived, tracked }: SessionInfo): string[] {
  return [...(archived ? ["(archived)"] : []), ...(tracked ? ["(from the repository)"] : [])];
}
