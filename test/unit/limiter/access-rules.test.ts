import { byIp, createLimiter, type Decision } from 'headgate'
import { chargeNow } from '../../support/charge-now.js'

const from = (ip: string) => ({ ip })

function limiterWith(options: object) {
  const limiter = createLimiter<{ ip: string }>({ limit: 1, window: '1m', ...options })
  const limited: Decision[] = []
  limiter.events.on('denied', (decision) => limited.push(decision))
  return { limiter, limited, charge: (ip: string) => chargeNow(limiter, from(ip)) }
}

test('allowed addresses are not charged', () => {
  const { charge } = limiterWith({ allow: ['192.0.2.0/24'] })
  expect([charge('192.0.2.1'), charge('192.0.2.1')]).toMatchObject([
    { allowed: true, source: 'none' },
    { allowed: true, source: 'none' },
  ])
  expect([charge('198.51.100.1').allowed, charge('198.51.100.1').allowed]).toEqual([true, false])
})

test('blocked addresses are denied for ever, charged nothing, and take precedence over allowed ones', async () => {
  const { limiter, charge } = limiterWith({ allow: ['192.0.2.0/24'], block: ['192.0.2.7'] })
  expect(charge('192.0.2.7')).toMatchObject({ allowed: false, source: 'blocked', retryAfterMs: Infinity })
  expect(await limiter.peek(from('192.0.2.7'))).toMatchObject({ allowed: false, source: 'blocked' })
  expect(charge('192.0.2.8').allowed).toBe(true)
})

test('an address as a string is allowed or blocked, too', () => {
  const options = { limit: 1, window: '1m', allow: ['192.0.2.0/24'], block: ['203.0.113.5'] }
  const limiter = createLimiter<string>({ ...options, key: (subject) => subject })
  const charge = (subject: string) => chargeNow(limiter, subject)
  expect(charge('203.0.113.5')).toMatchObject({ allowed: false, source: 'blocked' })
  expect(charge('::ffff:203.0.113.5')).toMatchObject({ allowed: false, source: 'blocked' })
  expect(charge('192.0.2.1')).toMatchObject({ allowed: true, source: 'none' })
  expect(charge('ada')).toMatchObject({ allowed: true, source: 'store' })
})

test('skipped subjects are not charged, also where skip is async', async () => {
  const isInternal = ({ ip }: { ip: string }) => ip === '192.0.2.1'
  const { charge } = limiterWith({ skip: isInternal })
  expect([charge('192.0.2.1').source, charge('192.0.2.1').source]).toEqual(['none', 'none'])
  const later = limiterWith({ skip: async (subject: { ip: string }) => isInternal(subject) })
  expect(await later.limiter.charge(from('192.0.2.1'))).toMatchObject({ source: 'none' })
  expect(await later.limiter.charge(from('192.0.2.2'))).toMatchObject({ source: 'store', remaining: 0 })
})

test('report mode allows what is over the limit, says so in parts, and emits the denial', async () => {
  const { limiter, limited, charge } = limiterWith({ mode: 'report', block: ['192.0.2.7'] })
  charge('192.0.2.1')
  const over = await limiter.charge(from('192.0.2.1'))
  expect(over).toMatchObject({ allowed: true, retryAfterMs: 0, remaining: 0, parts: [{ allowed: false }] })
  expect(limited).toMatchObject([{ allowed: false }])
  expect(charge('192.0.2.7')).toMatchObject({ allowed: true, source: 'store' })
  await limiter.refund(over)
  expect((await limiter.peek(from('192.0.2.1'))).remaining).toBe(0)
  await limiter.forget(over)
  expect((await limiter.peek(from('192.0.2.1'))).remaining).toBe(1)
})

const closed = { socket: { destroyed: true, remoteAddress: undefined } }
const lists: readonly (readonly [string, object])[] = [
  ['no list', {}],
  ['allow', { allow: ['192.0.2.1'] }],
  ['block', { block: ['192.0.2.1'] }],
]

test.each(lists)(
  'with %s, a closed connection is denied and emitted, and report mode allows it',
  async (_what, list) => {
    for (const mode of ['enforce', 'report']) {
      const { limiter, limited } = limiterWith({ ...list, mode, key: byIp() })
      const decision = await limiter.charge(closed as never)
      expect(decision).toMatchObject({ allowed: mode === 'report', source: 'fail-closed' })
      expect(limited).toMatchObject([{ allowed: false, source: 'fail-closed' }])
    }
  },
)

test.each(['allow', 'block'])(
  '%s denies a connection that is gone before its address is read',
  async (list) => {
    const { limiter } = limiterWith({ [list]: ['192.0.2.1'], key: () => 'ada' })
    expect(await limiter.charge(closed as never)).toMatchObject({ allowed: false, source: 'fail-closed' })
  },
)

test('subjects without an address are neither allowed nor blocked', async () => {
  const { limiter } = limiterWith({ allow: ['192.0.2.1'], block: ['192.0.2.7'], key: () => 'ada' })
  expect(await limiter.charge({ id: 'ada' } as never)).toMatchObject({ allowed: true, source: 'store' })
})

test('wrong lists fail at start-up', () => {
  expect(() => createLimiter({ limit: 1, window: '1m', allow: ['localhost'] })).toThrow(
    'createLimiter: allow must hold IP addresses and CIDR ranges',
  )
})
