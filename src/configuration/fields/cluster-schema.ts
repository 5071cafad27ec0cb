import { parseHostPort } from "../cluster-options.ts";
import { expected, map, number, oneOf, optional, text, whole } from "./fields.ts";

const ADDRESS = "an address and a port such as 10.0.0.7:7101";

const hostPort = text.transform((value, context) => {
  const parsed = parseHostPort(value);
  if (parsed === undefined) expected(context, [], ADDRESS);
  return parsed ?? { host: "", port: 0 };
});

export const ClusterSchema = map({
  node: text
    .refine((value) => /^[\w.-]{1,64}$/.test(value), "at most 64 letters, digits, dots, hyphens and underscores")
    .describe("The name of this node. No other node of the cluster has it."),
  listen: hostPort.describe("Where this node accepts the other nodes while it leads; port 0 chooses a free one."),
  advertise: optional(hostPort.describe("The address under which other nodes reach this one; that of listen.")),
  secret: optional(
    text.describe("Authenticates and encrypts the connections between the nodes. All nodes have the same."),
  ),
  cutOff: oneOf(["refuse", "serve"])
    .default("refuse")
    .describe("What a node does that reaches no lead: answer 503, or serve the tiles that it has, however old."),
  nodeLeaseSeconds: number({ above: 0, most: 3600 })
    .default(5)
    .describe("A node that has not heard from the lead for this time is cut off."),
  leadLeaseSeconds: number({ above: 0, most: 3600 })
    .default(30)
    .describe("Another node leads when the lead has not renewed its lease for this time."),
  putSeconds: optional(
    whole(5, 3600).describe("The service of S3 refuses a put that arrives later; that of the store."),
  ),
});
