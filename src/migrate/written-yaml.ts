import { Document, isMap, isSeq } from "yaml";

/** The comments of the items of a section. */
export interface SectionComments {
  readonly key: string;
  /** Undefined for an item without a comment. */
  readonly comments: readonly (string | undefined)[];
}

/**
 * Returns the configuration of another program as a configuration file.
 * @param leftOut the omitted objects, one line each
 */
export function writtenYaml(
  program: string,
  content: object,
  leftOut: readonly string[],
  sections: readonly SectionComments[],
): string {
  const document = new Document(content, { aliasDuplicateObjects: false });
  document.commentBefore = [` Written by Nuthatch from a configuration of ${program}.`, ...leftOut].join("\n ");
  for (const { key, comments } of sections) {
    const list = document.get(key);
    for (const [i, item] of isSeq(list) ? list.items.entries() : [])
      if (isMap(item) && comments[i] !== undefined) item.commentBefore = comments[i];
  }
  return document.toString({ lineWidth: 0 });
}
