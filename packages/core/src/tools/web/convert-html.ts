import {
  runIsolatedTask,
  serveIsolatedTask,
  type TaskLimits,
} from "../../infrastructure/process/isolated-task.ts";
import type { MarkdownPage } from "./html-to-markdown.ts";

/** A page as a server sent it. */
interface HtmlPage {
  html: string;
  /** Its address. */
  url: string;
}

// The largest page that is searched for an article needs about 150 MB.
const MAX_MEMORY_BYTES = 400 * 1024 * 1024;

/**
 * Converts HTML to Markdown on a thread of its own, which also loads the libraries; see `htmlToMarkdown`.
 *
 * @throws Error with a clause, also for a page that exceeds a limit
 */
export async function convertHtml(
  page: HtmlPage,
  limits: Pick<TaskLimits, "timeoutMs" | "signal">,
): Promise<MarkdownPage> {
  let converted: MarkdownPage | undefined;
  await runIsolatedTask(import.meta.url, page, {
    limits: { ...limits, maxMemoryBytes: MAX_MEMORY_BYTES },
    receive(result) {
      if (isMarkdownPage(result)) converted = result;
    },
  });
  if (!converted) throw new Error("nothing came of it");
  return converted;
}

function isMarkdownPage(result: unknown): result is MarkdownPage {
  return typeof result === "object" && result !== null && "title" in result && "markdown" in result;
}

function isHtmlPage(input: unknown): input is HtmlPage {
  return typeof input === "object" && input !== null && "html" in input && "url" in input;
}

serveIsolatedTask(import.meta.url, async function* (input) {
  if (!isHtmlPage(input)) throw new Error("no page was given");
  const { htmlToMarkdown } = await import("./html-to-markdown.ts");
  yield htmlToMarkdown(input.html, input.url);
});
