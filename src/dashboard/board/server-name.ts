import type { Store } from '../../stores/store.js'
import { escapeUnprintable } from '../../util/printable.js'
import { type Fields, fieldsOf } from '../../util/values.js'

/** The longest name that DNS allows, with a port. */
const MAX_LENGTH = 260

/**
 * Returns the only server of a store, such as `10.0.0.7:6379`, as its client was told; `undefined` if it has several,
 * or does not tell. Of a URL, it reads nothing but the host: never a password.
 */
export function serverNameOf({ origin, serverOf }: Pick<Store, 'origin' | 'serverOf'>): string | undefined {
  if (serverOf !== undefined) return undefined
  try {
    return PLACES.map((place) => nameOf(place(fieldsOf(origin?.client)))).find((name) => name !== undefined)
  } catch {
    return undefined // a getter of a client may throw
  }
}

/** Where clients keep the place of their server. */
const PLACES: readonly ((client: Fields) => Fields)[] = [
  ({ options }) => (fieldsOf(options).sentinels ? {} : fieldsOf(options)), // ioredis, pg
  ({ options }) => fieldsOf(fieldsOf(options).socket), // node-redis
  ({ options }) => fieldsOf(hostOf(fieldsOf(options).connectionString)), // pg
  ({ config }) => fieldsOf(fieldsOf(config).connectionConfig), // mysql2
  ({ servers }) => (Array.isArray(servers) && servers.length === 1 ? fieldsOf(servers[0]) : {}), // memjs
]

/** A client that has a path uses it, and not its host. */
function nameOf({ path, socketPath = path, host, port }: Fields): string | undefined {
  if (isName(socketPath)) return escapeUnprintable(socketPath)
  if (!isName(host) || host.includes('@') || host.includes('/')) return undefined
  const name = escapeUnprintable(host.includes(':') && !host.startsWith('[') ? `[${host}]` : host)
  return typeof port === 'number' || (typeof port === 'string' && /^\d+$/.test(port))
    ? `${name}:${port}`
    : name
}

function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_LENGTH
}

function hostOf(url: unknown): Fields | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined
  const { hostname, port } = new URL(url)
  return port === '' ? { host: hostname } : { host: hostname, port }
}
