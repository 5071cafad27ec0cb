/** Encodes GWC's `parameters-<id>.properties`: Java properties in ISO-8859-1, with all other characters as `\uXXXX`. */
export function encodeParametersFile(id: string, values: Readonly<Record<string, string>>): string {
  const lines = Object.entries(values).map(([key, value]) => `${escapeText(key, true)}=${escapeText(value, false)}`);
  return `#Parameters values for identifier: ${id}\n${lines.join("\n")}\n`;
}

function escapeText(text: string, isKey: boolean): string {
  return [...text]
    .map((char, i) => {
      if (char === "\\") return "\\\\";
      if (char === "\n") return "\\n";
      if (char === "\r") return "\\r";
      if (char === "\t") return "\\t";
      if (char === " ") return isKey || i === 0 ? "\\ " : " ";
      if (/[=:#!]/.test(char)) return `\\${char}`;
      if (/[ -~]/.test(char)) return char;
      return [...Array(char.length).keys()]
        .map((n) => `\\u${char.charCodeAt(n).toString(16).toUpperCase().padStart(4, "0")}`)
        .join("");
    })
    .join("");
}

/** Decodes the values in a parameters file of GWC or Nuthatch. */
export function decodeParametersFile(text: string): Record<string, string> {
  const values: Record<string, string> = {};
  for (const line of text.split(/\r\n|\r|\n/)) {
    const trimmed = line.replace(/^[ \t\f]+/, "");
    if (trimmed === "" || trimmed.startsWith("#") || trimmed.startsWith("!")) continue;
    const key = /^(?:\\.|[^\\=: \t])*/s.exec(trimmed)?.[0] ?? "";
    const value = trimmed.slice(key.length).replace(/^[ \t]*(?:[=:][ \t]*)?/, "");
    values[unescapeText(key)] = unescapeText(value);
  }
  return values;
}

function unescapeText(text: string): string {
  return text.replace(/\\(?:u([0-9a-fA-F]{4})|(.))/gs, (_, hex: string | undefined, char: string | undefined) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    return char === "n" ? "\n" : char === "r" ? "\r" : char === "t" ? "\t" : (char ?? "");
  });
}

/** Returns the name of the file in the layer's directory that describes a parameters id. */
export const parametersFileName = (id: string): string => `parameters-${id}.properties`;
