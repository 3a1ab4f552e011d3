import type { FindingFigures } from '../../../../src/dashboard/figures/finding-figures.js'
import type { ShownOutage, ShownProcess } from '../../../../src/dashboard/figures/shown.js'
import { client, figures, limit, NOW_MS, SINCE, SINCE_MS } from './figures.js'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const CHANGED_MS = SINCE_MS - 10 * MINUTE_MS

/** As many clients as addresses, each in its own network. */
const many = (count: number, denied: number) =>
  Array.from({ length: count }, (_, i) => client(`10.${i}.0.1`, { denied }))
const accounts = (count: number, denied: number, addresses: number) =>
  Array.from({ length: count }, (_, i) =>
    client(`user:${i}`, { denied, addresses, networks: [], routes: [{ route: 'POST /login', denied }] }),
  )
const login = (denied: number) => [{ route: 'POST /login', denied }]

const outage: ShownOutage = {
  store: 'redis',
  servers: ['10.0.0.7:6379'],
  sinceMs: SINCE_MS,
  effects: [{ limiter: 'api', text: 'each process counts on its own, and allows 25% of each limit' }],
  decisions: 1204,
  processes: 4,
  reporting: 4,
}
const ada = client('user:ada', {
  denied: 1764,
  addresses: 212,
  networks: [
    { network: '203.0.113.0/24', denied: 9 },
    { network: '198.51.100.0/24', denied: 9 },
    { network: '192.0.2.0/24', denied: 8 },
  ],
  routes: login(1764),
})

type Row = readonly [what: string, figures: FindingFigures, kind: string, sentence: string]

