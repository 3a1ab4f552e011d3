import { createLimiter, fixedWindow } from 'headgate'
import { boardOf } from '../../../../src/dashboard/board/board.js'
import { findingFiguresOf } from '../../../../src/dashboard/board/finding-figures-of.js'
import type { LimitsChange } from '../../../../src/dashboard/figures/finding-figures.js'
import { LimiterWatch } from '../../../../src/dashboard/figures/limiter-watch.js'
import type { OverviewRow } from '../../../../src/dashboard/figures/shown.js'
import { findingOf } from '../../../../src/dashboard/findings/finding-of.js'
import { valueHash } from '../../../../src/keys/value-identity.js'
import { inspectionOf } from '../../../../src/limiter/inspection.js'

const shownOf = valueHash(undefined)
const NINE_MS = Date.UTC(2026, 10, 28, 9, 0)
const NOON_MS = Date.UTC(2026, 10, 28, 12, 0)

/** Watches a limiter at a time that the test sets. All requests of a user but the first are denied. */
function scene() {
  const limiter = createLimiter<{ user: string }>({
    name: 'login',
    policy: fixedWindow({ limit: 1, window: '1000h' }),
    key: ({ user }) => user,
    block: ['192.0.2.0/24'],
  })
  let nowMs = NINE_MS
  const inspection = inspectionOf(limiter) as never
  const watch = new LimiterWatch({ name: 'login', limiter: limiter as never, inspection }, () => nowMs)
  const board = boardOf([watch], () => nowMs)
  return {
    watch,
    /** Sends a request every `everyMs` until a time. */
    async send(
      untilMs: number,
      everyMs: number,
      clientOf: (i: number) => readonly [user: string, ip: string],
    ) {
      for (let i = 0; nowMs < untilMs; i++) {
        nowMs += everyMs
        const [user, remoteAddress] = clientOf(i)
        await limiter.charge({
          user,
          method: 'POST',
          url: '/login',
          headers: {},
          socket: { remoteAddress },
        } as never)
      }
    },
    async row(): Promise<OverviewRow> {
      await board.refresh()
      return board.rows()[0] as OverviewRow
    },
    findingAfter: (change?: LimitsChange, remedy?: LimitsChange) =>
      findingOf(
        findingFiguresOf(watch.report(), {
          ...{ nowMs, outage: undefined, isOverloadGuard: false, labelOf: () => undefined },
          ...(change && { change }),
          ...(remedy && { remedy }),
        }),
      ),
    stop: () => board.stop(),
  }
}

const bot = () => ['bot', '198.51.100.1'] as const
const botnet = (i: number) => ['ada', `10.${i % 212}.0.7`] as const

test('a botnet attacks since its first denial, although a bot was denied every 20 s for three hours before', async () => {
  const { send, row, stop } = scene()
  await send(NOON_MS, 20_000, bot)
  await send(NOON_MS + 60_000, 25, botnet)
  const { finding } = await row()
  expect(finding).toMatchObject({
    kind: 'account-attacked',
    sinceMs: NOON_MS + 50,
    identities: [shownOf('ada')],
  })
  expect(finding.sentence).toMatch(`${shownOf('ada')} has been under attack since {${NOON_MS + 50}}: `)
  await stop()
})

test('a block is offered for each network of an account that up to ten of them attack', async () => {
  const offered = await Promise.all(
    [5, 6, 10, 11, 212].map(async (count) => {
      const { send, row, stop } = scene()
      await send(
        NINE_MS + 60_000,
        100,
        (i) => ['ada', `10.${i % count}.0.${Math.floor(i / count) % 20}`] as const,
      )
      const { kind, networks } = (await row()).finding
      await stop()
      return `${kind} ${count}: ${networks.length}`
    }),
  )
  expect(offered).toEqual(
    ['5: 5', '6: 6', '10: 10', '11: 0', '212: 0'].map((each) => `account-attacked ${each}`),
  )
})

test('a bot that was denied before does not hide when a few, a network or many clients were denied', async () => {
  const found = await Promise.all(
    [
      (i: number) => [`customer-${i % 2}`, `10.9.${i % 2}.7`] as const,
      (i: number) => [`203.0.113.${i % 40}`, `203.0.113.${i % 40}`] as const,
      (i: number) => [`10.${i % 212}.0.7`, `10.${i % 212}.0.7`] as const,
    ].map(async (clientOf) => {
      const { send, row, stop } = scene()
      await send(NOON_MS, 20_000, bot)
      await send(NOON_MS + 60_000, 25, clientOf)
      const { kind, sinceMs = 0 } = (await row()).finding
      await stop()
      return [kind, Math.abs(sinceMs - NOON_MS) <= 20_000]
    }),
  )
  expect(found).toEqual([
    ['few-denied', true],
    ['network-denied', true],
    ['many-denied', true],
  ])
})

