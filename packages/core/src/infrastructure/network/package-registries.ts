/**
 * The hosts that the word `packages` stands for in a list of allowed hosts: the public registries from which package
 * managers download, from the documentation of each.
 */
export const PACKAGE_REGISTRY_HOSTS: readonly string[] = [
  // npm, and the name by which yarn reaches the same registry.
  ...["registry.npmjs.org", "registry.yarnpkg.com"],
  // PyPI: index and files.
  ...["pypi.org", "files.pythonhosted.org"],
  // crates.io: API, index and files.
  ...["crates.io", "index.crates.io", "static.crates.io"],
  // Go: modules, and the database of their checksums.
  ...["proxy.golang.org", "sum.golang.org"],
  // RubyGems: files and index.
  ...["rubygems.org", "index.rubygems.org"],
  // Maven Central, by both of its names.
  ...["repo.maven.apache.org", "repo1.maven.org"],
  // Debian.
  ...["deb.debian.org", "security.debian.org"],
];
