import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface CertificateAuthority {
  /** The path of the authority's certificate, PEM. */
  path: string;
  /** A certificate that it issued, and its key, PEM. */
  certificate: string;
  key: string;
}

/** True if there is an `openssl` to make certificates with. */
export const CAN_ISSUE_CERTIFICATES = Bun.which("openssl") !== null;

/** Creates an authority that nobody trusts yet, with a certificate for a host. */
export function createAuthority(directory: string, host: string): CertificateAuthority {
  mkdirSync(directory, { recursive: true });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  openssl(directory, [
    "req",
    "-x509",
    ...newKey,
    "-keyout",
    "ca.key",
    "-out",
    "ca.pem",
    "-subj",
    "/CN=Nobody",
  ]);
  const names = ["-subj", `/CN=${host}`, "-addext", `subjectAltName=DNS:${host}`];
  openssl(directory, ["req", ...newKey, "-keyout", "host.key", "-out", "host.csr", ...names]);
  const issuer = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-copy_extensions", "copy"];
  openssl(directory, ["x509", "-req", "-in", "host.csr", ...issuer, "-days", "2", "-out", "host.pem"]);
  const read = (name: string) => readFileSync(join(directory, name), "utf8");
  return { path: join(directory, "ca.pem"), certificate: read("host.pem"), key: read("host.key") };
}

function openssl(cwd: string, args: readonly string[]): void {
  const { success, stderr } = Bun.spawnSync(["openssl", ...args], { cwd, stdout: "ignore", stderr: "pipe" });
  if (!success) throw new Error(`openssl ${args[0]}: ${stderr.toString()}`);
}
