/** Returns the page of a release: the section of its version in the changelog, with links to the release's documents. */
export function notesOf(changelog, version) {
  const start = changelog.indexOf(`\n## [${version}]`);
  if (start < 0) throw new Error(`CHANGELOG.md has no section "## [${version}]"`);
  const section = changelog.slice(start + 1);
  const end = section.indexOf("\n## ", 1);
  const text = (end < 0 ? section : section.slice(0, end)).replace(/^## \[[^\]]*\].*\n/, "").trim();
  return `# Nuthatch ${version}\n\n${text}\n\nChecksums and signatures: \`SHA256SUMS\`; lists of parts: \`*.cdx.json\`; how it was made: \`provenance.intoto.json\`.\n`;
}
