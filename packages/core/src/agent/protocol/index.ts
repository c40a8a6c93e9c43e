/** The lines that programs exchange with the program in the format stream-json, as schemas. */

export { eventJsonSchema } from "./events.ts";
export { type InputLine, inputJsonSchema, parseInputLine } from "./input.ts";
