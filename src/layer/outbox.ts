/** The default name of an outbox, and of the channel on which its triggers notify the server. */
export const OUTBOX = "nuthatch_changes";
