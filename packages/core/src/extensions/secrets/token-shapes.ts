/** How the keys of one vendor begin, and what follows. */
export interface TokenShape {
  /** Part of the placeholder, such as `github-token`. */
  kind: string;
  /** Each has three characters or more. */
  prefixes: readonly string[];
  /** The rest, as the source of a regular expression. What follows must not continue it. */
  rest: string;
}

const HEX_DIGITS = [..."0123456789abcdef"];

/**
 * Keys that are recognized by their form alone, as the vendors document it. Existing rule sets did not fit: those for npm
 * are a linter with dozens of packages, and those of scanners are regular expressions that are tried one after the
 * other, most of them around a word near the key. Here one table of prefixes is looked up at each word of a text.
 */
export const TOKEN_SHAPES: readonly TokenShape[] = [
  { kind: "anthropic-key", prefixes: ["sk-ant-"], rest: "[\\w-]{20,}" },
  { kind: "openai-key", prefixes: ["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"], rest: "[\\w-]{20,}" },
  { kind: "openrouter-key", prefixes: ["sk-or-v1-"], rest: "[0-9a-f]{32,}" },
  { kind: "api-key", prefixes: ["sk-"], rest: "[A-Za-z0-9]{20,}" },
  { kind: "google-key", prefixes: ["AIza"], rest: "[\\w-]{35}" },
  { kind: "google-oauth-token", prefixes: ["ya29."], rest: "[\\w-]{20,}" },
  { kind: "google-client-secret", prefixes: ["GOCSPX-"], rest: "[\\w-]{24,}" },
  { kind: "google-refresh-token", prefixes: ["1//0"], rest: "[\\w-]{35,}" },
  {
    kind: "aws-access-key",
    prefixes: ["AKIA", "ASIA", "ABIA", "ACCA", "AROA", "AIDA"],
    rest: "[A-Z2-7]{4}[A-Z0-9]{12}",
  },
  { kind: "aws-bedrock-key", prefixes: ["ABSK"], rest: "[A-Za-z0-9+/]{100,}={0,2}" },
  {
    kind: "github-token",
    prefixes: ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
    rest: "[A-Za-z0-9]{30,}",
  },
  { kind: "github-token", prefixes: ["github_pat_"], rest: "\\w{36,}" },
  {
    kind: "gitlab-token",
    prefixes: [
      ...["glpat-", "gloas-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-"],
      ...["glsoat-", "glffct-"],
    ],
    rest: "[\\w.-]{20,}",
  },
  { kind: "bitbucket-token", prefixes: ["ATBB", "ATCTT3xFf", "ATATT3xFf"], rest: "[\\w=-]{24,}" },
  {
    kind: "slack-token",
    prefixes: ["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxc-", "xoxd-"],
    rest: "[\\w%.+/=-]{10,}",
  },
  { kind: "slack-app-token", prefixes: ["xapp-", "xoxe.xox"], rest: "[\\w.-]{10,}" },
  {
    kind: "slack-webhook",
    prefixes: ["hooks.slack.com/services/", "hooks.slack.com/workflows/"],
    rest: "[A-Z0-9]{8,}/[A-Z0-9]{8,}/[A-Za-z0-9]{20,}",
  },
  {
    kind: "discord-webhook",
    prefixes: ["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
    rest: "\\d{17,20}/[\\w-]{60,}",
  },
  {
    kind: "stripe-key",
    prefixes: ["sk_live_", "sk_test_", "rk_live_", "rk_test_"],
    rest: "[A-Za-z0-9]{16,}",
  },
  { kind: "stripe-webhook-secret", prefixes: ["whsec_"], rest: "[A-Za-z0-9+/=]{24,}" },
  { kind: "square-token", prefixes: ["sq0atp-", "sq0csp-", "sq0idp-"], rest: "[\\w-]{22,}" },
  { kind: "square-token", prefixes: ["EAAAE"], rest: "[\\w-]{55,}" },
  {
    kind: "shopify-token",
    prefixes: ["shpat_", "shpca_", "shppa_", "shpss_", "shpua_"],
    rest: "[0-9a-fA-F]{32}",
  },
  {
    kind: "paypal-token",
    prefixes: ["access_token$production$", "access_token$sandbox$"],
    rest: "[a-z0-9]{16}\\$[0-9a-f]{32}",
  },
  { kind: "twilio-key", prefixes: HEX_DIGITS.map((digit) => `SK${digit}`), rest: "[0-9a-f]{31}" },
  { kind: "sendgrid-key", prefixes: ["SG."], rest: "[\\w-]{16,32}\\.[\\w-]{32,64}" },
  { kind: "mailgun-key", prefixes: ["key-"], rest: "[0-9a-f]{32}" },
  { kind: "mailchimp-key", prefixes: ["md-"], rest: "[\\w-]{22}" },
  { kind: "brevo-key", prefixes: ["xkeysib-", "xsmtpsib-"], rest: "[0-9a-f]{64}-[A-Za-z0-9]{16}" },
  { kind: "resend-key", prefixes: ["re_"], rest: "[A-Za-z0-9]{8}_[A-Za-z0-9]{16,}" },
  { kind: "postman-key", prefixes: ["PMAK-"], rest: "[0-9a-f]{24}-[0-9a-f]{34}" },
  { kind: "npm-token", prefixes: ["npm_"], rest: "[A-Za-z0-9]{36}" },
  { kind: "pypi-token", prefixes: ["pypi-"], rest: "[\\w-]{50,}" },
  { kind: "rubygems-key", prefixes: ["rubygems_"], rest: "[0-9a-f]{48}" },
  { kind: "crates-token", prefixes: ["cio"], rest: "[A-Za-z0-9]{32}" },
  { kind: "nuget-key", prefixes: ["oy2"], rest: "[a-z0-9]{43}" },
  { kind: "docker-token", prefixes: ["dckr_pat_", "dckr_oat_"], rest: "[\\w-]{20,}" },
  { kind: "digitalocean-token", prefixes: ["dop_v1_", "doo_v1_", "dor_v1_"], rest: "[0-9a-f]{64}" },
  { kind: "vault-token", prefixes: ["hvs.", "hvb.", "hvr."], rest: "[\\w-]{24,}" },
  { kind: "terraform-token", prefixes: [".atlasv1."], rest: "[\\w=-]{60,}" },
  { kind: "pulumi-token", prefixes: ["pul-"], rest: "[0-9a-f]{40}" },
  { kind: "fly-token", prefixes: ["FlyV1 fm", "fo1_", "fm1_", "fm2_"], rest: "[\\w+/=,-]{40,}" },
  { kind: "vercel-token", prefixes: ["vcp_", "vci_", "vca_", "vcr_", "vck_"], rest: "[A-Za-z0-9]{24,}" },
  { kind: "netlify-token", prefixes: ["nfp_", "nfc_", "nfo_", "nfb_"], rest: "[A-Za-z0-9]{36}" },
  { kind: "heroku-key", prefixes: ["HRKU-"], rest: "[\\w-]{36,}" },
  { kind: "supabase-key", prefixes: ["sbp_", "sb_secret_"], rest: "[\\w-]{20,}" },
  {
    kind: "planetscale-token",
    prefixes: ["pscale_tkn_", "pscale_pw_", "pscale_oauth_"],
    rest: "[\\w=.-]{32,}",
  },
  { kind: "databricks-token", prefixes: ["dapi"], rest: "[0-9a-f]{32}(?:-\\d)?" },
  { kind: "grafana-token", prefixes: ["glc_", "glsa_"], rest: "[\\w+/=]{32,}" },
  { kind: "sentry-token", prefixes: ["sntrys_", "sntryu_"], rest: "[\\w+/=]{32,}" },
  { kind: "newrelic-key", prefixes: ["NRAK-", "NRII-", "NRAA-", "NRJS-"], rest: "[A-Za-z0-9_-]{19,}" },
  { kind: "dynatrace-token", prefixes: ["dt0c01.", "dt0s01."], rest: "[A-Z0-9]{24}\\.[A-Z0-9]{64}" },
  { kind: "linear-key", prefixes: ["lin_api_", "lin_oauth_"], rest: "[A-Za-z0-9]{32,}" },
  { kind: "notion-token", prefixes: ["ntn_", "secret_"], rest: "[A-Za-z0-9]{40,}" },
  { kind: "airtable-token", prefixes: ["pat"], rest: "[A-Za-z0-9]{14}\\.[0-9a-f]{64}" },
  { kind: "figma-token", prefixes: ["figd_", "figo_"], rest: "[\\w-]{36,}" },
  { kind: "asana-token", prefixes: ["1/1"], rest: "\\d{12,}:[0-9a-f]{32}" },
  { kind: "atlassian-token", prefixes: ["ATOA"], rest: "[\\w=-]{50,}" },
  { kind: "huggingface-token", prefixes: ["hf_", "api_org_"], rest: "[A-Za-z0-9]{30,}" },
  { kind: "replicate-token", prefixes: ["r8_"], rest: "[A-Za-z0-9]{37}" },
  { kind: "groq-key", prefixes: ["gsk_"], rest: "[A-Za-z0-9]{40,}" },
  { kind: "xai-key", prefixes: ["xai-"], rest: "[A-Za-z0-9]{60,}" },
  { kind: "perplexity-key", prefixes: ["pplx-"], rest: "[A-Za-z0-9]{40,}" },
  { kind: "fireworks-key", prefixes: ["fw_"], rest: "[A-Za-z0-9]{22,}" },
  { kind: "cerebras-key", prefixes: ["csk-"], rest: "[a-z0-9]{40,}" },
  { kind: "langsmith-key", prefixes: ["lsv2_pt_", "lsv2_sk_"], rest: "[0-9a-f]{32}_[0-9a-f]{10}" },
  { kind: "tavily-key", prefixes: ["tvly-"], rest: "[\\w-]{24,}" },
  { kind: "age-key", prefixes: ["AGE-SECRET-KEY-1"], rest: "[A-Z0-9]{58}" },
  { kind: "tailscale-key", prefixes: ["tskey-"], rest: "[a-z]+-[\\w-]{16,}" },
  {
    kind: "doppler-token",
    prefixes: ["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim."],
    rest: "[\\w.-]{40,}",
  },
  { kind: "onepassword-token", prefixes: ["ops_ey"], rest: "[\\w+/=-]{100,}" },
  { kind: "prefect-key", prefixes: ["pnu_", "pnb_"], rest: "[A-Za-z0-9]{36}" },
  { kind: "buildkite-token", prefixes: ["bkua_", "bkct_", "bkpt_"], rest: "[A-Za-z0-9]{32,}" },
  { kind: "circleci-token", prefixes: ["CCIPAT_", "CCIPRJ_"], rest: "[\\w]{22}_[0-9a-f]{40}" },
  { kind: "duffel-token", prefixes: ["duffel_live_", "duffel_test_"], rest: "[\\w=-]{43}" },
  { kind: "readme-key", prefixes: ["rdme_"], rest: "[a-z0-9]{70}" },
  { kind: "artifactory-key", prefixes: ["AKCp"], rest: "[A-Za-z0-9]{60,}" },
  { kind: "sonar-token", prefixes: ["sqp_", "sqa_", "squ_"], rest: "[0-9a-f]{40}" },
  { kind: "easypost-key", prefixes: ["EZAK", "EZTK"], rest: "[A-Za-z0-9]{54}" },
  { kind: "facebook-token", prefixes: ["EAACEdEose0cBA", "EAAG", "EAAB"], rest: "[A-Za-z0-9]{80,}" },
  { kind: "json-web-token", prefixes: ["eyJ"], rest: "[\\w-]{8,}\\.eyJ[\\w-]{8,}\\.[\\w-]{10,}" },
];
