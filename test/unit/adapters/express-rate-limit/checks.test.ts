import type { Request } from 'express'
import { rateLimit, type Store } from 'headgate/express-rate-limit'
import { type Check, checksFor } from '../../../../src/adapters/express-rate-limit/checks.js'

type Input = readonly unknown[]
type Named = Parameters<Check>[0]

/** Runs checks by their names. Returns what they log. */
function logOf(
  inputs: readonly (readonly [string, ...Input])[],
  validate: boolean | object = true,
): unknown[] {
  const log: unknown[] = []
  const logger = { error: (error: unknown) => log.push(error), warn: (error: unknown) => log.push(error) }
  const { check } = checksFor(validate as boolean, logger as never)
  const run = check as (name: Named, ...input: Input) => void
  for (const [name, ...input] of inputs) run(name as Named, ...input)
  return log
}

const app = (trust: unknown) => ({ get: () => trust })
const socket = { remoteAddress: '192.0.2.9' }
const store = (own: object) => ({ increment() {}, ...own }) as unknown as Store

const FINDINGS: readonly (readonly [string, Input, code: string, message: string])[] = [
  [
    'ip',
    [undefined],
    'ERR_ERL_UNDEFINED_IP_ADDRESS',
    'req.ip is undefined. The connection may have closed already.',
  ],
  [
    'ip',
    ['192.0.2.1:80'],
    'ERR_ERL_INVALID_IP_ADDRESS',
    'req.ip must be an IP address, got "192.0.2.1:80". Pass a keyGenerator.',
  ],
  [
    'trustProxy',
    [{ app: app(true) }],
    'ERR_ERL_PERMISSIVE_TRUST_PROXY',
    "'trust proxy' is true, so any client can choose its own IP address. Set it to the number of your proxies, such as app.set('trust proxy', 1).",
  ],
  [
    'xForwardedForHeader',
    [{ app: app(false), headers: { 'x-forwarded-for': '192.0.2.1' } }],
    'ERR_ERL_UNEXPECTED_X_FORWARDED_FOR',
    "A request has an X-Forwarded-For header, which Express does not trust. Behind a proxy, write app.set('trust proxy', 1).",
  ],
  [
    'forwardedHeader',
    [{ headers: { forwarded: 'for=192.0.2.1' }, ip: '192.0.2.9', socket }],
    'ERR_ERL_FORWARDED_HEADER',
    'A request has a Forwarded header, which Express does not read. Pass a keyGenerator that does.',
  ],
  ...[0, 1.5, '1', undefined].map(
    (hits) =>
      [
        'positiveHits',
        [hits],
        'ERR_ERL_INVALID_HITS',
        `The store's totalHits must be a whole number of at least 1, got ${JSON.stringify(hits) ?? 'undefined'}.`,
      ] as const,
  ),
  ['limit', [0], 'WRN_ERL_MAX_ZERO', 'A limit of 0 denies every request. To allow every request, use skip.'],
  [
    'draftPolliHeaders',
    [true],
    'WRN_ERL_DEPRECATED_DRAFT_POLLI_HEADERS',
    "draft_polli_ratelimit_headers was removed. Set standardHeaders: 'draft-6'.",
  ],
  [
    'onLimitReached',
    [() => {}],
    'WRN_ERL_DEPRECATED_ON_LIMIT_REACHED',
    'onLimitReached was removed. Use a handler that checks req.rateLimit.used === req.rateLimit.limit + 1.',
  ],
  [
    'headersDraftVersion',
    ['draft-5'],
    'ERR_ERL_HEADERS_UNSUPPORTED_DRAFT_VERSION',
    'standardHeaders must be one of draft-6, draft-7, draft-8, got "draft-5".',
  ],
  [
    'headersResetTime',
    [undefined],
    'ERR_ERL_HEADERS_NO_RESET',
    'The store returned no resetTime, so the headers say windowMs, which may be too long.',
  ],
  ['knownOptions', [{ zzzzzzzz: 1 }], 'ERR_ERL_UNKNOWN_OPTION', 'There is no option "zzzzzzzz".'],
  [
    'knownOptions',
    [{ limit: 1, widowMs: 1 }],
    'ERR_ERL_UNKNOWN_OPTION',
    'There is no option "widowMs". Did you mean windowMs?',
  ],
  [
    'validationsConfig',
    [{ default: true, ip: false, ips: false }],
    'ERR_ERL_UNKNOWN_VALIDATION',
    expect.stringMatching(/^There is no check "ips"\. The checks are ip, trustProxy, .*, windowMs\.$/),
  ],
  ...[31, 65, 56.5, '56', true].map(
    (subnet) =>
      [
        'ipv6Subnet',
        [subnet],
        'ERR_ERL_IPV6_SUBNET',
        `ipv6Subnet must be a whole number from 32 to 64, got ${JSON.stringify(subnet)}.`,
      ] as const,
  ),
  [
    'ipv6SubnetOrKeyGenerator',
    [{ ipv6Subnet: 56, keyGenerator: () => '' }],
    'ERR_ERL_IPV6SUBNET_OR_KEYGENERATOR',
    'ipv6Subnet has no effect with your own keyGenerator. Leave one of them out.',
  ],
  ...['(req) => req.ip', '(request) => request.ip'].map(
    (source) =>
      [
        'keyGeneratorIpFallback',
        [{ toString: () => source }],
        'ERR_ERL_KEY_GEN_IPV6',
        'The keyGenerator uses req.ip unchanged, but a client can use a whole network of IPv6 addresses. Use ipKeyGenerator(req.ip).',
      ] as const,
  ),
  [
    'windowMs',
    ['60000'],
    'ERR_ERL_WINDOW_MS',
    'windowMs must be a number of milliseconds, got "60000". Did you mean windowMs: 60000?',
  ],
]

