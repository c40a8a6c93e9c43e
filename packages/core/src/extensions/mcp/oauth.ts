import {
  type AuthProvider,
  auth,
  extractWWWAuthenticateParams,
  type OAuthClientInformationContext,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { McpServerSetting } from "../../config/schema.ts";
import { createProgramFetch, type ProgramFetch } from "../../infrastructure/network/program-fetch.ts";
import { randomHex } from "../../infrastructure/runtime.ts";
import type { TokenOwner, TokenStore } from "./token-store.ts";

/** The redirect address of a session, in which nobody signs in. */
const NO_REDIRECT = "http://127.0.0.1/callback";

/** For a sign-in outside of a session. */
function createSignInFetch(): ProgramFetch {
  return createProgramFetch({ purpose: "mcp", by: "the sign-in to a server" });
}

/** A server to sign in to. */
export interface OAuthServer extends TokenOwner {
  setting: Pick<McpServerSetting, "oauth">;
}

/**
 * Adds the saved token to each request, and refreshes it under a lock. Nobody is asked to sign in: then the request
 * fails with an `UnauthorizedError`.
 */
export function createTokenProvider(
  server: OAuthServer,
  store: TokenStore,
  send: ProgramFetch = createSignInFetch(),
): AuthProvider {
  let used: string | undefined;
  return {
    async token() {
      used = (await store.find(server))?.tokens?.access_token;
      return used;
    },
    onUnauthorized: ({ response, serverUrl }) =>
      store.withLock(server, async () => {
        const saved = await store.find(server);
        if (saved?.tokens === undefined) throw new UnauthorizedError();
        // Another process was faster.
        if (saved.tokens.access_token !== used) return;
        const provider = new SignIn(server, store, NO_REDIRECT, send);
        const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(response);
        const result = await auth(provider, {
          serverUrl,
          ...(resourceMetadataUrl && { resourceMetadataUrl }),
          ...(scope !== undefined && { scope }),
          // Not with the headers that are configured for the server: this may be another host.
          fetchFn: send,
        });
        if (result !== "AUTHORIZED") throw new UnauthorizedError();
      }),
  };
}

/** One sign-in of a user, from the address that the user opens to the answer that comes back. */
export class SignIn implements OAuthClientProvider {
  /** The address that the user opens, once it is known. */
  authorizationUrl: URL | undefined;
  private readonly expectedState = randomHex(16);
  private verifier = "";
  private discovered: OAuthDiscoveryState | undefined;
  private challenge: { resourceMetadataUrl?: URL; scope?: string } = {};

  constructor(
    private readonly server: OAuthServer,
    private readonly store: TokenStore,
    readonly redirectUrl: string,
    private readonly send: ProgramFetch = createSignInFetch(),
  ) {
    const address = server.setting.oauth?.clientMetadataUrl;
    if (address !== undefined) this.clientMetadataUrl = address;
  }

  clientMetadataUrl?: string;

  get clientMetadata() {
    const { oauth } = this.server.setting;
    return {
      client_name: "diligent",
      redirect_uris: [this.redirectUrl],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: oauth?.clientSecret === undefined ? "none" : "client_secret_post",
      ...(oauth?.scope !== undefined && { scope: oauth.scope }),
    };
  }

  /** @throws Error when the server does not say where to sign in. */
  async begin(): Promise<URL> {
    const { url, setting } = this.server;
    const response = await this.send(url, {
      method: "POST",
      headers: { Accept: "application/json, text/event-stream" },
    });
    await response.body?.cancel();
    this.challenge = extractWWWAuthenticateParams(response);
    const { scope = setting.oauth?.scope, resourceMetadataUrl } = this.challenge;
    await auth(this, {
      serverUrl: url,
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      ...(scope !== undefined && { scope }),
      forceReauthorization: true,
      fetchFn: this.send,
    });
    if (!this.authorizationUrl) throw new Error("The server does not say where to sign in.");
    return this.authorizationUrl;
  }

  /**
   * Exchanges the answer for tokens, which are saved.
   * @throws Error with a sentence; never with a text of the answer, which anybody could have written.
   */
  async finish(answer: URLSearchParams): Promise<void> {
    if (answer.get("state") !== this.expectedState)
      throw new Error("The answer does not belong to this sign-in; nothing was saved.");
    const code = answer.get("code");
    if (code === null) throw new Error("The sign-in was refused or cancelled.");
    const iss = answer.get("iss");
    const { resourceMetadataUrl } = this.challenge;
    await auth(this, {
      serverUrl: this.server.url,
      authorizationCode: code,
      ...(iss !== null && { iss }),
      ...(resourceMetadataUrl && { resourceMetadataUrl }),
      fetchFn: this.send,
    });
  }

  state(): string {
    return this.expectedState;
  }

  async clientInformation(
    context?: OAuthClientInformationContext,
  ): Promise<StoredOAuthClientInformation | undefined> {
    const { oauth } = this.server.setting;
    if (oauth?.clientId !== undefined) {
      const { clientId: client_id, clientSecret: client_secret } = oauth;
      return { client_id, ...(client_secret !== undefined && { client_secret }) };
    }
    const clients = (await this.store.find(this.server))?.clients ?? [];
    const known = clients.find(({ issuer }) => issuer === context?.issuer)?.information;
    // A client is registered for its redirect address; another port is another client.
    const addresses = known && "redirect_uris" in known ? known.redirect_uris : undefined;
    const isUsable =
      this.redirectUrl === NO_REDIRECT || addresses === undefined || addresses.includes(this.redirectUrl);
    return isUsable ? known : undefined;
  }

  async saveClientInformation(
    information: StoredOAuthClientInformation,
    context?: OAuthClientInformationContext,
  ): Promise<void> {
    if (context) await this.store.saveClient(this.server, context.issuer, information);
  }

  async tokens(): Promise<StoredOAuthTokens | undefined> {
    return (await this.store.find(this.server))?.tokens;
  }

  async saveTokens(tokens: StoredOAuthTokens): Promise<void> {
    await this.store.saveTokens(this.server, tokens);
  }

  redirectToAuthorization(url: URL): void {
    this.authorizationUrl = url;
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier;
  }

  codeVerifier(): string {
    return this.verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.discovered = state;
  }

  /** The answer must go to the authorization server that was asked. */
  discoveryState(): OAuthDiscoveryState | undefined {
    return this.discovered;
  }

  async invalidateCredentials(scope: "all" | "client" | "tokens" | "verifier" | "discovery"): Promise<void> {
    if (scope === "discovery" || scope === "all") this.discovered = undefined;
    if (scope === "tokens" || scope === "all") await this.store.saveTokens(this.server, undefined);
  }
}