test('a change explains denials that began with it, although a bot was denied before', async () => {
  const { send, findingAfter, stop } = scene()
  await send(NOON_MS, 20_000, bot)
  await send(NOON_MS + 60_000, 25, botnet)
  const kinds = [0, 3_600_000].map((agoMs) => {
    return findingAfter({ atMs: NOON_MS - agoMs, text: 'set login to 1 per 1m' }).kind
  })
  expect(kinds).toEqual(['few-denied', 'account-attacked'])
  await stop()
})

test('what is denied now and then all day is counted in the last 15 minutes', async () => {
  const { send, row, stop } = scene()
  let users = 0
  const busy = (i: number) => (i % 125 === 0 ? bot() : ([`user-${users++}`, '10.0.0.1'] as const))
  await send(NINE_MS + 10 * 60_000, 160, busy)
  expect((await row()).finding.sentence).toMatch(
    new RegExp(
      `^29 requests from 1 client denied since \\{${NINE_MS + 20_160}\\}: less than 1% of requests$`,
    ),
  )
  await send(NINE_MS + 20 * 60_000, 160, busy)
  expect((await row()).finding.sentence).toMatch(
    / from 1 client denied in the last 15 minutes: less than 1% /,
  )
  await stop()
})

test('a flood that is blocked is not charged to a customer who is denied every five seconds', async () => {
  const { send, row, stop } = scene()
  await send(NINE_MS + 60_000, 40, (i) => ['flood', `10.0.0.${i % 100}`])
  const seen: unknown[] = [(await row()).finding.kind]
  // From here on, the flood is blocked.
  for (let second = 1; second <= 120; second++) {
    const customer = second % 5 === 0 ? 'acme' : `${second}`
    const blocked = (i: number) =>
      i === 12 ? ([customer, '10.1.1.1'] as const) : (['flood', '192.0.2.7'] as const)
    await send(NINE_MS + (60 + second) * 1000, 40, blocked)
    if (second < 30) continue
    const { finding, deniedPerSecond, blockedPerSecond, deniedShare } = await row()
    if (second === 120) seen.push(finding.sentence, deniedPerSecond, blockedPerSecond, deniedShare)
    else if (finding.kind !== 'few-denied' || finding.identities.join() !== shownOf('acme'))
      seen.push(second, finding)
  }
  expect(seen).toEqual([
    'account-attacked',
    expect.stringMatching(
      /^\w+ has been at its limit of 1 per 1000h since \{\d+\}: 0\.2 denials a second, 2\d% of requests besides 24 blocked ones a second, all on POST \/login$/,
    ),
    expect.closeTo(0.2, 1),
    expect.closeTo(24, 0),
    expect.closeTo(0.2, 1),
  ])
  await stop()
})

test('once all that were denied are blocked, only blocked requests are denied', async () => {
  const { send, row, stop } = scene()
  await send(NINE_MS + 60_000, 40, (i) => ['flood', `10.0.0.${i % 100}`])
  await send(NINE_MS + 64_000, 10, () => ['flood', '192.0.2.7'])
  const { finding, deniedPerSecond, blockedPerSecond, deniedShare } = await row()
  expect(finding.sentence).toBe(
    `Only blocked requests are denied: ${Math.round(deniedPerSecond)} denials a second`,
  )
  expect([blockedPerSecond, deniedShare]).toEqual([0, expect.closeTo(1, 2)])
  await stop()
})

test('a limiter is calm as soon as no denial has come since a change that allows more, and not before', async () => {
  const { send, findingAfter, stop } = scene()
  await send(NINE_MS + 60_000, 100, (i) => [`customer-${i % 40}`, `10.${i % 40}.0.7`])
  const remedy = { atMs: NINE_MS + 59_000, text: 'reset login to the limit in the code', by: 'mira' }
  const sayings = () => [undefined, remedy].map((each) => findingAfter(undefined, each).sentence)
  const seen = [sayings()]
  await send(NINE_MS + 63_000, 1000, (i) => [`new-${i}`, '10.1.1.1']) // nobody is denied
  seen.push(sayings())
  await send(NINE_MS + 64_000, 1000, () => ['customer-1', '10.1.0.7']) // denied nevertheless
  seen.push(sayings())
  await stop()
  const denied = expect.stringMatching(/^40 clients in 40 networks have been denied since /)
  expect(seen).toEqual([
    [denied, denied],
    [
      denied,
      `No client has been denied since {${NINE_MS + 59_000}}, when mira reset login to the limit in the code`,
    ],
    [denied, denied],
  ])
})
