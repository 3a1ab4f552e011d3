import type { Express, Request } from 'express'
import { type LegacyStore, type Logger, rateLimit } from 'headgate/express-rate-limit'
import { closeServers, type Sent, times } from '../../support/http.js'
import { answerAll, type BuildApp, bothWith, ORIGINAL, OURS } from './side-by-side.js'

afterEach(closeServers)

interface Case {
  /** What both packages log. */
  readonly log: readonly string[]
  readonly build: BuildApp
  readonly sent?: Sent
}

/** Mounts a limiter with some options on all routes. */
const withOptions = (options: Parameters<Parameters<BuildApp>[0]>[0]): BuildApp => {
  return (limit, app) => answerAll(app.use(limit(options)))
}
const unknown = (options: object) => withOptions(options)
const trusting = (trust: unknown) => (limit: Parameters<BuildApp>[0], app: Express) => {
  app.set('trust proxy', trust)
  answerAll(app.use(limit({})))
}
const storeWith = (increment: object) => ({
  increment: () => increment as { totalHits: number; resetTime: Date },
  decrement() {},
  resetKey() {},
})

/** A store with a callback. */
const LEGACY: LegacyStore = {
  incr: (_key, callback) => callback(undefined, 1, new Date(Date.now() + 60_000)),
  decrement() {},
  resetKey() {},
}

const CASES: readonly Case[] = [
  { log: [], build: withOptions({}) },
  {
    log: ['error ERR_ERL_UNEXPECTED_X_FORWARDED_FOR'],
    build: withOptions({}),
    sent: { headers: { 'x-forwarded-for': '203.0.113.7' } },
  },
  {
    log: [],
    build: withOptions({ validate: { xForwardedForHeader: false } }),
    sent: { headers: { 'x-forwarded-for': '203.0.113.7' } },
  },
  { log: ['error ERR_ERL_PERMISSIVE_TRUST_PROXY'], build: trusting(true) },
  {
    log: ['error ERR_ERL_FORWARDED_HEADER'],
    build: withOptions({}),
    sent: { headers: { forwarded: 'for=x' } },
  },
  {
    log: ['error ERR_ERL_INVALID_IP_ADDRESS'],
    build: trusting(1),
    sent: { headers: { 'x-forwarded-for': 'nonsense' } },
  },
  {
    log: ['error ERR_ERL_UNDEFINED_IP_ADDRESS'],
    build: (limit, app) => {
      app.use((req, _res, next) => next(void Object.defineProperty(req, 'ip', { value: undefined })))
      answerAll(app.use(limit({})))
    },
  },
  { log: ['error ERR_ERL_UNKNOWN_OPTION'], build: unknown({ windo: 60_000 }) },
  { log: ['error ERR_ERL_UNKNOWN_OPTION'], build: unknown({ windo: undefined }) },
  {
    log: ['error ERR_ERL_UNKNOWN_OPTION', 'error ERR_ERL_IPV6_SUBNET'],
    build: unknown({ windo: undefined, ipv6Subnet: '64' }),
  },
  { log: [], build: unknown({ delayAfter: 1, delayMs: 1, maxDelayMs: 1 }) },
  { log: ['error ERR_ERL_UNKNOWN_VALIDATION'], build: unknown({ validate: { ips: true } }) },
  { log: [], build: unknown({ validate: false, windo: 60_000 }) },
  { log: [], build: unknown({ validate: { default: false }, windo: 60_000 }) },
  {
    log: ['error ERR_ERL_UNKNOWN_OPTION'],
    build: unknown({ validate: { default: false, knownOptions: true }, windo: 1 }),
  },
  {
    log: ['warn WRN_ERL_DEPRECATED_DRAFT_POLLI_HEADERS'],
    build: unknown({ draft_polli_ratelimit_headers: true }),
  },
  {
    log: ['error ERR_ERL_UNKNOWN_OPTION', 'warn WRN_ERL_DEPRECATED_ON_LIMIT_REACHED'],
    build: unknown({ onLimitReached() {} }),
  },
  { log: ['warn WRN_ERL_MAX_ZERO'], build: withOptions({ limit: 0 }) },
  { log: ['warn WRN_ERL_MAX_ZERO'], build: withOptions({ limit: () => 0 }) },
  { log: ['error ERR_ERL_IPV6_SUBNET'], build: withOptions({ ipv6Subnet: 65 }) },
  {
    log: ['error ERR_ERL_KEY_GEN_IPV6'],
    build: withOptions({ keyGenerator: (req: Request) => req.ip as string }),
  },
  {
    log: ['error ERR_ERL_IPV6SUBNET_OR_KEYGENERATOR'],
    build: withOptions({ ipv6Subnet: 64, keyGenerator: () => 'all' }),
  },
  {
    log: ['error ERR_ERL_HEADERS_UNSUPPORTED_DRAFT_VERSION'],
    build: withOptions({ standardHeaders: 'draft-9' as 'draft-8' }),
  },
  {
    log: ['error ERR_ERL_HEADERS_NO_RESET'],
    build: withOptions({ standardHeaders: 'draft-7', store: storeWith({ totalHits: 1 }) }),
  },
  { log: ['error ERR_ERL_INVALID_HITS'], build: withOptions({ store: storeWith({ totalHits: 0.5 }) }) },
  {
    log: ['error ERR_ERL_STORE_REUSE'],
    build: (limit, app) => {
      const store = storeWith({ totalHits: 1 })
      app.use('/a', limit({ store }))
      answerAll(app.use('/b', limit({ store })))
    },
  },
  {
    log: ['error ERR_ERL_DOUBLE_COUNT'],
    build: (limit, app) => {
      class Counts {
        increment = () => ({ totalHits: 1, resetTime: new Date(Date.now() + 60_000) })
        decrement() {}
        resetKey() {}
      }
      answerAll(app.use(limit({ store: new Counts() }), limit({ store: new Counts() })))
    },
  },
  {
    log: [],
    build: (limit, app) =>
      answerAll(app.use(limit({ store: LEGACY }), limit({ store: storeWith({ totalHits: 1 }) }))),
  },
  {
    log: ['error ERR_ERL_DOUBLE_COUNT'],
    build: (limit, app) => answerAll(app.use(limit({ store: LEGACY }), limit({ store: LEGACY }))),
  },
  {
    log: ['error ERR_ERL_CREATED_IN_REQUEST_HANDLER', 'error ERR_ERL_CREATED_IN_REQUEST_HANDLER'],
    build: (limit, app) => answerAll(app.use((req, res, next) => limit({})(req, res, next))),
  },
]

