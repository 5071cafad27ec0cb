import { sendTagged } from "../../core/api.ts";
import type { EditedKind, EditedObject } from "./kinds.ts";

/** An object as it was read, with its tag. */
export interface Read extends EditedObject {
  readonly tag: string | null;
}

/** Reads an object of the configuration. @throws Problem */
export async function readObject(kind: EditedKind, name: string): Promise<Read> {
  const path = `${kind.collection}/${encodeURIComponent(name)}`;
  const { document, tag } = await sendTagged<unknown>({ method: "GET", path });
  return { ...kind.read(document), tag };
}
