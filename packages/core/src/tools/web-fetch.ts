import type { Redactor, Tool } from "../tool/types.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { WebFetchParameters } from "./parameters.ts";
import { parseWebAddress, toFetchRequest } from "./web/address.ts";
import type { PageCache, WebFetchOptions } from "./web/fetch-page.ts";

/** What the tool needs besides the way pages are fetched. */
interface WebFetchToolOptions extends Omit<WebFetchOptions, "redact"> {
  /** Replaces secrets in addresses, which leave this machine. */
  redactor?: Redactor | undefined;
  isOffered?: () => boolean;
}

/** Reads a page from the web as Markdown; the user is asked about each host. */
export function createWebFetchTool({ redactor, isOffered, ...options }: WebFetchToolOptions): Tool {
  const redact = (text: string) => redactor?.redact(text) ?? text;
  let cache: PageCache | undefined;
  const tool: Tool<WebFetchParameters> = {
    name: "web_fetch",
    description: "Read a web page, text, JSON or PDF at an http(s) address, as Markdown.",
    get parameters() {
      return loadParameters().webFetchParameters;
    },
    inputSchema: INPUT_SCHEMAS.web_fetch,
    readOnly: true,
    permission: "fetch",
    ...(isOffered && { isOffered }),
    approval({ url }) {
      const address = parseWebAddress(redact(url));
      // Without a valid address nothing is fetched.
      return "problem" in address ? undefined : toFetchRequest(address);
    },
    async execute({ url, offset = 0 }, context) {
      const address = parseWebAddress(redact(url));
      if ("problem" in address) return { output: address.problem, isError: true };
      const fetching = await import("./web/fetch-page.ts");
      cache ??= new fetching.PageCache(options.clock);
      return fetching.fetchPage(address, offset, { ...options, redact, cache, context });
    },
  };
  return tool;
}
