import type { CliIo } from "../../cli-io.ts";
import { type Check, ok, warning } from "./check.ts";

// Below this a diff is no pleasure to read.
const NARROW_COLUMNS = 40;

/** What the screen would have to draw on. */
export function checkTerminal({ stdin, stdout, environment }: CliIo): Check {
  const { TERM = "", NO_COLOR } = environment;
  if (!stdin.isTerminal || !stdout.isTerminal)
    return ok("terminal", "none here: print mode is what would be used");
  if (TERM === "" || TERM === "dumb")
    return warning("terminal", `TERM is ${TERM || "not set"}: plain lines instead of the screen`);
  const { columns = 0 } = stdout;
  const facts = [TERM, `${columns} columns`, ...(NO_COLOR ? ["NO_COLOR"] : [])].join(", ");
  if (columns > 0 && columns < NARROW_COLUMNS) return warning("terminal", `${facts}: very narrow`);
  if (!isUtf8(environment))
    return warning("terminal", `${facts}; the locale is not UTF-8`, "set LANG to one such as C.UTF-8");
  return ok("terminal", facts);
}

/** The first of them that is set decides, as everywhere. */
function isUtf8({ LC_ALL, LC_CTYPE, LANG }: CliIo["environment"]): boolean {
  const locale = LC_ALL || LC_CTYPE || LANG;
  return locale === undefined || locale === "" || /utf-?8/i.test(locale);
}
