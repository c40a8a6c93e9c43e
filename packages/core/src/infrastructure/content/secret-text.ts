/** A kind of key with the form its maker documents. Before each, nothing that would make it the end of a word. */
const SECRET_FORMS: readonly { name: string; form: RegExp }[] = [
  { name: "a private key", form: /-----BEGIN [A-Z0-9 ]*PRIVATE KEY/ },
  { name: "an API key (sk-…)", form: /(?<![A-Za-z0-9])sk-(?:(?=[\w-]*\d)[\w-]{10,}|[A-Za-z0-9]{20,})/ },
  { name: "a GitHub token", form: /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{10,}|github_pat_\w{10,})/ },
  { name: "a GitLab token", form: /(?<![A-Za-z0-9])glpat-[\w-]{10,}/ },
  { name: "an AWS access key", form: /(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{12,}/ },
  { name: "a Google API key", form: /(?<![A-Za-z0-9])AIza[\w-]{20,}/ },
  { name: "a Slack token", form: /(?<![A-Za-z0-9])xox[abeoprs]-[\w-]{10,}/ },
  { name: "a Stripe key", form: /(?<![A-Za-z0-9])[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/ },
  { name: "a package registry token", form: /(?<![A-Za-z0-9])(?:npm_[A-Za-z0-9]{20,}|pypi-[\w-]{20,})/ },
  { name: "a signed token", form: /(?<![A-Za-z0-9])eyJ[\w-]{8,}\.eyJ[\w-]{8,}\./ },
  { name: "a password in an address", form: /[a-z][a-z0-9+.-]*:\/\/[^\s/:@]+:[^\s/@]{3,}@/i },
  {
    name: "a key or password",
    // Letters and digits mixed, long, and right behind a word that announces it: prose does not look so.
    form: /(?:api[ _-]?key|secret|token|passw(?:or)?d)["']?\s*(?:[:=]|is)\s*["'`]?(?=[\w+=-]*\d)(?=[\w+=-]*[a-z])[\w+=-]{16,}/i,
  },
];

/** What kind of key or password a text seems to hold, such as `a GitHub token`; undefined for none. */
export function findSecretText(text: string): string | undefined {
  return SECRET_FORMS.find(({ form }) => form.test(text))?.name;
}
