/**
 * The schemas that validate arguments. With the schema library they take longer to load than the rest of the tools,
 * so they are loaded with the first call; synchronously, since the parameters of a tool are a value and not a
 * promise.
 */
export function loadParameters(): typeof import("./parameters.ts") {
  return require("./parameters.ts");
}