test.each(FINDINGS)('the check %s of %j logs %s, once', (name, input, code, message) => {
  const log = logOf([
    [name, ...input],
    [name, ...input],
  ])
  expect(log).toEqual([expect.objectContaining({ code, message })])
  expect((log[0] as Error).name).toBe(code.startsWith('WRN_') ? 'ChangeWarning' : 'ValidationError')
})

test.each<[string, ...Input]>([
  ['ip', '192.0.2.1'],
  ['trustProxy', { app: app(1) }],
  ['xForwardedForHeader', { app: app(false), headers: {} }],
  ['xForwardedForHeader', { app: app(1), headers: { 'x-forwarded-for': '192.0.2.1' } }],
  ['forwardedHeader', { headers: {}, ip: '192.0.2.9', socket }],
  ['forwardedHeader', { headers: { forwarded: 'for=192.0.2.1' }, ip: '192.0.2.1', socket }],
  ['positiveHits', 1],
  ['limit', 1],
  ['draftPolliHeaders', undefined],
  ['onLimitReached', undefined],
  ['headersDraftVersion', 'draft-8'],
  ['headersResetTime', new Date()],
  ['knownOptions', { windowMs: 1, delayMs: 1 }],
  ['validationsConfig', { default: false, ip: false }],
  ['creationStack'],
  ['ipv6Subnet', false],
  ['ipv6Subnet', 32],
  ['ipv6Subnet', 64],
  ['ipv6SubnetOrKeyGenerator', { ipv6Subnet: 56 }],
  ['ipv6SubnetOrKeyGenerator', { keyGenerator: () => '' }],
  ['keyGeneratorIpFallback', undefined],
  ['keyGeneratorIpFallback', '(req) => req.user'],
  ['keyGeneratorIpFallback', '(req) => ipKeyGenerator(req.ip)'],
  ['windowMs', 1],
])('the check %s of %j logs nothing', (name, ...input) => {
  expect(logOf([[name, ...input]])).toEqual([])
})

test.each([
  ['all checks', true, 2],
  ['none', false, 0],
  ['all but one', { ip: false }, 1],
  ['one of none', { default: false, ip: true }, 1],
])('validate says which run: %s', (_, validate, expected) => {
  expect(
    logOf(
      [
        ['ip', undefined],
        ['limit', 0],
      ],
      validate,
    ),
  ).toHaveLength(expected)
})

test('a store of two limiters is logged, with what each needs', () => {
  const codeOf = (own: object) => {
    const shared = store(own)
    const log = logOf([['unsharedStore', shared]])
    return [...log, ...logOf([['unsharedStore', shared]])]
  }
  const message = (fix: string) => ({
    code: 'ERR_ERL_STORE_REUSE',
    message: `Two limiters share one store. Give each limiter ${fix}.`,
  })
  expect(codeOf({ localKeys: true })).toEqual([expect.objectContaining(message('its own store'))])
  expect(codeOf({})).toEqual([expect.objectContaining(message('a store with its own prefix'))])
})

test('a request that is counted twice under one key is logged', () => {
  class Remote {
    readonly prefix: string
    constructor(prefix: string) {
      this.prefix = prefix
    }
  }
  const [a, sameAsA, b] = [new Remote('a:'), new Remote('a:'), new Remote('b:')]
  const local = store({ localKeys: true })
  const twice = (...counts: readonly (readonly [unknown, string])[]) => {
    const request = {} as Request
    return counts.flatMap(([of, key]) => logOf([['singleCount', request, of, key]]))
  }
  const found = [
    expect.objectContaining({
      code: 'ERR_ERL_DOUBLE_COUNT',
      message: 'A request was counted twice under the key "ada".',
    }),
  ]
  expect(twice([a, 'ada'], [a, 'ada'])).toEqual(found)
  expect(twice([a, 'ada'], [sameAsA, 'bob'], [sameAsA, 'ada'])).toEqual(found)
  expect(twice([local, 'ada'], [local, 'ada'])).toEqual(found)
  expect(twice([a, 'ada'], [b, 'ada'], [a, 'bob'])).toEqual([])
  expect(twice([local, 'ada'], [store({ localKeys: true }), 'ada'])).toEqual([])
})

test('a check that fails is logged, and does not stop the request', () => {
  expect(logOf([['trustProxy', {}]])).toEqual([expect.any(TypeError)])
})

describe('without a logger', () => {
  test('the console gets what is logged', () => {
    const [error, warn] = (['error', 'warn'] as const).map((name) =>
      jest.spyOn(console, name).mockImplementation(() => undefined),
    )
    rateLimit({ lmit: 1, onLimitReached: () => {} } as object)
    expect(error?.mock.calls).toEqual([[expect.objectContaining({ code: 'ERR_ERL_UNKNOWN_OPTION' })]])
    expect(warn?.mock.calls).toEqual([
      [expect.objectContaining({ code: 'WRN_ERL_DEPRECATED_ON_LIMIT_REACHED' })],
    ])
    const init = () => {
      throw new Error('no database')
    }
    const broken = store({ decrement() {}, resetKey() {}, init })
    rateLimit({ store: broken })
    expect(error?.mock.calls.at(-1)).toEqual([
      'rateLimit: the store failed to initialize.',
      new Error('no database'),
    ])
    for (const mock of [error, warn]) mock?.mockRestore()
  })
})
