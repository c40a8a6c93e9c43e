import type { PrivateTemporary } from "./private-temporary.ts";

/**
 * Package managers are told that there is no network: of themselves some try for more than a minute before they say so.
 * From npm's, pip's, cargo's, go's, uv's and yarn's documentation.
 */
const OFFLINE: Readonly<Record<string, string>> = {
  npm_config_fetch_retries: "0",
  npm_config_update_notifier: "false",
  npm_config_audit: "false",
  npm_config_fund: "false",
  YARN_HTTP_RETRY: "0",
  PIP_RETRIES: "0",
  PIP_NO_INPUT: "1",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
  UV_HTTP_RETRIES: "0",
  CARGO_NET_OFFLINE: "true",
  CARGO_NET_RETRY: "0",
  GOPROXY: "off",
};

/**
 * What is different inside: temporary files go where they stay, and so do caches that programs cannot do without. What
 * the user has set for commands stays.
 */
export function toBoxEnvironment(
  environment: Readonly<Record<string, string>>,
  temporary: PrivateTemporary | undefined,
): Record<string, string> {
  const { XDG_RUNTIME_DIR: _, ...rest } = environment;
  const files = temporary?.files ?? "/tmp";
  const caches = { GOCACHE: `${files}/go-build`, npm_config_logs_dir: `${files}/npm-logs` };
  return { ...OFFLINE, ...caches, ...rest, TMPDIR: files };
}
