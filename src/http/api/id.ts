/** Returns the number of an id in a path or a query; undefined if the text is not an id. */
export const parseId = (text: string): number | undefined => (/^\d{1,15}$/.test(text) ? Number(text) : undefined);
