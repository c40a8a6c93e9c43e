/** A plugin that cannot be used, or a source that cannot be read; the message is a sentence for the user. */
export class PluginError extends Error {
  override name = "PluginError";
}
