import { findingOf } from '../../../../src/dashboard/findings/finding-of.js'
import { client, figures, NOW_MS, SINCE, SINCE_MS } from './figures.js'
import { SENTENCES } from './sentences.js'

test.each(SENTENCES)('%s', (_, given, kind, sentence) => {
  const finding = findingOf(given)
  expect([[...new Set([finding.level, finding.kind])].join(' '), finding.sentence]).toEqual([kind, sentence])
})

test('a sentence has the rate of its row, in the first minute of an attack also', () => {
  const attacked = client('user:ada', { denied: 98, deniedPerSecond: 9.8, addresses: 212 })
  const other = client('user:bob', { denied: 49, deniedPerSecond: 4.9, addresses: 1 })
  const said = (...clients: (typeof attacked)[]) =>
    findingOf(figures(clients, { deniedPerSecond: 1.5 })).sentence
  expect([said(attacked), said(attacked, other)]).toEqual([
    expect.stringContaining(': 1.5 denials a second from'),
    expect.stringContaining(': 1.0 denials a second from'),
  ])
})

test('a finding names whom the page can act on', () => {
  const account = client('user:ada', {
    denied: 900,
    addresses: 40,
    networks: [
      { network: '203.0.113.0/24', denied: 600 },
      { network: '198.51.100.0/24', denied: 300 },
    ],
  })
  expect(findingOf(figures([account, client('bob', { denied: 1 })]))).toMatchObject({
    sinceMs: SINCE_MS,
    identities: ['user:ada'],
    networks: ['203.0.113.0/24', '198.51.100.0/24'],
    routes: ['GET /'],
  })
})

test('a reason for the history has no label, which must not leave this process', () => {
  const named = client('#3fa9', { label: 'Ada', denied: 540 })
  expect(findingOf(figures([named])).reason).toMatch(/^#3fa9 has been at its limit/)
  expect(findingOf(figures([client('#3fa9', { denied: 540 })])).reason).toBeUndefined()
})

test('up to ten networks are offered to be blocked if they hold most of an attack, and none otherwise', () => {
  const named = (count: number) => Array.from({ length: count }, (_, i) => `10.1.${i}.0/24`)
  const of = (count: number, denied: number, addresses = 10) => {
    const networks = named(count).map((network) => ({ network, denied, addresses }))
    const clients = Array.from({ length: 50 }, (_, i) => client(`10.1.${i}.7`, { denied: 20 }))
    return findingOf(figures(clients, { networks, denied: 1000 })).networks
  }
  expect([
    of(4, 250), // a scraper over four networks
    of(10, 90),
    of(10, 79), // they do not hold most
    of(11, 91), // they are not few
    of(10, 100, 1), // clients that are in different networks by chance
    of(3, 300, 2),
  ]).toEqual([named(4), named(10), [], [], [], named(3)])
})

test('networks that are denied much less than those that hold most of an attack are not blocked with them', () => {
  const shares = [500, 400, 300, 60, 50].map((denied, i) => ({ network: `10.1.${i}.0/24`, denied }))
  const of = (networks: readonly { network: string; denied: number }[]) => {
    const denied = networks.reduce((sum, each) => sum + each.denied, 0)
    return findingOf(figures([client('user:ada', { denied, addresses: 40, networks })])).networks.length
  }
  expect([of(shares), of(shares.map((each) => ({ ...each, denied: 180 })))]).toEqual([3, 5])
})

test('figures that processes have only begun to report make no finding out of nothing', () => {
  const bare = figures([], { deniedSinceMs: NOW_MS, denied: 500, deniedClients: 3, deniedPerSecond: 20 })
  expect(findingOf({ ...bare, routes: [], networks: [], limits: [] })).toMatchObject({
    kind: 'many-denied',
    sentence: `3 clients have been denied since {${NOW_MS}}: 20 denials a second, 67% of requests`,
  })
})

test('a label or a route that looks like the mark of a time is shown as it is, not as a time', () => {
  const mark = '{1764412740000}'
  const routes = [{ route: `GET /${mark}`, denied: 540 }]
  const { sentence } = findingOf(figures([client('a', { label: mark, denied: 540 })], { routes }))
  expect(sentence).toBe(
    `{ 1764412740000} (a) has been at its limit of 100 per 1m since ${SINCE}: 3.0 denials a second, 23% of requests, all on GET /{ 1764412740000}`,
  )
})

test('accounts are attacked from no more addresses than the networks have that are named', () => {
  const networks = [{ network: '203.0.113.0/24', denied: 3600 }]
  const bad = [1, 2, 3].map((i) =>
    client(`bad${i}`, { denied: 3600, deniedPerSecond: 20, addresses: 190, networks }),
  )
  const good = [1, 2, 3].map((i) => client(`cust${i}`, { denied: 60, deniedPerSecond: 0.3 }))
  const all = [
    { network: '203.0.113.0/24', denied: 10_800, addresses: 200 },
    { network: '198.51.100.0/24', denied: 180, addresses: 3 },
  ]
  const of = figures([...bad, ...good], { addresses: 203, networkCount: 2, networks: all })
  expect(findingOf(of).sentence).toContain('from 200 addresses in 203.0.113.0/24')
  expect(findingOf({ ...of, networks: [] }).sentence).toContain('from 203 addresses in 203.0.113.0/24')
})
