import type { SafeCall } from "./safe-call.ts";
import type { ToolContext } from "./tool-look.ts";

/** The path that a call names, as short as it can be from the working directory; `?` where it names none. */
export function showPath(call: SafeCall, name: string, { cwd }: Pick<ToolContext, "cwd">): string {
  const path = call.text(name);
  if (path === undefined || path === "") return "?";
  if (cwd === undefined || cwd === "/" || !path.startsWith(`${cwd}/`)) return path;
  return path.slice(cwd.length + 1) || path;
}
