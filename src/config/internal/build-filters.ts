import {
  type CaseRule,
  compileRegex,
  legalValue,
  legalValuesText,
  numberText,
  type ParameterFilter,
} from "../../layer/parameter-filter.ts";
import type { Path, Problems } from "./problems.ts";
import type { FilterDocument } from "./schema/layer-schema.ts";

type RegexDocument = Extract<FilterDocument, { readonly type: "regex" }>;

/** Builds the parameter filters of a layer. Problems name the layer. */
export function buildFilters(
  documents: readonly FilterDocument[],
  layer: string,
  at: Path,
  problems: Problems,
): readonly ParameterFilter[] {
  const keys = new Set<string>();
  return documents.map((document, i) => {
    const key = document.key.trim().toUpperCase();
    if (keys.has(key)) problems.add([...at, i, "key"], `two filters have the key ${key}`);
    else if (!/^[^\s&=?#\p{Cc}]+$/u.test(key)) problems.expected([...at, i, "key"], "the name of a parameter", key);
    keys.add(key);
    return buildFilter(document, key, layer, [...at, i], problems);
  });
}

function buildFilter(
  document: FilterDocument,
  key: string,
  layer: string,
  path: Path,
  problems: Problems,
): ParameterFilter {
  const { type } = document;
  switch (type) {
    case "string":
      return { type, key, default: document.default, values: document.values, ...caseRuleOf(document) };
    case "regex":
      checkRegex(document, `${key} of layer ${JSON.stringify(layer)}`, [...path, "regex"], problems);
      return { type, key, default: document.default, regex: document.regex, ...caseRuleOf(document) };
    case "float":
    case "integer": {
      const { default: standard = "", values, threshold } = document;
      const text = typeof standard === "number" ? numberText(type, standard) : standard;
      const filter: ParameterFilter = { type, key, default: text, values, threshold };
      if (text !== "" && legalValue(filter, String(standard)) === undefined)
        problems.expected([...path, "default"], legalValuesText(filter), standard);
      return filter;
    }
  }
}

function checkRegex(document: RegexDocument, whose: string, path: Path, problems: Problems): void {
  const compiled = compileRegex(document);
  if (compiled.ok) return;
  const remedy = "write the alternatives out, or list the values with type: string";
  problems.expected(path, `a regular expression of RE2 for ${whose} (${compiled.error}; ${remedy})`, document.regex);
}

const caseRuleOf = ({ normalize }: { readonly normalize?: CaseRule }): { readonly normalize?: CaseRule } =>
  normalize === undefined ? {} : { normalize };
