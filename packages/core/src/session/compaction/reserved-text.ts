/** Tags of the request for a summary. */
const REQUEST_TAGS = /<(?=[\s/]*(?:previous-summary|transcript|focus)\b)/gi;

/** Tags and headings of the sections that are made by program and follow a summary. */
const SECTION_TAGS = /<(?=[\s/]*(?:user-message|read-files|modified-files)\b)/gi;
const SECTION_HEADINGS = /^[ \t]*#+[ \t]*(?=(?:user messages|files read|files modified)[ \t]*$)/gim;

const WHOLE_FENCE = /^```(?:markdown|md)?\n([\s\S]*)\n```$/;

/** Text for a place between tags of the request: it can neither end nor open one. Otherwise it is unchanged. */
export function withoutRequestTags(text: string): string {
  return text.replace(REQUEST_TAGS, "‹");
}

/** A model's summary without a fence around it, and without what would pass for one of the sections made by program. */
export function cleanSummary(text: string): string {
  const trimmed = text.trim();
  const bare = WHOLE_FENCE.exec(trimmed)?.[1]?.trim() ?? trimmed;
  return bare.toWellFormed().replace(SECTION_TAGS, "‹").replace(SECTION_HEADINGS, "");
}
