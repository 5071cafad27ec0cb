/** Returns the code of an error of Node or of a library, such as `ENOENT`; "" for an error without a code. */
export const codeOf = (error: unknown): string =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/** Returns the message of a thrown value. */
export const errorMessage = (error: unknown): string => (error instanceof Error ? error.message : String(error));
