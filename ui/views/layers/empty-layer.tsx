import { Action } from "../../components/action.tsx";
import { undoAction } from "../../components/undo-action.ts";
import type { Doc } from "../../core/api.ts";
import { nuthatchCommand } from "../../core/command.ts";
import { bytes, count } from "../../core/format.ts";
import { t } from "../../core/i18n.ts";
import type { Count } from "../../core/json.ts";

interface EmptyLayerProps {
  readonly layer: string;
  /** What the layer has; undefined: not known yet. */
  readonly tiles: Count | undefined;
  readonly bytes: Count | undefined;
  readonly isSmall?: boolean;
  readonly onDone?: () => void;
}

/** Above this number of tiles the name of the layer must be typed. */
const TYPED_TILES = 1_000_000;

/** Removes all tiles of a layer at once. The toast undoes it for as long as the tiles stay on the disk. */
export function EmptyLayer({ layer, tiles, bytes: size, isSmall = false, onDone }: EmptyLayerProps) {
  return (
    <Action<Doc<"Truncation">>
      label={t("layers.empty")}
      title={t("layers.empty.of", { layer })}
      kind="danger"
      isSmall={isSmall}
      disabled={tiles === undefined}
      request={{ method: "POST", path: "truncations", body: { layer } }}
      command={nuthatchCommand("truncate", layer)}
      confirm={{
        title: t("layers.empty.of", { layer }),
        body: (
          <>
            <p>{t("layers.empty.what", { count: tiles ?? 0, size: bytes(size ?? 0) })}</p>
            <p class="soft">{t("layers.empty.then")}</p>
          </>
        ),
        ...(tiles !== undefined && tiles > TYPED_TILES ? { typed: layer } : {}),
      }}
      done={(made) => ({
        text: t("layers.empty.done", { layer, tiles: count(made.tiles ?? tiles ?? 0) }),
        action: undoAction(made, t("truncations.back", { layer }), onDone),
      })}
      onDone={() => onDone?.()}
    />
  );
}

/** Lets all tiles of a layer expire: they are served until they are rendered anew. */
export function MakeStale({ layer, tiles }: Pick<EmptyLayerProps, "layer" | "tiles">) {
  return (
    <Action<Doc<"Truncation">>
      label={t("layers.stale")}
      title={t("layers.stale.of", { layer })}
      request={{ method: "POST", path: "truncations", body: { layer, mode: "soft" } }}
      command={nuthatchCommand("truncate", layer, "--soft")}
      disabled={tiles === undefined}
      confirm={{
        title: t("layers.stale.of", { layer }),
        body: <p>{t("layers.stale.what", { count: tiles ?? 0 })}</p>,
      }}
      done={(made) => ({
        text: t("layers.stale.done", { layer }),
        action: undoAction(made, t("truncations.back", { layer })),
      })}
    />
  );
}
