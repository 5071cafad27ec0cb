/** Returns a sentence for each dead link: `pages` has the HTML by address, `files` the addresses of all other files. */
export function deadLinks(pages: ReadonlyMap<string, string>, files: ReadonlySet<string>): string[];
