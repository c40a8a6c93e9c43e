import { formatCount } from "../text/format-amount.ts";
import { namedPath } from "./named-path.ts";
import type { SafeCall } from "./safe-call.ts";
import type { ToolLook } from "./tool-look.ts";

/** `read src/a.ts:10-40 · 31 lines`; the text itself is only in the pager. */
export const read: ToolLook = {
  title: (call, context) => namedPath(call, "file_path", context) + describeRange(call),
  summary(call) {
    if (call.state !== "done") return undefined;
    const [width, height] = [call.metadataNumber("width"), call.metadataNumber("height")];
    if (width !== undefined && height !== undefined) return `image, ${width} x ${height}`;
    const [first, last] = [call.metadataNumber("firstLine"), call.metadataNumber("lastLine")];
    if (first === undefined || last === undefined) return undefined;
    return last === 0 ? "empty" : formatCount(last - first + 1, "line");
  },
};

/** The lines that were asked for, or that were shown where these are known; nothing for a whole file. */
function describeRange(call: SafeCall): string {
  const [offset, limit] = [call.number("offset"), call.number("limit")];
  if (offset === undefined && limit === undefined) return "";
  const first = call.metadataNumber("firstLine") ?? Math.max(1, offset ?? 1);
  const last = call.metadataNumber("lastLine") ?? (limit === undefined ? undefined : first + limit - 1);
  return last === 0 ? "" : `:${first}-${last ?? ""}`;
}
