/** The code of a failed call of Node's or of a library's, such as `ENOENT`; "": it has none. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
