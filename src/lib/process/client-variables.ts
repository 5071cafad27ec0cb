/** The variables by which the command line finds a running server and its account there. */
export const CLIENT_VARIABLES = {
  url: "NUTHATCH_URL",
  user: "NUTHATCH_USER",
  password: "NUTHATCH_PASSWORD",
} as const;

/** An API token, as the examples of the documentation name it. The program does not read it. */
export const TOKEN_VARIABLE = "NUTHATCH_TOKEN";
