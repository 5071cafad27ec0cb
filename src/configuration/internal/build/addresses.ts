import type { Path, Problems } from "../read/problems.ts";

/** An ampersand as XML and HTML write it: `&amp;`, `&#38;` or `&#x26;`. */
const ESCAPED_AMPERSAND = /&(?:amp|#0*38|#x0*26);/i;

/** Warns of an address copied from XML or HTML. The upstream would get parameters such as `amp;map`. */
export function warnOfEscapes(address: string | undefined, path: Path, problems: Problems): void {
  const found = address === undefined ? null : ESCAPED_AMPERSAND.exec(address);
  if (found !== null)
    problems.warn(path, `the address has ${found[0]} as in XML and is requested so: expected & alone`);
}
