import { documentSteps } from '../../../src/settings/read-document.js'
import { atOnce } from '../../../src/util/slices.js'

const NOW_MS = Date.parse('2026-11-26T12:00:00Z')
const read = (document: unknown) => atOnce(documentSteps(document, NOW_MS))

test('a document without its parts has no limits and no overrides', () => {
  expect(read({})).toEqual({ limits: {}, overrides: [] })
})

test('a document is returned as it was written', () => {
  const document = {
    mode: 'report',
    limits: {
      api: { limit: 200, window: '1m' },
      burst: { policy: 'tokenBucket', capacity: 20, refill: 10, every: '1s' },
      search: { policy: 'slidingWindow', limit: 5, window: '1m', slices: 5 },
      daily: { policy: 'fixedWindow', limit: 5, window: '1d', startsAt: 'first-request' },
      trial: { policy: 'consecutive', limit: 5 },
      reports: { policy: 'concurrency', limit: 5, ttl: '10s' },
      strict: {
        policy: 'fixedWindow',
        limit: 5,
        window: '1m',
        ban: { after: 3, within: '1m', for: ['1m', '1h'] },
      },
    },
    candidate: { limits: { api: { limit: 300 } } },
    overrides: [
      { identity: 'acme', limits: { api: { limit: 1000, window: '1m' } }, until: '2027-01-01T00:00:00Z' },
      { identity: ['acme', '/search'], limits: { api: { window: '10s' } }, until: NOW_MS + 1 },
      { identityPrefix: 'trial-', limits: { api: { limit: 10 } } },
      { network: '203.0.113.0/24', exempt: true },
      { network: '2001:db8::/32', block: true },
    ],
  }
  expect(read(document)).toEqual(document)
})

test('an override that has ended is left out', () => {
  const overrides = [
    { identity: 'a', exempt: true, until: '2026-11-26T12:00:00Z' },
    { identity: 'b', exempt: true, until: NOW_MS },
    { identity: 'c', exempt: true, until: '2026-11-26T13:00:01+01:00' },
  ]
  expect(read({ overrides }).overrides).toEqual([overrides[2]])
})

const override = (fields: object) => ({ overrides: [{ identity: 'a', exempt: true }, fields] })
const limit = (settings: unknown) => ({ limits: { api: settings } })

test.each<[unknown, string]>([
  [undefined, 'settings: the document must be an object, got undefined'],
  [[], 'settings: the document must be an object, got an array of 0'],
  [
    { limit: 5 },
    'settings: there is no option "limit". Write limits: { api: { limit: 200, window: \'1m\' } }',
  ],
  [{ mode: 'off' }, "settings: mode must be one of 'enforce', 'report', got \"off\""],
  [{ limits: [] }, 'settings: limits must be an object of at most 16 limits by name, got an array of 0'],
  [{ limits: { 'a b': { limit: 5 } } }, 'settings: a name in limits must be 1 to 64 letters'],
  [limit(5), 'settings: limits.api must be an object, got 5'],
  [limit({}), 'settings: limits.api must be an object with limit, window or policy, got an object'],
  [limit({ limit: '10' }), 'settings: limits.api.limit must be a whole number of at least 1, got "10"'],
  [limit({ limit: 5, window: 60 }), 'settings: limits.api.window must be a string with a unit'],
  [
    limit({ limit: 5, windo: '1m' }),
    'settings: limits.api: there is no option "windo". Did you mean window?',
  ],
  [limit({ limit: 5, ban: {} }), 'settings: limits.api: there is no option "ban". Write policy:'],
  [limit({ policy: 'leaky' }), "settings: limits.api.policy must be one of 'tokenBucket'"],
  [limit({ policy: 'slidingWindow', limit: 0, window: '1m' }), 'settings: limits.api.limit must be a whole'],
  [limit({ policy: 'fixedWindow', limit: 5 }), 'settings: limits.api.window must be a duration'],
  [limit({ policy: 'consecutive', limit: 5, name: 'x' }), 'settings: limits.api.name must be left out'],
  [
    limit({ policy: 'consecutive', limit: 5, ban: { after: 3, within: '1m', for: 'ever' } }),
    'settings: limits.api.ban.for must be a duration',
  ],
  [{ candidate: {} }, 'settings: candidate must be an object with limits and nothing else, got an object'],
  [{ candidate: { limits: { api: { limit: -1 } } } }, 'settings: candidate.limits.api.limit must be a whole'],
  [{ overrides: {} }, 'settings: overrides must be an array of at most 10000 overrides, got an object'],
  [
    override({}),
    'settings: overrides[1] must have exactly one of identity, storedIdentity, identityPrefix, network, got none',
  ],
  [
    override({ identity: 'b' }),
    'settings: overrides[1] must have exactly one of limits, exempt, block, got none',
  ],
  [
    override({ identity: 'b', exempt: true, block: true }),
    'settings: overrides[1] must have exactly one of limits, exempt, block, got exempt and block',
  ],
  [override({ identity: 'b', exempt: false }), 'settings: overrides[1].exempt must be true, got false'],
  [override({ prefix: 'b', exempt: true }), 'there is no option "prefix". Write identityPrefix instead'],
  [override({ identity: 5, block: true }), 'settings: overrides[1].identity must be a string of 1 to 1024'],
  [override({ identity: [], block: true }), 'settings: overrides[1].identity must be a string of 1 to 1024'],
  [override({ identityPrefix: '', block: true }), 'settings: overrides[1].identityPrefix must be a string'],
  [
    override({ network: '300.0.0.1', block: true }),
    'settings: overrides[1].network must be an IP address or a CIDR range, got "300.0.0.1"',
  ],
  [
    override({ identity: 'b', limits: { api: { limit: 0 } } }),
    'settings: overrides[1].limits.api.limit must be a whole number',
  ],
  [
    override({ identity: 'b', block: true, until: '2026-12-31' }),
    'settings: overrides[1].until must be a time',
  ],
  [
    override({ identity: 'b', block: true, until: 1_790_000_000 }),
    'settings: overrides[1].until must be a time',
  ],
  [override({ identity: 'a', block: true }), 'settings: overrides[1] has the same target as overrides[0]'],
])('%j is wrong', (document, problem) => {
  expect(() => read(document)).toThrow(TypeError)
  expect(() => read(document)).toThrow(problem)
})

test('two spellings of a network are one target', () => {
  const overrides = ['2001:db8::/32', '2001:DB8:0::/32'].map((network) => ({ network, exempt: true }))
  expect(() => read({ overrides })).toThrow('overrides[1] has the same target as overrides[0]')
})

test('an error lists each wrong place, ten at most', () => {
  const overrides = Array.from({ length: 50 }, (_, i) => ({ identity: `a${i}`, exempt: 1 }))
  const message = (() => {
    try {
      read({ mode: 'off', overrides })
      return ''
    } catch (error) {
      return String(error)
    }
  })()
  expect(message.split('\n')).toHaveLength(11)
  expect(message).toContain('- mode must be one of')
  expect(message).toContain('- overrides[8].exempt must be true')
})
