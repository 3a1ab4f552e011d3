import { DeniedClients } from '../../../../src/dashboard/figures/denied-clients.js'
import { DeniedPool } from '../../../../src/dashboard/figures/denied-pool.js'
import { nameHash } from '../../../../src/util/distinct-names.js'
import { distinctIn } from '../../../../src/util/distinct-sample.js'

const START_MS = 1_790_000_000_000
const MINUTE_MS = 60_000
const NOWHERE = { route: undefined, addressHash: undefined, network: undefined }
const fromAddress = (address: string) => ({
  route: 'POST /login',
  addressHash: nameHash(address),
  network: `${address.replace(/\d+$/, '0')}/24`,
})

let pool: DeniedPool
let clients: DeniedClients

beforeEach(() => {
  pool = new DeniedPool()
  clients = new DeniedClients(pool)
})

function deny(identity: string, times = 1, atMs = START_MS): void {
  for (let i = 0; i < times; i++) clients.count(atMs, 'api', identity, NOWHERE)
}

test('a client has its count, its first and last denial, its rate, and where it came from', () => {
  for (let second = 0; second < 120; second++)
    clients.count(START_MS + 1000 * second, 'api', 'ada', fromAddress(`203.0.${second % 3}.${second % 40}`))
  const [ada] = clients.top(START_MS + 119_000, 10)
  expect(ada).toMatchObject({
    limitName: 'api',
    identity: 'ada',
    denied: 120,
    firstMs: START_MS,
    lastMs: START_MS + 119_000,
    routes: [['POST /login', 120]],
    networks: [
      ['203.0.0.0/24', 40],
      ['203.0.1.0/24', 40],
      ['203.0.2.0/24', 40],
    ],
  })
  expect(ada?.perSecond).toBeCloseTo(60 / 59)
  expect(distinctIn(ada?.addresses ?? { below: 1, hashes: [] })).toBe(120)
})

test('the client denied most comes first, and one not denied for 15 minutes is forgotten', () => {
  deny('ada', 2)
  deny('bob', 3, START_MS + MINUTE_MS)
  expect(clients.top(START_MS + MINUTE_MS, 10).map(({ identity }) => identity)).toEqual(['bob', 'ada'])
  expect(clients.top(START_MS + MINUTE_MS, 1).map(({ identity }) => identity)).toEqual(['bob'])
  expect(clients.top(START_MS + 15 * MINUTE_MS, 10).map(({ identity }) => identity)).toEqual(['bob'])
  expect(pool.size).toBe(1)
})

test('a client that comes back after 15 minutes starts over', () => {
  deny('ada', 5)
  deny('ada', 1, START_MS + 15 * MINUTE_MS)
  expect(clients.top(START_MS + 15 * MINUTE_MS, 10)).toMatchObject([
    { denied: 1, firstMs: START_MS + 15 * MINUTE_MS },
  ])
  expect(pool.size).toBe(1)
})

test('a flood of clients keeps 10,000 to 11,000 in all limiters, and none of those denied often leaves', () => {
  const others = new DeniedClients(pool)
  for (let i = 0; i < 50; i++) others.count(START_MS, 'other', `often-${i}`, NOWHERE)
  for (let i = 0; i < 50; i++) others.count(START_MS, 'other', `often-${i}`, NOWHERE)
  let largest = 0
  for (let i = 0; i < 60_000; i++) {
    deny(`flood-${i}`)
    largest = Math.max(largest, pool.size)
  }
  expect(largest).toBe(11_000)
  expect(pool.size).toBeGreaterThanOrEqual(10_000)
  expect(others.top(START_MS, 100)).toHaveLength(50)
  expect(clients.top(START_MS, 20_000).length + 50).toBe(pool.size)
})

test('a client denied steadily stays through a flood that begins before it', () => {
  for (let i = 0; i < 40_000; i++) {
    deny(`flood-${i}`, 1)
    if (i >= 20_000 && i % 100 === 0) deny('ada', 2)
  }
  expect(clients.top(START_MS, 1)).toMatchObject([{ identity: 'ada', denied: 400 }])
})

test('clients of one identity in two limits are two, and the rate falls once denials end', () => {
  clients.count(START_MS, 'hour', 'ada', NOWHERE)
  clients.count(START_MS, 'day', 'ada', NOWHERE)
  expect(
    clients
      .top(START_MS, 10)
      .map(({ limitName }) => limitName)
      .toSorted(),
  ).toEqual(['day', 'hour'])
  expect(clients.top(START_MS, 1)[0]?.perSecond).toBe(0.1)
  expect(clients.top(START_MS + 90_000, 1)[0]?.perSecond).toBe(0)
})

test('a clock that steps back counts on', () => {
  deny('ada', 2)
  deny('ada', 1, START_MS - 3_600_000)
  expect(clients.top(START_MS, 1)).toMatchObject([{ denied: 3, lastMs: START_MS }])
})

test('labels stay with their clients, as they are shown, and are read until there is one', () => {
  const labels = [undefined, 'Ada Ltd', 'other']
  for (const label of labels) clients.count(START_MS, 'api', '=ada', NOWHERE, () => label)
  const [ada] = clients.top(START_MS, 1)
  expect(ada?.identity).not.toContain('ada')
  expect([...clients.labels()]).toEqual([[`api ${ada?.identity}`, 'Ada Ltd']])
})

test('of many clients, those denied most are listed as if all were sorted, also if many were denied as often', () => {
  const counts = Array.from({ length: 300 }, (_, i) => 1 + ((i * 97) % 12))
  for (const [i, count] of counts.entries()) deny(`client-${i}`, count)
  const listed = (most: number) => clients.top(START_MS, most).map(({ denied }) => denied)
  const sorted = counts.toSorted((a, b) => b - a)
  expect([1, 20, 299, 1000].map(listed)).toEqual([1, 20, 299, 1000].map((most) => sorted.slice(0, most)))
})
