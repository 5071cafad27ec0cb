declare module "pgpass" {
  interface Connection {
    readonly host: string;
    readonly port: number;
    readonly database: string;
    readonly user: string;
  }
  /** Calls back with the connection's password in the password file. Undefined if the file has none. */
  function pgpass(connection: Connection, found: (password: string | undefined) => void): void;
  export = pgpass;
}
