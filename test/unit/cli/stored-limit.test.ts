import {
  ban,
  byIp,
  candidateLimits,
  concurrency,
  consecutive,
  createLimiter,
  fixedWindow,
  identitiesOf,
  memoryStore,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from 'headgate'
import { customStore } from 'headgate/store'
import { escapePattern, searchText } from '../../../src/cli/keys/search.js'
import {
  fullName,
  keyOf,
  keyStart,
  limitOf,
  policyFor,
  shapeOf,
  splitKey,
} from '../../../src/cli/keys/stored-limit.js'
import { baseOf, keyCodeOf } from '../../../src/policies/spec.js'
import { keysOf } from '../../../src/stores/operation.js'
import type { Store } from '../../../src/stores/store.js'

const START = keyStart('hg')

/** A store that keeps the keys of all operations. */
function storeOfKeys(keys: string[]): Store {
  const memory = memoryStore()
  return customStore({
    name: 'keys',
    async apply(operations) {
      keys.push(...operations.flatMap(keysOf).map(({ key }) => key))
      return memory.apply(operations)
    },
  })
}

test.each([
  ['a limiter of one limit', { name: 'api' }, 'api'],
  ['a limiter without a name', {}, '_default'],
  ['a name of dashes, dots and digits', { name: '2-v.1_x' }, '2-v.1_x'],
])('reads the keys of %s', async (_what, options, name) => {
  const keys: string[] = []
  const store = storeOfKeys(keys)
  const limiter = createLimiter({ ...options, limit: 5, window: '1m', key: byIp(), store })
  const decision = await limiter.charge({ ip: '203.0.113.7' })
  const { beginning, identity } = splitKey(keys[0] as string) as { beginning: string; identity: string }
  expect(identity).toBe(identitiesOf(decision)[0]?.identity)
  const limit = limitOf(beginning, START)
  expect(limit).toMatchObject({ limiter: name, limit: undefined, isCandidate: false, isBan: false })
  expect(limit?.anyPolicy.spec.kind).toBe('token-bucket')
  expect(limit && [fullName(limit), keyOf(limit, identity)]).toEqual([name, keys[0]])
})

test('reads the keys of several limits, and of a candidate', async () => {
  const keys: string[] = []
  const store = storeOfKeys(keys)
  const several = { limit: 5, window: '1m' } as const
  const tried = createLimiter({
    ...several,
    name: 'api',
    key: byIp(),
    store,
    candidate: candidateLimits(several),
  })
  await tried.charge({ ip: '203.0.113.7' })
  const beginnings = keys.map((key) => splitKey(key)?.beginning ?? '')
  const limits = beginnings.map((beginning) => limitOf(beginning, START))
  expect(limits.map((limit) => limit?.isCandidate).sort()).toEqual([false, true])
  expect(limitOf('hg:3:login/account-1:fw:{', START)).toMatchObject({
    limiter: 'login',
    limit: 'account-1',
    isBan: false,
    anyPolicy: { spec: { kind: 'fixed-window' } },
  })
  expect(limitOf('hg:3:login/_candidate/account:bfw:{', START)).toMatchObject({
    limiter: 'login',
    limit: 'account',
    isCandidate: true,
    isBan: true,
    anyPolicy: { spec: { kind: 'fixed-window' } },
  })
})

const KINDS = [
  tokenBucket({ capacity: 5, refill: 5, every: '1m' }),
  slidingWindow({ limit: 5, window: '1m' }),
  slidingLog({ limit: 5, window: '1m' }),
  fixedWindow({ limit: 5, window: '1m' }),
  fixedWindow({ limit: 5, window: '1m', startsAt: 'first-request' }),
  fixedWindow({ limit: 5, window: '1m', debt: 2, onChange: 'reset' }),
  consecutive({ limit: 5, onChange: 'reset' }),
]
const BANS = KINDS.map((policy) => ban(policy, { after: 2, within: '1m', for: '1h' }))

test.each([...KINDS, ...BANS, concurrency({ limit: 5 })].map((policy) => [keyCodeOf(policy.spec), policy]))(
  'reads the kind in the code %s',
  (code, { spec, isBan = false, width }) => {
    const limit = limitOf(`hg:3:api:${code}:{`, START)
    expect(limit).toMatchObject({ limiter: 'api', isBan, anyPolicy: { spec: { kind: baseOf(spec).kind } } })
    const policy = limit && policyFor(limit)
    expect(policy?.isBan ?? false).toBe(isBan)
    expect(policy?.width).toBe(width)
  },
)

test.each([
  ['hg:3:health'],
  ['hg:3:api:fw'],
  ['hg:3:api:fw:{ada'],
  ['hg:3:api:fw{ada}'],
  ['hg:2:api:fw:{ada}'],
  ['hg:4:api:fw:{ada}'],
  ['other:2:api:fw:{ada}'],
  ['hg:3:_other:fw:{ada}'],
  ['hg:3:api/a/b:fw:{ada}'],
  ['hg:3:api:x:{ada}'],
  ['hg:3:api:b:{ada}'],
  ['hg:3:api:bcc:{ada}'],
  ['hg:3:api:fw-5-60000:{ada}'],
  ['hg:3:api:fw-token-bucket-5-60000:{ada}'],
  ['hg:3:a\nb:fw:{ada}'],
  [`hg:3:${'a'.repeat(65)}:fw:{ada}`],
])('%j is the key of no limit', (key) => {
  const pieces = splitKey(key)
  expect(pieces && limitOf(pieces.beginning, START)).toBeUndefined()
})

test.each([
  ['203.0.113.7', 'ipv4'],
  ['2001:db8::/56', 'ipv6/56'],
  ['AAAAAAAAAAAAAAAAAAAA_-', 'hash'],
  ['203.0.113.7|AAAAAAAAAAAAAAAAAAAA_-', 'ipv4|hash'],
  ['AAAAAAAAAAAAAAAAAAAA_-|stranger', 'hash|text'],
  ['unknown', 'text'],
])('%s is of the kind %s', (identity, shape) => {
  expect(shapeOf(identity)).toBe(shape)
})

test('a pattern matches the prefix itself, whatever is in it', () => {
  expect(escapePattern('a*b?[c]\\:')).toBe('a\\*b\\?\\[c\\]\\\\:')
})

test('progress is the share of all keys', () => {
  expect(searchText(2_100_000, 5_000_000)).toBe(' 42% [########            ] of 5,000,000 keys searched')
  expect(searchText(1000, 0)).toBe('100% [####################] of 0 keys searched')
})
