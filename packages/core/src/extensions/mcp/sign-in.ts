import type { Environment } from "../../infrastructure/runtime.ts";
import { findServer, type ManagedPlace } from "./manage.ts";
import { expandSetting, type ServerDefinition } from "./server-definition.ts";
import { TokenStore } from "./token-store.ts";

/** How a user signs in. */
export interface SignInOptions {
  /** Shows the address to open. */
  onAddress(address: string): void;
  /** Resolves with the address that the user pastes, or undefined when there is nothing to paste. */
  pasted: Promise<string | undefined>;
}

/** How long a sign-in waits for the user. */
const LIMIT_MS = 5 * 60_000;

/** Not a hostname: where localhost means another address, the answer would be lost. */
const LOOPBACK = "127.0.0.1";

/**
 * Signs in to a server: the user opens an address, and its answer comes back to a listener on this machine, which exists
 * only meanwhile, or is pasted.
 * @throws UnknownServerError, and Error with a sentence.
 */
export async function signIn(place: ManagedPlace, name: string, options: SignInOptions): Promise<void> {
  return signInTo(await findServer(place, name), place.environment, options);
}

/** The same for a server that was found. @throws Error with a sentence. */
export async function signInTo(
  definition: ServerDefinition,
  environment: Environment,
  { onAddress, pasted }: SignInOptions,
): Promise<void> {
  const { name } = definition;
  if (definition.state === "untrusted")
    throw new Error(`The server ${name} is not trusted; see diligent trust.`);
  if (definition.problem !== undefined) throw new Error(definition.problem);
  const setting = expandSetting(definition, environment);
  if (setting.url === undefined) throw new Error(`The server ${name} is a program: it needs no sign-in.`);
  const answer = Promise.withResolvers<URLSearchParams>();
  const listener = Bun.serve({
    hostname: LOOPBACK,
    port: setting.oauth?.callbackPort ?? 0,
    fetch(request) {
      const { pathname, searchParams } = new URL(request.url);
      if (pathname !== "/callback") return new Response(null, { status: 404 });
      answer.resolve(searchParams);
      return new Response("You can close this window and return to diligent.\n");
    },
  });
  const timer = setTimeout(() => answer.reject(new Error("Nobody signed in within 5 minutes.")), LIMIT_MS);
  try {
    const { SignIn } = await import("./oauth.ts");
    const store = new TokenStore(environment);
    const owner = { server: name, url: setting.url, setting };
    const attempt = new SignIn(owner, store, `http://${LOOPBACK}:${listener.port}/callback`);
    onAddress((await attempt.begin()).href);
    void pasted.then((text) => {
      if (text !== undefined) answer.resolve(toAnswer(text));
    });
    await attempt.finish(await answer.promise);
  } finally {
    clearTimeout(timer);
    // The browser still gets its page.
    await listener.stop();
  }
}

/** The address of the answer, or its part after the question mark. */
function toAnswer(text: string): URLSearchParams {
  const url = URL.parse(text.trim());
  return url === null ? new URLSearchParams(text.trim()) : url.searchParams;
}

/** Forgets the tokens of a server. @returns false if there were none. @throws UnknownServerError */
export async function signOut(place: ManagedPlace, name: string): Promise<boolean> {
  const definition = await findServer(place, name);
  const { url } = expandSetting(definition, place.environment);
  return url !== undefined && new TokenStore(place.environment).remove({ server: name, url });
}
