/**
 * The schemas by which arguments are checked. With the schema library they take longer to load than all the rest of the
 * tools, so they are loaded with the first call; at once, since the parameters of a tool are a value and no promise.
 */
export function loadParameters(): typeof import("./parameters.ts") {
  return require("./parameters.ts");
}
