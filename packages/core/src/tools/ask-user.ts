import type { Tool } from "../tool/types.ts";
import type { UserQuestion } from "../types.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { AskUserParameters } from "./parameters.ts";

/**
 * Asks the user questions and resolves with the answers to each, in order: labels of options, or the user's own text.
 * Undefined if the user does not want to answer.
 */
export type AskUser = (
  questions: readonly UserQuestion[],
  options: { signal: AbortSignal },
) => Promise<string[][] | undefined>;

/** Asks the user what only the user can decide. @param askUser left out when no user is present: then it refuses. */
export function createAskUserTool(askUser: AskUser | undefined): Tool {
  const tool: Tool<AskUserParameters> = {
    name: "ask_user",
    description:
      "Ask the user to decide between options, if the answer changes what you do and cannot be found in the project. " +
      "The user may also answer in their own words.",
    get parameters() {
      return loadParameters().askUserParameters;
    },
    inputSchema: INPUT_SCHEMAS.ask_user,
    readOnly: true,
    runsAlone: () => true,
    isOffered: () => askUser !== undefined,
    approval: () => undefined,
    async execute({ questions }, { signal }) {
      if (!askUser) return { output: NOBODY, isError: true };
      const answers = await askUser(questions, { signal });
      if (!answers)
        return { output: "The user did not answer. Decide yourself, or do what needs no answer." };
      return { output: questions.map((question, index) => describe(question, answers[index])).join("\n") };
    },
  };
  return tool;
}

const NOBODY =
  "No user is present to answer. Choose what is easy to change later, and name the choice and the alternatives at the end.";

function describe({ question }: UserQuestion, answers: readonly string[] = []): string {
  return `${question.trim()}\n→ ${answers.length === 0 ? "(no answer)" : answers.join(", ")}`;
}
