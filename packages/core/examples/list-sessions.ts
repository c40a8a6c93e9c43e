import { homedir } from "node:os";
import { findProjectRoot, messageText, resolvePaths } from "@diligent/core";
import { listSessions, readConversation, readSessionFile } from "@diligent/core/sessions";

const { sessions } = resolvePaths(findProjectRoot(process.cwd(), homedir()));
for (const { id, path, name, firstUserMessage } of await listSessions(sessions)) {
  // The conversation as the model would get it: summarized parts are replaced by their summary.
  const { messages } = readConversation(readSessionFile(path));
  const last = messages.findLast((message) => message.role === "assistant");
  console.log(`${id}  ${name ?? firstUserMessage ?? "(no messages)"}`);
  console.log(`  ${messages.length} messages; the last reply: ${last ? messageText(last) : "none"}`);
}