/** What is said of a limiter: one row for each kind of incident, for what lies beside it, and for mixtures. */
export const SENTENCES: readonly Row[] = [
  [
    'an overload guard: no client is at a limit',
    figures([client('198.51.100.1', { denied: 1764 })], { isOverloadGuard: true, deniedPerSecond: 9.8 }),
    'critical overload',
    `Requests have found no place since ${SINCE}: 9.8 denials a second, 49% of requests, all on GET /`,
  ],
  [
    'an overload guard that denies few',
    figures(many(400, 1), { isOverloadGuard: true, allowedPerSecond: 100, deniedPerSecond: 2 }),
    'warning overload',
    `Requests have found no place since ${SINCE}: 2.0 denials a second, 2% of requests, all on GET /`,
  ],
  [
    'an overload guard in report mode',
    figures(many(400, 1), { isOverloadGuard: true, mode: 'report', deniedPerSecond: 10 }),
    'warning overload',
    `Requests would have found no place since ${SINCE}: 10 excess requests a second, 50% of requests, all on GET /`,
  ],
  [
    'an overload guard whose denied clients are not known',
    figures([], {
      isOverloadGuard: true,
      ...{ areClientsUnknown: true, denied: 600, deniedPerSecond: 10 },
      deniedSinceMs: SINCE_MS,
      runSinceMs: SINCE_MS,
    }),
    'critical overload',
    `Requests have found no place since ${SINCE}: 10 denials a second, 50% of requests`,
  ],
  [
    'an overload guard that denies nothing',
    figures([], { isOverloadGuard: true }),
    'calm',
    'No client is denied: 10 requests a second',
  ],
  // Nothing is wrong.
  ['no request', figures([], { allowedPerSecond: 0 }), 'calm', 'No requests in the last minute'],
  ['no denial', figures([]), 'calm', 'No client is denied: 10 requests a second'],
  [
    'few requests',
    figures([], { allowedPerSecond: 1 / 60 }),
    'calm',
    'No client is denied: 1 request a minute',
  ],
  [
    'a few requests in report mode',
    figures([], { allowedPerSecond: 0.25, mode: 'report' }),
    'calm',
    'No client is over its limit: 0.3 requests a second',
  ],
  [
    'denials of blocked clients alone',
    figures([], { blockedPerSecond: 8 }),
    'calm',
    'Only blocked requests are denied: 8.0 denials a second',
  ],
  [
    'a few denials of a client that goes over its limit once',
    figures([client('a', { denied: 4 })], { allowedPerSecond: 0.1, deniedPerSecond: 0.07 }),
    'calm',
    `4 requests from 1 client denied since ${SINCE}: 41% of requests`,
  ],
  [
    'one denial in report mode',
    figures([client('a', { denied: 1 })], { mode: 'report', deniedPerSecond: 1 / 60 }),
    'calm',
    `1 request from 1 client would have been denied since ${SINCE}: less than 1% of requests`,
  ],
  [
    'denials that have not paused for an hour, of which the last 15 minutes are counted',
    figures([client('a', { denied: 4 })], {
      allowedPerSecond: 0.1,
      deniedPerSecond: 0.07,
      runSinceMs: NOW_MS - 60 * MINUTE_MS,
    }),
    'calm',
    '4 requests from 1 client denied in the last 15 minutes: 41% of requests',
  ],
  [
    'many denials among very many requests',
    figures([client('a', { denied: 90 })], { allowedPerSecond: 90, deniedPerSecond: 0.5 }),
    'calm',
    `90 requests from 1 client denied since ${SINCE}: less than 1% of requests`,
  ],

  // The store.
  [
    'a store that is frozen',
    figures(many(9, 100), { outage }),
    'critical store-outage',
    `redis (10.0.0.7:6379) has not replied since ${SINCE}: each process counts on its own, and allows 25% of each limit, 1,204 decisions without it`,
  ],
  [
    'a store whose client does not tell its server, seen by a process that cannot read the others',
    figures([], {
      outage: { store: 'redis', servers: [], sinceMs: SINCE_MS, effects: [], decisions: 1, processes: 1 },
    }),
    'critical store-outage',
    `redis has not replied since ${SINCE}: 1 decision without it in this process`,
  ],
  [
    'a store that replies too late',
    figures([], { outage: { ...outage, effects: [], decisions: 0, late: { afterMs: 412, limitMs: 100 } } }),
    'critical store-outage',
    `redis (10.0.0.7:6379) has replied too late (after 412 ms; the timeout is 100 ms) since ${SINCE}`,
  ],
  [
    'a store that replies far too late to one process',
    figures([], {
      outage: { ...outage, effects: [], decisions: 0, processes: 1, late: { afterMs: 2345, limitMs: 1000 } },
    }),
    'critical store-outage',
    `redis (10.0.0.7:6379) has replied too late to 1 of 4 processes (after 2.3 s; the timeout is 1.0 s) since ${SINCE}`,
  ],
  [
    'a store that replies to all processes but one',
    figures([], { outage: { ...outage, processes: 1 } }),
    'critical store-outage',
    `redis (10.0.0.7:6379) has not replied to 1 of 4 processes since ${SINCE}: each process counts on its own, and allows 25% of each limit, 1,204 decisions without it`,
  ],
  [
    'a store that does not reply to one process, which is known',
    figures([], { outage: { ...outage, processes: 1, process: 'web (pid 7)', effects: [], decisions: 0 } }),
    'critical store-outage',
    `redis (10.0.0.7:6379) has not replied to web (pid 7), 1 of 4 processes, since ${SINCE}`,
  ],
  [
    'a store that replies too late to one process, which is known',
    figures([], {
      outage: {
        ...outage,
        ...{
          processes: 1,
          process: 'web (pid 7)',
          late: { afterMs: 402, limitMs: 100 },
          effects: [],
          decisions: 0,
        },
      },
    }),
    'critical store-outage',
    `redis (10.0.0.7:6379) has replied too late to web (pid 7), 1 of 4 processes (after 402 ms; the timeout is 100 ms) since ${SINCE}`,
  ],
  [
    'a store that does not reply to the only process',
    figures([], {
      outage: { ...outage, processes: 1, reporting: 1, process: 'web (pid 7)', effects: [], decisions: 0 },
    }),
    'critical store-outage',
    `redis (10.0.0.7:6379) has not replied since ${SINCE}`,
  ],
  [
    'two servers of a store, before any decision',
    figures([], {
      outage: { ...outage, servers: ['10.0.0.7:6379', '10.0.0.8:6379'], effects: [], decisions: 0 },
    }),
    'critical store-outage',
    `redis (10.0.0.7:6379 and 10.0.0.8:6379) has not replied since ${SINCE}`,
  ],
  [
    'an attack during an outage',
    figures([ada], { outage }),
    'critical store-outage',
    `redis (10.0.0.7:6379) has not replied since ${SINCE}: each process counts on its own, and allows 25% of each limit, 1,204 decisions without it`,
  ],

  // Accounts under attack.
  [
    'a botnet on one account',
    figures([ada, client('user:bob', { denied: 3 })], { networkCount: 212 }),
    'critical account-attacked',
    `user:ada has been under attack since ${SINCE}: 9.8 denials a second from 212 addresses in 212 networks, all on POST /login`,
  ],
  [
    'a brute force on one account from one network',
    figures([{ ...ada, networks: [{ network: '198.51.100.0/24', denied: 1764 }] }]),
    'critical account-attacked',
    `user:ada has been under attack since ${SINCE}: 9.8 denials a second from 212 addresses in 198.51.100.0/24, all on POST /login`,
  ],
  [
    'a botnet that guesses slowly at a login with 10 attempts an hour',
    figures([{ ...ada, denied: 18, deniedPerSecond: 0.1, networks: [], routes: login(18) }], {
      limits: [limit({ limit: 10, windowMs: HOUR_MS })],
      allowedPerSecond: 1,
      networkCount: 212,
    }),
    'critical account-attacked',
    `user:ada has been under attack since ${SINCE}: 0.1 denials a second from 212 addresses in 212 networks, all on POST /login`,
  ],
  [
    'a botnet that guesses where failures in a row are counted, which have no window',
    figures([ada], { limits: [limit({ kind: 'consecutive', limit: 5, windowMs: null })], networkCount: 212 }),
    'critical account-attacked',
    `user:ada has been under attack since ${SINCE}: 9.8 denials a second from 212 addresses in 212 networks, all on POST /login`,
  ],
  [
    'an account that the application names',
    figures([client('#3fa9', { label: 'Ada', denied: 1764, addresses: 212, routes: [] })]),
    'critical account-attacked',
    `Ada (#3fa9) has been under attack since ${SINCE}: 9.8 denials a second from 212 addresses in 198.51.100.0/24`,
  ],
  [
    'a botnet on two accounts',
    figures([ada, { ...ada, identity: 'user:bob' }], { addresses: 212, networkCount: 212 }),
    'critical account-attacked',
    `user:ada and user:bob have been under attack since ${SINCE}: 20 denials a second from 212 addresses in 212 networks, all on POST /login`,
  ],
  [
    'credential stuffing, of which not all accounts are listed',
    figures(accounts(50, 900, 40), {
      deniedClients: 400,
      denied: 360_000,
      deniedPerSecond: 2000,
      addresses: 212,
      networkCount: 212,
    }),
    'critical account-attacked',
    `400 accounts have been under attack since ${SINCE}: 2,000 denials a second from 212 addresses in 212 networks, all on POST /login`,
  ],
  [
    'slow credential stuffing: each account is hardly over its limit',
    figures(accounts(50, 60, 40), {
      deniedClients: 400,
      denied: 24_000,
      routes: login(24_000),
      networks: [],
      addresses: 212,
      networkCount: 212,
    }),
    'critical many-denied',
    `400 clients from 212 addresses in 212 networks have been denied since ${SINCE}: 17 denials a second, 63% of requests, all on POST /login`,
  ],
  [
    'an account under attack in report mode',
    figures([ada], { mode: 'report', networkCount: 212 }),
    'warning account-attacked',
    `user:ada has been under attack since ${SINCE}: 9.8 excess requests a second from 212 addresses in 212 networks, all on POST /login`,
  ],
  [
    'an account under attack beside a customer that is denied more often',
    figures([client('acme', { denied: 9000 }), ada]),
    'critical account-attacked',
    `user:ada has been under attack since ${SINCE}: 9.8 denials a second from 212 addresses in 2 networks, all on POST /login`,
  ],

  // Networks.
  [
    'a scraper over 40 addresses of one network',
    figures(many(40, 90), {
      networks: [{ network: '203.0.113.0/24', denied: 3600, addresses: 40 }],
      routes: [{ route: 'GET /products/:id', denied: 3600 }],
    }),
    'critical network-denied',
    `40 addresses in 203.0.113.0/24 have been denied since ${SINCE}: 20 denials a second, 67% of requests, all on GET /products/:id`,
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
    `35 addresses in 203.0.113.0/24 and 198.51.100.0/24 have been denied since ${SINCE}: 20 denials a second, 67% of requests, all on GET /`,
  ],
  [
    'a scraper over five networks, among others',
    figures(many(50, 80), {
      networks: [3, 4, 5, 6, 7, 8].map((i) => ({
        network: `203.0.${i}.0/24`,
        denied: i === 8 ? 150 : 770,
        addresses: i === 8 ? 2 : 10,
      })),
    }),
    'critical network-denied',
    `50 addresses in 203.0.3.0/24, 203.0.4.0/24 and 3 other networks have been denied since ${SINCE}: 22 denials a second, 69% of requests, all on GET /`,
  ],
  [
    'a bot that rotates its addresses within a /48',
    figures(many(32, 90), { networks: [{ network: '2001:db8:7::/48', denied: 2880, addresses: 256 }] }),
    'critical network-denied',
    `256 addresses in 2001:db8:7::/48 have been denied since ${SINCE}: 16 denials a second, 62% of requests, all on GET /`,
  ],
  [
    'a scraper in report mode',
    figures(many(40, 90), {
      networks: [{ network: '203.0.113.0/24', denied: 3600, addresses: 40 }],
      mode: 'report',
    }),
    'warning network-denied',
    `40 addresses in 203.0.113.0/24 have been over their limit since ${SINCE}: 20 excess requests a second, 67% of requests, all on GET /`,
  ],

  // A few clients.
  [
    'a plan that is too small',
    figures([client('user:acme', { denied: 1080 })], {
      routes: [
        { route: 'POST /search', denied: 900 },
        { route: 'GET /', denied: 180 },
      ],
    }),
    'warning few-denied',
    `user:acme has been at its limit of 100 per 1m since ${SINCE}: 6.0 denials a second, 38% of requests, most on POST /search`,
  ],
  [
    'a customer that is at its limit since later than a bot that is denied now and then',
    figures(
      [client('acme', { denied: 1080 }), client('bot', { denied: 9, firstDeniedMs: SINCE_MS - 3 * HOUR_MS })],
      { runSinceMs: SINCE_MS - 3 * HOUR_MS },
    ),
    'warning few-denied',
    `acme has been at its limit of 100 per 1m since ${SINCE}: 6.0 denials a second, 38% of requests, all on GET /`,
  ],
  [
    'a customer at its limit beside blocked requests',
    figures([client('acme', { denied: 36 })], { allowedPerSecond: 0.8, blockedPerSecond: 100 }),
    'warning few-denied',
    `acme has been at its limit of 100 per 1m since ${SINCE}: 0.2 denials a second, 20% of requests besides 100 blocked ones a second, all on GET /`,
  ],
  [
    'an account whose attack began later than what most denials are',
    figures([
      client('acme', { denied: 9000, firstDeniedMs: SINCE_MS }),
      { ...ada, firstDeniedMs: SINCE_MS + MINUTE_MS },
    ]),
    'critical account-attacked',
    `user:ada has been under attack since {${SINCE_MS + MINUTE_MS}}: 9.8 denials a second from 212 addresses in 2 networks, all on POST /login`,
  ],
  [
    'a client that is denied now and then',
    figures([client('acme', { denied: 9 })], { allowedPerSecond: 0.5, deniedPerSecond: 0.05 }),
    'warning few-denied',
    `acme has been at its limit of 100 per 1m since ${SINCE}: 3 denials a minute, 9% of requests, all on GET /`,
  ],
  [
    'one client that goes on, among very many requests',
    figures([client('a', { denied: 8100 })], { allowedPerSecond: 5000 }),
    'warning few-denied',
    `a has been at its limit of 100 per 1m since ${SINCE}: 45 denials a second, less than 1% of requests, all on GET /`,
  ],
  [
    'a customer with many servers that is a little over its plan',
    figures([client('acme', { denied: 540, addresses: 12 })]),
    'warning few-denied',
    `acme has been at its limit of 100 per 1m, from 12 addresses, since ${SINCE}: 3.0 denials a second, 23% of requests, all on GET /`,
  ],
  [
    'a customer behind many servers that has used up its quota of the day, and retries',
    figures([client('acme', { denied: 180, addresses: 12 })], {
      limits: [limit({ kind: 'quota', limit: 10_000, windowMs: 24 * HOUR_MS })],
    }),
    'warning few-denied',
    `acme has been at its limit of 10,000 per 1d, from 12 addresses, since ${SINCE}: 1.0 denials a second, 9% of requests, all on GET /`,
  ],
  [
    'a customer behind many servers that has used up a small quota, and retries often',
    figures([client('acme', { denied: 3600, addresses: 12 })], {
      limits: [limit({ kind: 'quota', limit: 100, windowMs: 24 * HOUR_MS })],
    }),
    'warning few-denied',
    `acme has been at its limit of 100 per 1d, from 12 addresses, since ${SINCE}: 20 denials a second, 67% of requests, all on GET /`,
  ],
  [
    'a customer behind many servers that has used up a window of a day, and retries',
    figures([client('acme', { denied: 900, addresses: 12 })], {
      limits: [limit({ kind: 'fixed-window', limit: 10_000, windowMs: 24 * HOUR_MS })],
    }),
    'warning few-denied',
    `acme has been at its limit of 10,000 per 1d, from 12 addresses, since ${SINCE}: 5.0 denials a second, 33% of requests, all on GET /`,
  ],
  [
    'a busy customer with many requests at once',
    figures([client('acme', { denied: 90, addresses: 12 })], {
      limits: [limit({ kind: 'concurrency', limit: 8, windowMs: null })],
    }),
    'warning few-denied',
    `acme has been at its limit of 8, from 12 addresses, since ${SINCE}: 0.5 denials a second, 5% of requests, all on GET /`,
  ],
  [
    'a home with IPv6 whose addresses rotate',
    figures([client('2001:db8:1:100::/56', { denied: 3600, addresses: 64 })]),
    'warning few-denied',
    `2001:db8:1:100::/56 has been at its limit of 100 per 1m, from 64 addresses, since ${SINCE}: 20 denials a second, 67% of requests, all on GET /`,
  ],
  [
    'a few clients that several limits deny',
    figures([client('a'), client('b', { limitName: 'burst' })], {
      limits: [limit(), limit({ name: 'burst' })],
    }),
    'warning few-denied',
    `a and b have been at their limit since ${SINCE}: 1.1 denials a second, 10% of requests, all on GET /`,
  ],
  [
    'three clients among many',
    figures([...many(3, 1000), ...many(20, 1)]),
    'warning few-denied',
    `10.0.0.1, 10.1.0.1 and 10.2.0.1 have been at their limit of 100 per 1m since ${SINCE}: 17 denials a second, 63% of requests, all on GET /`,
  ],
  [
    'all requests of the only client of a limiter by number at once',
    figures([client('acme', { denied: 900 })], {
      limits: [limit({ limit: 5, windowMs: null })],
      allowedPerSecond: 0,
    }),
    'warning few-denied',
    `acme has been at its limit of 5 since ${SINCE}: 5.0 denials a second, 100% of requests, all on GET /`,
  ],

  // Clients that the store has lost.
  [
    'clients that are not known yet',
    figures([], { areClientsUnknown: true, denied: 1200, deniedSinceMs: SINCE_MS, deniedPerSecond: 20 }),
    'warning many-denied',
    `Requests have been denied since ${SINCE}: 20 denials a second, 67% of requests; who sends them is not known yet`,
  ],
  [
    'clients in report mode that are not known yet',
    figures([], {
      areClientsUnknown: true,
      mode: 'report',
      denied: 1200,
      deniedSinceMs: SINCE_MS,
      deniedPerSecond: 20,
    }),
    'warning many-denied',
    `Requests have been over their limit since ${SINCE}: 20 excess requests a second, 67% of requests; who sends them is not known yet`,
  ],
  [
    'a few clients that are not known yet',
    figures([], {
      areClientsUnknown: true,
      denied: 3,
      runSinceMs: SINCE_MS,
      deniedSinceMs: SINCE_MS,
      deniedPerSecond: 0.05,
    }),
    'calm',
    `3 requests denied since ${SINCE}: less than 1% of requests`,
  ],

  // Many clients.
  [
    'many clients of as many networks',
    figures(many(40, 90)),
    'critical many-denied',
    `40 clients in 40 networks have been denied since ${SINCE}: 20 denials a second, 67% of requests, all on GET /`,
  ],
  [
    'many clients in report mode, whose addresses are not known',
    figures(many(40, 90), { mode: 'report', addresses: 0, networkCount: 0 }),
    'warning many-denied',
    `40 clients have been over their limit since ${SINCE}: 20 excess requests a second, 67% of requests, all on GET /`,
  ],
  [
    'a limit that an operator lowered by mistake ten minutes before',
    figures(many(40, 90), { change: { atMs: CHANGED_MS, text: 'set api to 6 per 1m', by: 'ada' } }),
    'critical many-denied',
    `40 clients in 40 networks have been denied since ${SINCE}: 20 denials a second, 67% of requests, all on GET /; ada set api to 6 per 1m at {${CHANGED_MS}}`,
  ],
  [
    'a lowered limit whose change was undone a moment ago',
    figures(many(40, 90), {
      change: { atMs: CHANGED_MS, text: 'set api to 6 per 1m', by: 'ada', undoneMs: NOW_MS },
    }),
    'critical many-denied',
    `40 clients in 40 networks have been denied since ${SINCE}: 20 denials a second, 67% of requests, all on GET /; ada set api to 6 per 1m at {${CHANGED_MS}}, until {${NOW_MS}}`,
  ],
  [
    'denials that began after the change was undone',
    figures(many(40, 90), {
      change: { atMs: CHANGED_MS, text: 'set api to 6 per 1m', by: 'ada', undoneMs: CHANGED_MS + 1000 },
    }),
    'critical many-denied',
    `40 clients in 40 networks have been denied since ${SINCE}: 20 denials a second, 67% of requests, all on GET /`,
  ],
  [
    'a change that came after denials began',
    figures(many(40, 90), { change: { atMs: SINCE_MS + MINUTE_MS, text: 'set api to 6 per 1m', by: 'ada' } }),
    'critical many-denied',
    `40 clients in 40 networks have been denied since ${SINCE}: 20 denials a second, 67% of requests, all on GET /`,
  ],
  [
    'no denial since the limit of a client was raised',
    figures([], { remedy: { atMs: SINCE_MS, text: 'set search to 200 for acme', by: 'ada' } }),
    'calm',
    `No client has been denied since ${SINCE}, when ada set search to 200 for acme`,
  ],
  [
    'no excess request since a change by a program without a name, in report mode',
    figures([], { mode: 'report', remedy: { atMs: SINCE_MS, text: 'set api to 9' } }),
    'calm',
    `No client has been over its limit since ${SINCE}, when an operator set api to 9`,
  ],
  [
    'an office and a customer with many servers, which a change denies at once',
    figures([ada, ...many(39, 90)], {
      networks: [{ network: '203.0.113.0/24', denied: 5274, addresses: 252 }],
      change: { atMs: SINCE_MS - 4000, text: 'set api to 6 per 1m', by: 'ada' },
    }),
    'critical many-denied',
    `40 clients from 251 addresses in 40 networks have been denied since ${SINCE}: 29 denials a second, 75% of requests, all on GET /; ada set api to 6 per 1m at {${SINCE_MS - 4000}}`,
  ],
  [
    'a botnet on one account, to which an operator has reacted',
    figures([ada], {
      networkCount: 212,
      change: { atMs: SINCE_MS + MINUTE_MS, text: 'set login to 5 per 1m', by: 'bob' },
    }),
    'critical account-attacked',
    `user:ada has been under attack since ${SINCE}: 9.8 denials a second from 212 addresses in 212 networks, all on POST /login`,
  ],
  [
    'a client that is denied after a change by a program without a name',
    figures([client('acme', { denied: 540 })], {
      change: { atMs: CHANGED_MS, text: 'set the mode to enforce' },
    }),
    'warning few-denied',
    `acme has been at its limit of 100 per 1m since ${SINCE}: 3.0 denials a second, 23% of requests, all on GET /; an operator set the mode to enforce at {${CHANGED_MS}}`,
  ],
  [
    'a client of which only its process knows more',
    figures([], { deniedSinceMs: SINCE_MS, denied: 500, deniedClients: 1, deniedPerSecond: 20 }),
    'warning many-denied',
    `1 client has been denied since ${SINCE}: 20 denials a second, 67% of requests`,
  ],
  [
    'denials whose last minute is not yet counted',
    figures(many(40, 900), { allowedPerSecond: 0, deniedPerSecond: 0 }),
    'warning many-denied',
    `40 clients in 40 networks have been denied since ${SINCE}, all on GET /`,
  ],
]

