import { findingOf } from '../../../../src/dashboard/findings/finding-of.js'
import { client, figures, limit, NOW_MS, SINCE, SINCE_MS } from './figures.js'

const many = (count: number, denied: number) =>
  Array.from({ length: count }, (_, i) => client(`10.${i}.0.1`, { denied }))

const outage = {
  store: 'redis',
  servers: [],
  sinceMs: SINCE_MS,
  effects: [{ limiter: 'api', text: 'each process counts on its own, with a quarter of each limit' }],
  decisions: 1204,
  processes: 4,
}

/** One row for each kind of incident, and for what lies beside it. */
test.each([
  ['no request', figures([], { allowedPerSecond: 0 }), 'calm', 'No requests in the last minute'],
  ['no denial', figures([]), 'calm', 'No client is denied: 10 requests a second'],
  [
    'denials of blocked clients alone',
    figures([], { deniedPerSecond: 8 }),
    'calm',
    'Only blocked requests are denied: 8.0 denials a second',
  ],
  [
    'a few denials of a client that goes over its limit once',
    figures([client('a', { denied: 4 })], { allowedPerSecond: 0.1, deniedPerSecond: 0.07 }),
    'calm',
    `4 requests from 1 client denied since ${SINCE}: 41 % of all`,
  ],
  [
    'many denials among very many requests',
    figures([client('a', { denied: 90 })], { allowedPerSecond: 90, deniedPerSecond: 0.5 }),
    'calm',
    `90 requests from 1 client denied since ${SINCE}: less than 1 % of all`,
  ],
  [
    'a store that is frozen',
    figures(many(9, 100), { outage }),
    'critical store-outage',
    `redis has not replied since ${SINCE}: each process counts on its own, with a quarter of each limit, 1,204 decisions without it`,
  ],
  [
    'one server of a store',
    figures([], { outage: { ...outage, servers: ['10.0.0.7:6379'], effects: [], decisions: 0 } }),
    'critical store-outage',
    `redis (10.0.0.7:6379) has not replied since ${SINCE}`,
  ],
  [
    'a brute force on one account',
    figures([
      client('user:ada', { denied: 1764, addresses: 212, routes: [{ route: 'POST /login', denied: 1764 }] }),
      client('user:bob', { denied: 3 }),
    ]),
    'critical account-attacked',
    `user:ada has been under attack since ${SINCE}: 9.8 denials a second from 212 addresses, all on POST /login`,
  ],
  [
    'an account that the application names',
    figures([client('#3fa9', { label: 'Ada', denied: 1764, addresses: 212, routes: [] })]),
    'critical account-attacked',
    `Ada (#3fa9) has been under attack since ${SINCE}: 9.8 denials a second from 212 addresses`,
  ],
  [
    'a brute force on several accounts',
    figures(
      ['ada', 'bob', 'eve', 'joe'].map((name) => client(`user:${name}`, { denied: 900, addresses: 40 })),
    ),
    'critical account-attacked',
    `user:ada, user:bob and 2 other accounts have been under attack since ${SINCE}: 20 denials a second from up to 40 addresses each, all on GET /`,
  ],
  [
    'a scraper over 40 addresses of one network',
    figures(many(40, 90), {
      networks: [{ network: '203.0.113.0/24', denied: 3600, addresses: 40 }],
      routes: [{ route: 'GET /products/:id', denied: 3600 }],
    }),
    'critical network-denied',
    `40 addresses in 203.0.113.0/24 have been denied since ${SINCE}: 20 denials a second, 67 % of all requests, all on GET /products/:id`,
  ],
  [
    'a scraper over two networks, among others',
    figures(many(40, 90), {
      networks: [
        { network: '203.0.113.0/24', denied: 1800, addresses: 20 },
        { network: '198.51.100.0/24', denied: 1500, addresses: 15 },
        { network: '192.0.2.0/24', denied: 300, addresses: 5 },
      ],
    }),
    'critical network-denied',
    `35 addresses in 203.0.113.0/24 and 198.51.100.0/24 have been denied since ${SINCE}: 20 denials a second, 67 % of all requests, all on GET /`,
  ],
  [
    'a plan that is too small',
    figures([client('user:acme', { denied: 1080 })], {
      routes: [
        { route: 'POST /search', denied: 900 },
        { route: 'GET /', denied: 180 },
      ],
    }),
    'warning few-denied',
    `user:acme has been at its limit of 100 per 1m since ${SINCE}: 6.0 denials a second, 38 % of all requests, most on POST /search`,
  ],
  [
    'one client that goes on, among very many requests',
    figures([client('a', { denied: 8100 })], { allowedPerSecond: 5000 }),
    'warning few-denied',
    `a has been at its limit of 100 per 1m since ${SINCE}: 45 denials a second, less than 1 % of all requests, all on GET /`,
  ],
  [
    'a customer with many servers that is a little over its plan',
    figures([client('acme', { denied: 540, addresses: 12 })]),
    'warning few-denied',
    `acme has been at its limit of 100 per 1m, from 12 addresses, since ${SINCE}: 3.0 denials a second, 23 % of all requests, all on GET /`,
  ],
  [
    'a home with IPv6 whose addresses rotate',
    figures([client('2001:db8:1:100::/56', { denied: 3600, addresses: 64 })]),
    'warning few-denied',
    `2001:db8:1:100::/56 has been at its limit of 100 per 1m, from 64 addresses, since ${SINCE}: 20 denials a second, 67 % of all requests, all on GET /`,
  ],
  [
    'a customer with several servers',
    figures([client('user:acme', { denied: 1080, addresses: 9 })]),
    'warning few-denied',
    `user:acme has been at its limit of 100 per 1m, from 9 addresses, since ${SINCE}: 6.0 denials a second, 38 % of all requests, all on GET /`,
  ],
  [
    'an account under attack in report mode',
    figures([client('user:ada', { denied: 1764, addresses: 212 })], { mode: 'report' }),
    'warning account-attacked',
    `user:ada has been under attack since ${SINCE}: 9.8 excess requests a second from 212 addresses, all on GET /`,
  ],
  [
    'a few clients that several limits deny',
    figures([client('a'), client('b', { limitName: 'burst' })], {
      limits: [limit(), limit({ name: 'burst' })],
    }),
    'warning few-denied',
    `a and b have been at their limit since ${SINCE}: 1.1 denials a second, 10 % of all requests, all on GET /`,
  ],
  [
    'three clients among many',
    figures([...many(3, 1000), ...many(20, 1)]),
    'warning few-denied',
    `10.0.0.1, 10.1.0.1 and 10.2.0.1 have been at their limit of 100 per 1m since ${SINCE}: 17 denials a second, 63 % of all requests, all on GET /`,
  ],
  [
    'many clients of as many networks',
    figures(many(40, 90)),
    'warning many-denied',
    `40 clients have been denied since ${SINCE}: 20 denials a second, 67 % of all requests, all on GET /`,
  ],
  [
    'many clients in report mode',
    figures(many(40, 90), { mode: 'report' }),
    'warning many-denied',
    `40 clients have been over their limit since ${SINCE}: 20 excess requests a second, 67 % of all requests, all on GET /`,
  ],
])('%s', (_, given, kind, sentence) => {
  const finding = findingOf(given)
  expect([[...new Set([finding.level, finding.kind])].join(' '), finding.sentence]).toEqual([kind, sentence])
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

test('an outage comes before denials, and denials of report mode are never critical', () => {
  const attacked = client('user:ada', { denied: 900, addresses: 40 })
  expect(findingOf(figures([attacked], { outage })).kind).toBe('store-outage')
  expect(findingOf(figures([attacked], { mode: 'report' })).level).toBe('warning')
})

test('figures that processes have only begun to report make no finding out of nothing', () => {
  const bare = figures([], { deniedSinceMs: NOW_MS, denied: 500, deniedClients: 3, deniedPerSecond: 20 })
  expect(findingOf({ ...bare, routes: [], networks: [], limits: [] })).toMatchObject({
    kind: 'many-denied',
    sentence: `3 clients have been denied since {${NOW_MS}}: 20 denials a second, 67 % of all requests`,
  })
})
