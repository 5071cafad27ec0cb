import type { ConfiguredObject } from "../../gwc/configured-object.ts";
import { gridSetContent, layerContent } from "../../gwc/layer-content.ts";
import { isMap } from "../../lib/is-map.ts";
import type { Path } from "./problems.ts";

/** Returns where an object that was made over HTTP is configured, for messages. */
export const originOfObject = ({ kind, name }: Pick<ConfiguredObject, "kind" | "name">): string =>
  `the ${kind === "layer" ? "layer" : "grid set"} ${JSON.stringify(name)} that was made over HTTP`;

export interface WithObjects {
  readonly content: unknown;
  /** Returns the object that a path leads to; undefined: the path leads to the file's content. */
  objectAt(path: Path): ConfiguredObject | undefined;
}

/** Adds the objects that were made over HTTP to the content of a configuration, behind those of the file. */
export function withObjects(content: unknown, objects: readonly ConfiguredObject[]): WithObjects {
  if (!isMap(content) || objects.length === 0) return { content, objectAt: () => undefined };
  const sections = [
    { key: "gridSets", of: objects.filter(({ kind }) => kind === "gridSet"), contentOf: gridSetContent },
    {
      key: "layers",
      of: objects.filter(({ kind }) => kind === "layer"),
      contentOf: layerContent,
    },
  ];
  const added = sections.flatMap(({ key, of, contentOf }) => {
    const before: unknown = content[key] ?? [];
    // A section that is no list is reported as such.
    if (!Array.isArray(before)) return [];
    return [{ key, first: before.length, of, value: [...before, ...of.map(({ document }) => contentOf(document))] }];
  });
  return {
    content: { ...content, ...Object.fromEntries(added.map(({ key, value }) => [key, value])) },
    objectAt([key, i]) {
      const section = added.find((one) => one.key === key);
      return section === undefined || typeof i !== "number" ? undefined : section.of[i - section.first];
    },
  };
}
