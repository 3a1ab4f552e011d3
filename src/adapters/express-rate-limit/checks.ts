import { isIP } from 'node:net'
import type { Request } from 'express'
import { findNearest, show } from '../../util/validate.js'
import { DRAFTS } from './headers.js'
import type { CheckName, EnabledValidations, Logger, Store } from './types.js'

/**
 * A mistake in how a limiter is used, with the code that express-rate-limit gives it. It is logged, not
 * thrown.
 */
export class ValidationError extends Error {
  override readonly name: string = 'ValidationError'
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message)
  }
}

/** Options that older versions of express-rate-limit read in another way. */
class ChangeWarning extends ValidationError {
  override readonly name = 'ChangeWarning'
}

/** What a check finds: a code and a message. Codes that begin with `WRN_` are warnings. */
type Finding = readonly [code: string, message: string] | undefined

interface KeyOptions {
  readonly ipv6Subnet?: unknown
  readonly keyGenerator?: unknown
}

const usedStores = new WeakSet<Store>()
/** The keys that each request was counted under, by store. */
const countedKeys = new WeakMap<Request, Map<unknown, string[]>>()

const CHECKS = {
  ip(ip: string | undefined): Finding {
    if (ip === undefined)
      return ['ERR_ERL_UNDEFINED_IP_ADDRESS', 'req.ip is undefined. The connection may have closed already.']
    if (isIP(ip)) return
    return [
      'ERR_ERL_INVALID_IP_ADDRESS',
      `req.ip must be an IP address, got ${show(ip)}. Pass a keyGenerator.`,
    ]
  },
  trustProxy({ app }: Request): Finding {
    if (app.get('trust proxy') !== true) return
    const fix = "Set it to the number of your proxies, such as app.set('trust proxy', 1)."
    return [
      'ERR_ERL_PERMISSIVE_TRUST_PROXY',
      `'trust proxy' is true, so any client can choose its own IP address. ${fix}`,
    ]
  },
  xForwardedForHeader({ app, headers }: Request): Finding {
    if (!headers['x-forwarded-for'] || app.get('trust proxy') !== false) return
    const fix = "Behind a proxy, write app.set('trust proxy', 1)."
    return [
      'ERR_ERL_UNEXPECTED_X_FORWARDED_FOR',
      `A request has an X-Forwarded-For header, which Express does not trust. ${fix}`,
    ]
  },
  forwardedHeader({ headers, ip, socket }: Request): Finding {
    if (!headers.forwarded || ip !== socket?.remoteAddress) return
    return [
      'ERR_ERL_FORWARDED_HEADER',
      'A request has a Forwarded header, which Express does not read. Pass a keyGenerator that does.',
    ]
  },
  positiveHits(hits: unknown): Finding {
    if (typeof hits === 'number' && Number.isInteger(hits) && hits >= 1) return
    return [
      'ERR_ERL_INVALID_HITS',
      `The store's totalHits must be a whole number of at least 1, got ${show(hits)}.`,
    ]
  },
  unsharedStore(store: Store): Finding {
    if (!usedStores.has(store)) {
      usedStores.add(store)
      return
    }
    const fix = store.localKeys ? 'its own store' : 'a store with its own prefix'
    return ['ERR_ERL_STORE_REUSE', `Two limiters share one store. Give each limiter ${fix}.`]
  },
  singleCount(request: Request, store: Store, key: string): Finding {
    // A shared store may be behind several objects: the class and the prefix identify it.
    const owner: unknown = store.localKeys ? store : store.constructor.name
    const byOwner = countedKeys.get(request) ?? new Map<unknown, string[]>()
    const before = byOwner.get(owner) ?? []
    const counter = `${store.prefix ?? ''}${key}`
    countedKeys.set(request, byOwner.set(owner, [...before, counter]))
    if (!before.includes(counter)) return
    return ['ERR_ERL_DOUBLE_COUNT', `A request was counted twice under the key ${show(key)}.`]
  },
  limit(limit: unknown): Finding {
    if (limit !== 0) return
    return ['WRN_ERL_MAX_ZERO', 'A limit of 0 denies every request. To allow every request, use skip.']
  },
  draftPolliHeaders(value: unknown): Finding {
    if (!value) return
    const fix = "Set standardHeaders: 'draft-6'."
    return ['WRN_ERL_DEPRECATED_DRAFT_POLLI_HEADERS', `draft_polli_ratelimit_headers was removed. ${fix}`]
  },
  onLimitReached(value: unknown): Finding {
    if (!value) return
    const fix = 'Use a handler that checks req.rateLimit.used === req.rateLimit.limit + 1.'
    return ['WRN_ERL_DEPRECATED_ON_LIMIT_REACHED', `onLimitReached was removed. ${fix}`]
  },
  headersDraftVersion(version: unknown): Finding {
    if (DRAFTS.some((draft) => draft === version)) return
    const message = `standardHeaders must be one of ${DRAFTS.join(', ')}, got ${show(version)}.`
    return ['ERR_ERL_HEADERS_UNSUPPORTED_DRAFT_VERSION', message]
  },
  headersResetTime(resetTime: unknown): Finding {
    if (resetTime) return
    return [
      'ERR_ERL_HEADERS_NO_RESET',
      'The store returned no resetTime, so the headers say windowMs, which may be too long.',
    ]
  },
  knownOptions(options: object): Finding {
    const unknown = Object.keys(options).find((name) => !KNOWN_OPTIONS.has(name))
    if (unknown === undefined) return
    const near = findNearest(unknown, [...KNOWN_OPTIONS])
    const fix = near === undefined ? '' : ` Did you mean ${near}?`
    return ['ERR_ERL_UNKNOWN_OPTION', `There is no option ${show(unknown)}.${fix}`]
  },
  validationsConfig(enabled: object): Finding {
    const unknown = Object.keys(enabled).find((name) => name !== 'default' && !Object.hasOwn(CHECKS, name))
    if (unknown === undefined) return
    const names = Object.keys(CHECKS).join(', ')
    return ['ERR_ERL_UNKNOWN_VALIDATION', `There is no check ${show(unknown)}. The checks are ${names}.`]
  },
  creationStack(): Finding {
    const { stack } = new Error()
    if (!/Layer\.handle(Request| \[as handle_request\])/.test(stack ?? '')) return
    return [
      'ERR_ERL_CREATED_IN_REQUEST_HANDLER',
      'A limiter was created while a request was handled. Create it once, when the application starts.',
    ]
  },
  ipv6Subnet(subnet: unknown): Finding {
    if (subnet === false) return
    if (typeof subnet === 'number' && Number.isInteger(subnet) && subnet >= 32 && subnet <= 64) return
    return ['ERR_ERL_IPV6_SUBNET', `ipv6Subnet must be a whole number from 32 to 64, got ${show(subnet)}.`]
  },
  ipv6SubnetOrKeyGenerator({ ipv6Subnet, keyGenerator }: KeyOptions): Finding {
    if (ipv6Subnet === undefined || !keyGenerator) return
    return [
      'ERR_ERL_IPV6SUBNET_OR_KEYGENERATOR',
      'ipv6Subnet has no effect with your own keyGenerator. Leave one of them out.',
    ]
  },
  keyGeneratorIpFallback(keyGenerator: unknown): Finding {
    const source = String(keyGenerator ?? '')
    if (!/req(uest)?\.ip/.test(source) || source.includes('ipKeyGenerator')) return
    return [
      'ERR_ERL_KEY_GEN_IPV6',
      'The keyGenerator uses req.ip unchanged, but a client can use a whole network of IPv6 addresses. ' +
        'Use ipKeyGenerator(req.ip).',
    ]
  },
  /** Other wrong windows are a `TypeError`, whatever `validate` says. */
  windowMs(windowMs: unknown): Finding {
    if (typeof windowMs === 'number') return
    const fix = `Did you mean windowMs: ${Number(windowMs) || '60 * 1000'}?`
    return ['ERR_ERL_WINDOW_MS', `windowMs must be a number of milliseconds, got ${show(windowMs)}. ${fix}`]
  },
} satisfies Record<CheckName, (...input: never[]) => Finding>

