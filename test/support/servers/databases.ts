import { randomBytes } from 'node:crypto'
import { type Giver, givenServer, type Server } from './server.js'

type Row = Record<string, unknown>

export interface SqlServer extends Server {
  /** Runs one statement on a connection of its own and returns the rows, where the statement has some. */
  query(sql: string): Promise<Row[]>
}

export interface SqlOptions {
  /** More options of the server. */
  readonly args?: readonly string[]
  /** Start one even where the environment names one: for tests that kill it, restart it or make users. */
  readonly own?: boolean
}

/** Runs one statement on a connection of its own to the database that `url` names. */
export type RunSql = (url: string, sql: string) => Promise<Row[]>

export function withQuery(server: Server, run: RunSql): SqlServer {
  return Object.assign(server, { query: (sql: string) => run(server.url, sql) })
}

/** Makes a database on an existing server, and drops it at `stop`, with all that was written to it. */
export async function useGivenSql(
  serverUrl: string,
  giver: Giver & { readonly dropOptions?: string },
  run: RunSql,
): Promise<SqlServer> {
  const name = `headgate_test_${randomBytes(8).toString('hex')}`
  await run(serverUrl, `CREATE DATABASE ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const stop = async () => {
    await run(serverUrl, `DROP DATABASE ${name} ${giver.dropOptions ?? ''}`)
  }
  return withQuery(givenServer({ url: url.href, stop }, giver), run)
}

/** A random password for a server that runs as long as a test, unknown to other users of the computer. */
export function freshPassword(): string {
  return randomBytes(16).toString('hex')
}
