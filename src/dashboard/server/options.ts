import type { IncomingMessage, ServerResponse } from 'node:http'
import { inspectionOf, isLimiter } from '../../limiter/inspection.js'
import type { AnyLimiter } from '../../limiter/limiter.js'
import { callback, readOptions, withDefault } from '../../options/option-table.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { wrongKind, wrongOption } from '../../util/validate.js'
import { fieldsOf } from '../../util/values.js'
import type { Watched } from '../figures/limiter-watch.js'
import { nameOf } from './hosts.js'

/** Options of `dashboard`. */
export interface DashboardOptions<
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
> {
  /**
   * The limiters to show, at most 200: what `createLimiter` returns, and the `limiter` of each middleware.
   */
  limiters: readonly AnyLimiter[]
  /**
   * Returns whether a request may see the page and act on it: `true` for both, `'view'` for seeing alone.
   * Called for every request. Denied requests get a 403, unless the function responds itself, such as with a
   * redirect to the login.
   */
  authorize: (req: Req, res: Res) => MaybePromise<boolean | 'view'>
  /**
   * Returns who acts, such as `req.user.name`. The page records it with each change. If it is left out, or
   * returns an empty string, the page asks for a name once.
   */
  operator?: (req: Req) => string
  /**
   * Returns what you call the client of a request, such as the name of a customer, for the list of denied clients.
   * At most 80 characters are shown. Labels stay in the memory of this process. Default: no labels.
   */
  label?: (req: Req) => string | number | undefined
  /**
   * The names under which browsers may open the page, as in the address bar: `limits.example.com`, or with a
   * port that is not the default, `limits.example.com:8080`. IP addresses and `localhost` need no entry,
   * except behind a proxy that replaces `Host`.
   *
   * Requests for other names get a 403 before `authorize` is called. A foreign site can point its own name at
   * this server (DNS rebinding), and its page would then pass a check of the IP address.
   */
  hosts?: readonly string[]
}

const MAX_LIMITERS = 200

const OPTIONS = {
  rows: {
    limiters: readLimiters,
    authorize: readAuthorize,
    operator: callback<NonNullable<DashboardOptions['operator']>>,
    hosts: withDefault([], readHosts),
    label: callback<NonNullable<DashboardOptions['label']>>,
  },
  fixes: {
    limiter: 'limiters',
    auth: 'authorize',
    authorise: 'authorize',
    user: 'operator',
    host: 'hosts',
    allowedHosts: 'hosts',
  },
}

/** Reads the options. Throws a `TypeError` that names each wrong option and its fix. */
export function readDashboardOptions(options: object) {
  return readOptions('dashboard', options, OPTIONS)
}

function readLimiters(owner: string, option: string, limiters: unknown): readonly Watched[] {
  if (!Array.isArray(limiters) || limiters.length === 0 || limiters.length > MAX_LIMITERS) {
    const fix = 'Write limiters: [api.limiter].'
    throw wrongKind(owner, option, `an array of 1 to ${MAX_LIMITERS} limiters`, limiters, fix)
  }
  const watched = limiters.map((limiter: unknown, i) => readLimiter(owner, `${option}[${i}]`, limiter, i))
  for (const [i, { name, limiter }] of watched.entries()) {
    const first = watched.findIndex((other) => other.name === name)
    if (first === i) continue
    const same = watched[first]?.limiter === limiter ? 'is listed twice' : 'has the same name as another'
    const fix = 'List each limiter once, and give each its own name.'
    throw new TypeError(`${owner}: the limiter '${name}' ${same}. ${fix}`)
  }
  return watched
}

function readLimiter(owner: string, option: string, limiter: unknown, i: number): Watched {
  const inspection = inspectionOf(limiter)
  if (inspection !== undefined && isLimiter(limiter))
    return { name: limiter.name ?? `limiter-${i + 1}`, limiter, inspection }
  const own = typeof limiter === 'function' ? fieldsOf(limiter).limiter : undefined
  const fix = inspectionOf(own) ? "Did you mean the middleware's property limiter?" : 'Write api.limiter.'
  throw wrongKind(owner, option, 'a headgate limiter', limiter, fix)
}

function readAuthorize(owner: string, option: string, authorize: unknown): DashboardOptions['authorize'] {
  const given = callback<DashboardOptions['authorize']>(owner, option, authorize)
  if (given !== undefined) return given
  const fix = 'Write authorize: (req) => req.user?.isAdmin === true. Whoever it lets in can change limits.'
  throw wrongOption(owner, option, 'a function', authorize, fix)
}

function readHosts(owner: string, option: string, hosts: unknown): readonly string[] {
  const fix = "Write hosts: ['limits.example.com']."
  if (!Array.isArray(hosts)) throw wrongOption(owner, option, 'an array of hosts', hosts, fix)
  return hosts.map((host: unknown, i) => {
    if (typeof host === 'string' && nameOf(host) !== undefined) return host.toLowerCase()
    const url = typeof host === 'string' && URL.canParse(host) ? new URL(host).host : ''
    const must = 'a name or an IP address, with or without a port'
    throw wrongOption(owner, `${option}[${i}]`, must, host, url ? `Did you mean '${url}'?` : fix)
  })
}
