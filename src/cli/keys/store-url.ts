import { UsageError } from '../failures.js'

/** Where a store is, with the credentials to it. */
export interface StoreAddress {
  /** Without the number of the database, which not every client checks. */
  readonly url: string
  readonly database: number
  /** The host and the port, as messages show them. */
  readonly place: string
  /** What must not be shown: the password, as it is and as the URL spells it. */
  readonly credentials: readonly string[]
}

const MUST = 'must be a URL such as redis://127.0.0.1:6379 or rediss://user:password@host:6379/0'

/**
 * Reads the URL of a store. Throws a `UsageError` for any other text, which never shows it, but says where it was given:
 * as an option, or as an argument.
 */
export function readStoreUrl(text: string | undefined, given = '--store'): StoreAddress {
  if (text === undefined)
    throw new UsageError('--store is required, such as --store redis://127.0.0.1:6379, or set HEADGATE_STORE')
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'redis+cluster:')
    throw new UsageError(`${given} must name a single server: this command cannot search a Redis Cluster`)
  if (url === undefined || !/^rediss?:$/.test(url.protocol) || url.hostname === '')
    throw new UsageError(`${given} ${MUST}`)
  const [, database] = /^\/?(\d{0,9})$/.exec(url.pathname) ?? []
  if (database === undefined)
    throw new UsageError(`${given} ${MUST}, with the number of a database as its path`)
  const { host, password } = url
  url.pathname = ''
  return {
    url: url.href,
    database: Number(database),
    place: host,
    credentials: password === '' ? [] : [password, decode(password, given)],
  }
}

function decode(text: string, given: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new UsageError(`the password of ${given} must be percent-encoded`)
  }
}

/** Returns a text without the credentials of a store. Some servers repeat the arguments of a command. */
export function withoutCredentials(text: string, { credentials }: StoreAddress): string {
  return credentials.reduce((shown, credential) => shown.replaceAll(credential, '***'), text)
}
