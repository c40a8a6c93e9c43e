/**
 * Loads the schemas that validate arguments. With the schema library they take longer to load than the other tool code,
 * so they are loaded with the first call; synchronously, since the parameters of a tool are not a promise.
 */
export function loadParameters(): typeof import("./parameters.ts") {
  return require("./parameters.ts");
}
