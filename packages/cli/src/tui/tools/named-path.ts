import { showPath } from "../text/show-path.ts";
import type { SafeCall } from "./safe-call.ts";
import type { ToolContext } from "./tool-look.ts";

/** The path that a call names, as short as it can be from the working directory; `?` where it names none. */
export function namedPath(call: SafeCall, name: string, { cwd }: Pick<ToolContext, "cwd">): string {
  const path = call.text(name);
  return path === undefined || path === "" ? "?" : showPath(path, cwd);
}
