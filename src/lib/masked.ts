/** Stands for a secret wherever one is shown. */
export const MASKED = "***";

/** Returns an address with the values of its query masked: one of them may be a key. */
export const withMaskedQuery = (address: string): string =>
  address.replace(/([?&][^=&#]*=)[^&#]+/g, (_, name: string) => name + MASKED);