/** The options of version 8, one that has its own check, and those of express-slow-down. */
const KNOWN_OPTIONS = new Set([
  ...['windowMs', 'limit', 'max', 'message', 'statusCode', 'legacyHeaders', 'headers', 'standardHeaders'],
  ...['identifier', 'retryAfter', 'requestPropertyName', 'skipFailedRequests', 'skipSuccessfulRequests'],
  ...['requestWasSuccessful', 'keyGenerator', 'ipv6Subnet', 'handler', 'skip', 'store', 'validate'],
  ...['passOnStoreError', 'logger', 'draft_polli_ratelimit_headers'],
  ...['delayAfter', 'delayMs', 'maxDelayMs'],
])

export type Check = <Name extends CheckName>(name: Name, ...input: Parameters<(typeof CHECKS)[Name]>) => void

/**
 * Creates the checks of a limiter. Each runs the first time that it is called for, and logs what it finds.
 * `enabled` says which ones still run.
 */
export function checksFor(validate: boolean | EnabledValidations, logger: Logger) {
  const enabled: EnabledValidations =
    typeof validate === 'boolean' ? { default: validate } : { default: true, ...validate }

  const check: Check = (name, ...input) => {
    if (!(enabled[name] ?? enabled.default)) return
    enabled[name] = false
    const find = CHECKS[name] as (...input: unknown[]) => Finding
    try {
      const finding = find(...input)
      if (finding !== undefined) log(...finding)
    } catch (error) {
      logger.error(error) // a request or a store that lacks what the check reads
    }
  }

  function log(code: string, message: string): void {
    if (code.startsWith('WRN_')) logger.warn(new ChangeWarning(code, message))
    else logger.error(new ValidationError(code, message))
  }

  return { enabled, check }
}
