/**
 * Returns the statement of how artefacts were made: in-toto Statement v1 with the predicate SLSA Provenance v1. It has
 * no time but that of the commit, so that it can be compared between two builders.
 */
export function provenanceOf(subjects, { version, commit, changed, time, kinds, lock }) {
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: subjects,
    predicateType: "https://slsa.dev/provenance/v1",
    predicate: {
      buildDefinition: {
        buildType: "urn:nuthatch:release:1",
        externalParameters: { command: `npm run release -- --only ${kinds.join(",")}`, version },
        internalParameters: { sourceDateEpoch: time, uncommittedChanges: changed },
        resolvedDependencies: [
          { name: "source", digest: { gitCommit: commit } },
          { name: "package-lock.json", digest: { sha256: lock } },
          { name: "node", annotations: { version: process.version } },
        ],
      },
      runDetails: { builder: { id: "urn:nuthatch:packaging/release/release.mjs" } },
    },
  };
  return `${JSON.stringify(statement, null, 1)}\n`;
}
