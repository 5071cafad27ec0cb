/** Stands for a secret wherever one is shown. */
export const MASKED = "***";
