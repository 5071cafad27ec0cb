import { OPERATION_ROWS, OPERATION_TABLE, type Operations } from "../../coordinator/operations.ts";
import { aroundMethods } from "../../lib/process/method-table.ts";

/**
 * Returns the operations with work before or after each.
 * @param reportReads reports the tiles that were read; called before operations whose answer depends on the use of
 * tiles
 * @param applied awaited before each answer, so that all serving processes have applied the change
 */
export const forwardOperations = (
  operations: Operations,
  { reportReads, applied }: { readonly reportReads?: () => void; readonly applied?: () => Promise<void> },
): Operations =>
  aroundMethods(operations, OPERATION_TABLE, (operation, name) => {
    const before = OPERATION_ROWS.get(name)?.readsFirst === true ? reportReads : undefined;
    if (before === undefined && applied === undefined) return operation;
    return async (...args) => {
      before?.();
      const answer = await operation(...args);
      await applied?.();
      return answer;
    };
  });