test.each(CASES.map((each, i) => ({ name: `${i} ${each.log.join(', ') || 'nothing'}`, ...each })))(
  'both packages log the same: $name',
  async ({ log, build, sent = {} }) => {
    const { original, ours } = await bothWith(build, times(2, sent))
    expect(original.log).toEqual(log)
    expect(ours).toEqual(original)
  },
)

test('an unknown option is logged with the one that it may be, if any is near', () => {
  const error = jest.fn()
  const messageFor = (options: object) => {
    error.mockClear()
    rateLimit({ ...options, logger: { error, warn: jest.fn() } } as object)
    return error.mock.calls.flat().map(String).join()
  }
  expect(messageFor({ windowMS: 60_000 })).toContain('There is no option "windowMS". Did you mean windowMs?')
  expect(messageFor({ somethingElse: 1 })).toMatch(/There is no option "somethingElse"\.(?! Did)/)
})

describe.each([
  ['express-rate-limit', ORIGINAL],
  ['headgate/express-rate-limit', OURS],
])('%s', (_name, { rateLimit }) => {
  test('logs what is wrong as ValidationError, and what will be wrong as ChangeWarning', () => {
    const named: string[] = []
    const log = (problem: unknown) => void named.push((problem as Error).name)
    const options = { windo: 1, onLimitReached() {}, logger: { error: log, warn: log } }
    rateLimit(options as object)
    expect(named).toEqual(['ValidationError', 'ChangeWarning'])
  })

  test.each([5, 'console', { error() {} }, Object.assign(() => {}, { error() {}, warn() {} })])(
    'takes no %p for a logger',
    (logger) => {
      expect(() => rateLimit({ logger: logger as unknown as Logger })).toThrow(TypeError)
    },
  )
})
