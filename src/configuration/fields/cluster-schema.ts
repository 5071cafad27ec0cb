import { parseHostPort } from "../cluster-options.ts";
import { expected, map, number, oneOf, optional, shortName, text, whole } from "./fields.ts";

const ADDRESS = "an address and a port such as 10.0.0.7:7101";

const hostPort = text.transform((value, context) => {
  const parsed = parseHostPort(value);
  if (parsed === undefined) expected(context, [], ADDRESS);
  return parsed ?? { host: "", port: 0 };
});

export const ClusterSchema = map({
  node: shortName.describe("The name of this node. No other node of the cluster has it."),
  listen: hostPort.describe(
    "The address at which this node accepts the other nodes while it leads. Port 0 chooses a free port.",
  ),
  advertise: optional(hostPort.describe("The address at which other nodes reach this node. Default: that of listen.")),
  secret: optional(
    text.describe("The key that authenticates and encrypts the connections between the nodes. The same on all nodes."),
  ),
  cutOff: oneOf(["refuse", "serve"])
    .default("refuse")
    .describe(
      "The behaviour of a node that reaches no lead: answer 503, or serve the tiles that it can read, of any age.",
    ),
  nodeLeaseSeconds: number({ above: 0, most: 3600 })
    .default(5)
    .describe("A node is cut off after this time without a message of the lead."),
  leadLeaseSeconds: number({ above: 0, most: 3600 })
    .default(30)
    .describe("Another node takes the lead if the lead has not renewed its lease for this time."),
  putSeconds: optional(
    whole(5, 3600).describe(
      "The S3 service refuses a put that arrives later than this. Default: putSeconds of the store.",
    ),
  ),
});
