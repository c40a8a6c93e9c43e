export { type AttachOptions, attachFiles, type PromptContent } from "./attach-files.ts";
export { findMentions } from "./find-mentions.ts";