/** A process that began to report an hour ago, and is alive, or was seen last three minutes ago. */
export function shownProcess(pid: number, own: Partial<ShownProcess> = {}): ShownProcess {
  const { state = 'alive' } = own
  const times = { startedAtMs: NOW_MS - 60 * MINUTE_MS, lastSeenMs: state === 'alive' ? NOW_MS : SINCE_MS }
  return {
    id: `${pid}`,
    host: `web-${pid}`,
    pid,
    version: '1.0.0',
    ...times,
    state,
    share: 0.25,
    isThis: false,
    ...own,
  }
}

const alive = [1, 2, 3].map((pid) => shownProcess(pid))
const gone = (pid: number, own: Partial<ShownProcess> = {}) => shownProcess(pid, { state: 'gone', ...own })
const started = (pid: number, afterMs: number) => shownProcess(pid, { startedAtMs: SINCE_MS + afterMs })
const silent4 = `web-4 (pid 4) has died, or cannot reach redis: silent since ${SINCE}`
const left3 = '3 of 4 processes still report'

/** What is said of processes. */
export const PROCESS_SENTENCES: readonly (readonly [
  what: string,
  processes: readonly ShownProcess[],
  sentence: string | undefined,
])[] = [
  ['all are alive', alive, undefined],
  ['one died', [...alive, gone(4)], `${silent4}, when it decided 25% of the requests; ${left3}`],
  ['one that decided nothing died', [...alive, gone(4, { share: 0 })], `${silent4}; ${left3}`],
  [
    'one of those that were started together died at once',
    [...[1, 2, 3].map((pid) => started(pid, -5000)), gone(4, { startedAtMs: SINCE_MS - 9000, share: 0 })],
    `${silent4}; ${left3}`,
  ],
  [
    'two died',
    [...alive, gone(5), gone(4, { lastSeenMs: SINCE_MS - 1 })],
    `web-4 (pid 4) and web-5 (pid 5) have died, or cannot reach redis: the first of them silent since {${SINCE_MS - 1}}; 3 of 5 processes still report`,
  ],
  [
    'all others died',
    [shownProcess(1), ...[2, 3, 4, 5].map((pid) => gone(pid))],
    `web-2 (pid 2), web-3 (pid 3) and 2 other processes have died, or cannot reach redis: the first of them silent since ${SINCE}; 1 of 5 processes still reports`,
  ],
  ['one was closed', [...alive, shownProcess(4, { state: 'closed' })], undefined],
  ['one died, and another was started in its place', [...alive, gone(4), started(5, 2000)], undefined],
  [
    'a deployment replaced all, which were not closed',
    [...[1, 2, 3, 4].map((pid) => gone(pid)), ...[5, 6, 7, 8].map((pid) => started(pid, 1000 * pid))],
    undefined,
  ],
  [
    'a rolling deployment, in which each new one is started before an old one ends',
    [...[1, 2].map((pid) => gone(pid)), ...[5, 6].map((pid) => started(pid, -90_000))],
    undefined,
  ],
  [
    'a deployment, after which one of the new ones died',
    [
      ...[1, 2, 3].map((pid) => shownProcess(pid, { state: 'closed', lastSeenMs: SINCE_MS - 8 * MINUTE_MS })),
      ...[5, 6].map((pid) => started(pid, -7 * MINUTE_MS)),
      gone(7, { startedAtMs: SINCE_MS - 7 * MINUTE_MS, share: 0 }),
    ],
    `web-7 (pid 7) has died, or cannot reach redis: silent since ${SINCE}; 2 of 3 processes still report`,
  ],
  [
    'two died, and one was started in their place',
    [...alive, gone(4, { lastSeenMs: SINCE_MS - 1 }), gone(5, { share: 0 }), started(6, 2000)],
    `web-5 (pid 5) has died, or cannot reach redis: silent since ${SINCE}; 4 of 5 processes still report`,
  ],
]
