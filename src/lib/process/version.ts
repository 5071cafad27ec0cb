import manifest from "../../../package.json" with { type: "json" };

/** The version of this program, from its package.json. */
export const ownVersion = (): string => manifest.version;
