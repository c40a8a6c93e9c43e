import type { Tool } from "../tool/types.ts";
import { formatTodos, type TodoItem } from "../types.ts";
import type { OfferOptions } from "./file-tools.ts";
import INPUT_SCHEMAS from "./input-schemas.json";
import { loadParameters } from "./load-parameters.ts";
import type { TodoParameters } from "./parameters.ts";

/**
 * Shows the user a checklist of the work, which the session keeps. Each call replaces the list; it changes nothing
 * else, so it needs no approval.
 * @param save stores the list and shows it.
 */
export function createTodoTool(
  save: (todos: readonly TodoItem[]) => void,
  { isOffered }: OfferOptions = {},
): Tool {
  const tool: Tool<TodoParameters> = {
    name: "todo",
    description:
      "Show the user a checklist for work of three or more steps. Each call replaces the whole list, [] removes it. " +
      "Keep one item in_progress, and complete it as soon as it is done.",
    get parameters() {
      return loadParameters().todoParameters;
    },
    inputSchema: INPUT_SCHEMAS.todo,
    readOnly: true,
    ...(isOffered && { isOffered }),
    approval: () => undefined,
    async execute({ todos }) {
      save(todos);
      return { output: todos.length === 0 ? "The checklist was removed." : formatTodos(todos) };
    },
  };
  return tool;
}
