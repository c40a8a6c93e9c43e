/** Secrets of one kind, made up. */
interface SecretFamily {
  name: string;
  /** A secret, and a text as programs print it around it. */
  create(number: number): { secret: string; text: string };
}

const DIGITS = "0123456789";
const HEX = "0123456789abcdef";
const LOWER = "abcdefghijklmnopqrstuvwxyz";
const UPPER = LOWER.toUpperCase();
const BASE62 = DIGITS + LOWER + UPPER;
const BASE64 = `${BASE62}+/`;
const BASE64_URL = `${BASE62}_-`;

/** Forty families of secrets, the same in each run. Their forms are those of the vendors' documentation. */
export function createFamilies(): SecretFamily[] {
  const random = createRandom(20_261_123);
  const pick = (alphabet: string, length: number) =>
    Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join("");
  const tokens: Record<string, () => string> = {
    anthropic: () => `sk-ant-api03-${pick(BASE64_URL, 93)}AA`,
    openai: () => `sk-proj-${pick(BASE64_URL, 74)}T3BlbkFJ${pick(BASE64_URL, 74)}`,
    "openai-old": () => `sk-${pick(BASE62, 48)}`,
    google: () => `AIza${pick(BASE64_URL, 35)}`,
    "google-oauth": () => `ya29.${pick(BASE64_URL, 68)}`,
    "aws-id": () => `AKIA${pick(`${UPPER}234567`, 16)}`,
    github: () => `ghp_${pick(BASE62, 36)}`,
    "github-fine": () => `github_pat_${pick(BASE62, 22)}_${pick(BASE62, 59)}`,
    "github-app": () => `ghs_${pick(BASE62, 36)}`,
    gitlab: () => `glpat-${pick(BASE64_URL, 20)}`,
    slack: () => `xoxb-${pick(DIGITS, 12)}-${pick(DIGITS, 12)}-${pick(BASE62, 24)}`,
    "slack-hook": () =>
      `https://hooks.slack.com/services/T${pick(UPPER, 8)}/B${pick(UPPER, 8)}/${pick(BASE62, 24)}`,
    stripe: () => `sk_live_${pick(BASE62, 24)}`,
    "stripe-hook": () => `whsec_${pick(BASE62, 32)}`,
    shopify: () => `shpat_${pick(HEX, 32)}`,
    square: () => `sq0atp-${pick(BASE64_URL, 22)}`,
    twilio: () => `SK${pick(HEX, 32)}`,
    sendgrid: () => `SG.${pick(BASE64_URL, 22)}.${pick(BASE64_URL, 43)}`,
    mailgun: () => `key-${pick(HEX, 32)}`,
    npm: () => `npm_${pick(BASE62, 36)}`,
    pypi: () => `pypi-AgEIcHlwaS5vcmc${pick(BASE64_URL, 80)}`,
    rubygems: () => `rubygems_${pick(HEX, 48)}`,
    docker: () => `dckr_pat_${pick(BASE64_URL, 27)}`,
    digitalocean: () => `dop_v1_${pick(HEX, 64)}`,
    vault: () => `hvs.${pick(BASE64_URL, 90)}`,
    huggingface: () => `hf_${pick(LOWER + UPPER, 34)}`,
    groq: () => `gsk_${pick(BASE62, 52)}`,
    telegram: () => `${pick(DIGITS, 10)}:AA${pick(BASE64_URL, 33)}`,
    linear: () => `lin_api_${pick(BASE62, 40)}`,
    grafana: () => `glsa_${pick(BASE62, 32)}_${pick(HEX, 8)}`,
    databricks: () => `dapi${pick(HEX, 32)}`,
    jwt: () => {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
      return `${part({ alg: "HS256", typ: "JWT" })}.${part({ sub: pick(DIGITS, 10), iat: 1_700_000_000 })}.${pick(BASE64_URL, 43)}`;
    },
  };
  const surrounded: Record<string, () => { secret: string; text: string }> = {
    "aws-secret": () => inText(pick(BASE64, 40), (secret) => `aws_secret_access_key = ${secret}`),
    "azure-storage": () =>
      inText(
        `${pick(BASE64, 86)}==`,
        (secret) => `AccountName=shop;AccountKey=${secret};EndpointSuffix=core`,
      ),
    "database-url": () =>
      inText(
        `${pick(BASE62, 9)}7xQ`,
        (secret) => `DATABASE_URL=postgres://app:${secret}@db.internal:5432/shop`,
      ),
    password: () =>
      inText(`${pick(BASE62, 6)}#9xQ!${pick(BASE62, 4)}`, (secret) => `smtp_password: '${secret}'`),
    bearer: () => inText(pick(BASE64_URL, 40), (secret) => `> Authorization: Bearer ${secret}`),
    "client-secret": () =>
      inText(pick(BASE62, 32), (secret) => `{"client_id": "shop", "client_secret": "${secret}"}`),
    "hex-key": () => inText(pick(HEX, 64), (secret) => `export SESSION_SECRET=${secret}`),
    option: () => inText(pick(BASE62, 36), (secret) => `deploy --region eu --auth-token ${secret} --yes`),
  };
  return [
    ...Object.entries(tokens).map(([name, create]) => ({
      name,
      create: (number: number) => inText(create(), PLACES[number % PLACES.length] ?? String),
    })),
    ...Object.entries(surrounded).map(([name, create]) => ({ name, create: () => create() })),
  ];
}

const PLACES: readonly ((secret: string) => string)[] = [
  (secret) => secret,
  (secret) => `  "value": "${secret}",`,
  (secret) => `request failed: ${secret} is not allowed`,
  (secret) => JSON.stringify({ log: `line one\n${secret}\n` }),
  (secret) => `curl -s 'https://api.example/v1?x=1&k=${secret}'`,
  (secret) => `see logs/${secret}.txt`,
  (secret) => `SETTING='${secret}' # of production`,
];

function inText(secret: string, toText: (secret: string) => string) {
  return { secret, text: toText(secret) };
}

/** Numbers from 0 up to 1, the same for each seed (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
