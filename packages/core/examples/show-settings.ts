import { ConfigError, describeConfig, loadDiligentConfig } from "@diligent/core/config";

try {
  const loaded = await loadDiligentConfig(process.cwd());
  for (const { key, value, origin } of describeConfig(loaded))
    console.log(`${key} = ${JSON.stringify(value)} (${origin})`);
  for (const { message } of loaded.warnings) console.error(message);
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
