import type { LoggedEvent } from '../../../src/dashboard/figures/logged-event.js'
import type { ShownOutage, ShownProcess } from '../../../src/dashboard/figures/shown.js'
import { crowdOf } from './clients.js'
import type { LimiterScene, Scene } from './scene.js'

const MINUTE_MS = 60_000
const NAMES = [
  ['api', 410],
  ['login', 6.2],
  ['search', 88],
  ['checkout', 3.4],
  ['uploads', 1.1],
  ['webhooks', 24],
  ['password-reset', 0.2],
  ['signup', 0.6],
  ['graphql', 132],
  ['exports', 0.04],
  ['admin', 0.9],
  ['mail', 4.8],
  ['public-feed', 61],
  ['partner-api', 37],
] as const

/** The scenes, each a state of the page at a time. */
export const SCENES: Readonly<Record<string, (nowMs: number) => Scene>> = {
  calm: (nowMs) => ({ ...usual(nowMs), limiters: NAMES.map(([name, perSecond]) => calm(name, perSecond)) }),
  one: (nowMs) => ({ ...usual(nowMs), events: [], limiters: [calm('api', 12)] }),
  empty: (nowMs) => ({
    ...usual(nowMs),
    events: [],
    processes: processes(nowMs, 1),
    limiters: [calm('api', 0)],
  }),
  incident: (nowMs) => ({ ...usual(nowMs), limiters: incidents(nowMs) }),
  /** Without settings: one limiter can ban, another cannot. */
  bans: (nowMs) => ({
    ...usual(nowMs),
    limiters: incidents(nowMs).map((each) => ({
      ...each,
      hasSettings: false,
      longestBlockMs: each.name === 'login' ? 0 : 60 * MINUTE_MS,
    })),
  }),
  /** Nothing can be proposed, previewed or changed for the limiter `mail`. */
  failing: (nowMs) => {
    const [search] = incidents(nowMs).filter(({ name }) => name === 'search') as [LimiterScene]
    return { ...usual(nowMs), limiters: [{ ...search, name: 'mail' }] }
  },
  outage,
  gone: (nowMs) => ({ ...usual(nowMs), processes: processes(nowMs, 4, 1) }),
  many: (nowMs) => ({ ...usual(nowMs), limiters: many(nowMs, 200, 9) }),
  busy: (nowMs) => ({ ...usual(nowMs), isLive: true, limiters: busy(nowMs) }),
  hostile,
}

/** What a scene has that is not about its limiters. */
function usual(nowMs: number): Scene {
  return {
    limiters: NAMES.map(([name, perSecond]) => calm(name, perSecond)),
    outages: [],
    processes: processes(nowMs, 4),
    events: events(nowMs),
  }
}

function calm(name: string, perSecond: number): LimiterScene {
  return { name, perSecond, limit: Math.max(10, Math.round(40 * perSecond)), denied: [] }
}

/** Five limiters of which something is wrong, each in another way. */
function incidents(nowMs: number): LimiterScene[] {
  const since = (minutes: number) => nowMs - minutes * MINUTE_MS
  const attack = crowdOf(
    {
      limitName: 'login-account',
      count: 1,
      deniedPerSecond: 9.8,
      sinceMs: since(11),
      routes: ['POST /login'],
      identityOf: () => 'maria.keller@example.com',
      addresses: 212,
      networks: ['203.0.113.0/24', '198.51.100.0/24', '2001:db8:4a::/48', '192.0.2.0/24'],
    },
    nowMs,
  )
  const scraper = crowdOf(
    {
      limitName: 'search-address',
      count: 40,
      deniedPerSecond: 61,
      sinceMs: since(7),
      routes: ['GET /search', 'GET /products/:id'],
      identityOf: (i) => `198.51.100.${10 + i}`,
      addresses: 1,
      networks: ['198.51.100.0/24'],
    },
    nowMs,
  )
  const plan = crowdOf(
    {
      limitName: 'partner',
      count: 1,
      deniedPerSecond: 2.4,
      sinceMs: since(26),
      routes: ['POST /v2/orders', 'GET /v2/orders/:id'],
      identityOf: () => 'key_9f2c41d0',
      labelOf: () => 'Northwind Traders',
      addresses: 2,
      networks: ['192.0.2.0/24'],
    },
    nowMs,
  )
  const report = crowdOf(
    {
      limitName: 'graphql',
      count: 184,
      deniedPerSecond: 5.1,
      sinceMs: since(90),
      routes: ['POST /graphql'],
      identityOf: (i) => `user-${1000 + 37 * i}`,
      addresses: 1,
      networks: ['203.0.113.0/24', '192.0.2.0/24'],
    },
    nowMs,
  )
  const wrong: Record<string, Partial<LimiterScene>> = {
    login: { denied: attack, deniedPerSecond: 9.8, addresses: 212 },
    search: { denied: scraper, deniedPerSecond: 61, addresses: 40 },
    'partner-api': { denied: plan, deniedPerSecond: 2.4, addresses: 2 },
    graphql: { denied: report, deniedPerSecond: 5.1, mode: 'report', addresses: 170 },
  }
  return NAMES.map(([name, perSecond]) => ({ ...calm(name, perSecond), ...wrong[name] }))
}

/** Redis has frozen: five limiters are on it, and treat requests in two ways. */
function outage(nowMs: number): Scene {
  const sinceMs = nowMs - 3.4 * MINUTE_MS
  const affected = ['api', 'login', 'search', 'graphql', 'partner-api']
  const effects = affected.map((limiter) => ({
    limiter,
    text:
      limiter === 'login'
        ? 'requests are denied'
        : 'each process counts on its own, with a quarter of each limit',
  }))
  const shown: ShownOutage = {
    store: 'redis',
    servers: ['10.0.0.7:6379'],
    sinceMs,
    effects,
    decisions: 48_213,
    processes: 4,
  }
  const scene = usual(nowMs)
  const opened: LoggedEvent = {
    id: 'outage',
    atMs: sinceMs,
    kind: 'breaker',
    text: 'redis has been unavailable on 10.0.0.7:6379',
  }
  const problem = 'The figures are those of this process alone (redis: no reply within 800 ms).'
  return { ...scene, outages: [shown], problems: [problem], events: [...scene.events, opened] }
}

/** Returns processes of which the last ones have vanished, and one more was closed. */
function processes(nowMs: number, count: number, gone = 0): ShownProcess[] {
  const hosts = ['web-7f9c4-kx2lp', 'web-7f9c4-m8qzd', 'web-7f9c4-t5wvn', 'web-7f9c4-b3hrs']
  const shares = [0.27, 0.26, 0.25, 0.22]
  const running = Array.from({ length: count }, (_, i): ShownProcess => {
    const isGone = i >= count - gone
    return {
      id: `process-${i}`,
      host: hosts[i % hosts.length] as string,
      pid: 21 + i,
      version: '0.9.4',
      startedAtMs: nowMs - (7 + 3 * i) * 3_600_000,
      lastSeenMs: isGone ? nowMs - 4 * MINUTE_MS : nowMs - 700 * i,
      state: isGone ? 'gone' : 'alive',
      share: count === 1 ? 1 : (shares[i % shares.length] as number),
      isThis: i === 0,
    }
  })
  const closed: ShownProcess = {
    id: 'process-closed',
    host: 'web-6d1b8-zz9ok',
    pid: 21,
    version: '0.9.3',
    startedAtMs: nowMs - 52 * 3_600_000,
    lastSeenMs: nowMs - 38 * MINUTE_MS,
    state: 'closed',
    share: 0.24,
    isThis: false,
  }
  return count === 1 ? running : [...running, closed]
}

function events(nowMs: number): LoggedEvent[] {
  const at = (minutes: number, id: string, own: Omit<LoggedEvent, 'id' | 'atMs'>) => ({
    id,
    atMs: nowMs - minutes * MINUTE_MS,
    ...own,
  })
  return [
    at(1290, 'e1', {
      kind: 'settings',
      text: 'partner: 600 per 1m instead of 400 per 1m',
      limiter: 'partner-api',
      by: 'ines',
      reason: 'contract of November',
    }),
    at(410, 'e2', { kind: 'mode', text: 'report mode instead of enforcing', limiter: 'graphql', by: 'tom' }),
    at(38, 'e3', { kind: 'process-closed', text: 'web-6d1b8-zz9ok (pid 21) was closed' }),
    at(37, 'e4', { kind: 'process-seen', text: 'web-7f9c4-b3hrs (pid 24) reports' }),
    at(9, 'e5', {
      kind: 'release',
      text: 'released key_9f2c41d0',
      limiter: 'partner-api',
      by: 'ines',
      reason: 'ticket 4812',
    }),
    at(6, 'e6', {
      kind: 'block',
      text: `blocked 198.51.100.10 until {${nowMs + 54 * MINUTE_MS}}`,
      limiter: 'search',
      by: 'tom',
    }),
  ]
}

/** Returns many limiters, of which some have denials. */
function many(nowMs: number, count: number, wrong: number): LimiterScene[] {
  return Array.from({ length: count }, (_, i) => {
    const name = `service-${String(i + 1).padStart(3, '0')}`
    const scene = calm(name, (i * 37) % 90)
    if (i % Math.ceil(count / wrong) !== 3) return scene
    const crowd = crowdOf(
      {
        limitName: name,
        count: 5 + (i % 40),
        deniedPerSecond: 0.5 + (i % 13),
        sinceMs: nowMs - (2 + (i % 12)) * MINUTE_MS,
        routes: ['GET /v1/items', 'POST /v1/items'],
        identityOf: (n) => `203.0.113.${n}`,
        addresses: 1,
        networks: ['203.0.113.0/24'],
      },
      nowMs,
    )
    return { ...scene, denied: crowd, deniedPerSecond: 0.5 + (i % 13), addresses: crowd.length }
  })
}

/** 200 limiters that all have denials, one of them of 10,000 clients. */
function busy(nowMs: number): LimiterScene[] {
  const [, ...others] = many(nowMs, 200, 200)
  const crowd = crowdOf(
    {
      limitName: 'api',
      count: 10_000,
      deniedPerSecond: 2500,
      sinceMs: nowMs - 12 * MINUTE_MS,
      routes: ['GET /v1/items', 'POST /v1/items', 'GET /v1/items/:id'],
      identityOf: (i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`,
      addresses: 1,
      networks: ['203.0.113.0/24', '198.51.100.0/24'],
    },
    nowMs,
  )
  const moving = others.map((each, i) => ({
    ...each,
    perSecond: 20 + i,
    deniedPerSecond: each.deniedPerSecond ?? 1,
  }))
  return [{ ...calm('api', 900), denied: crowd, deniedPerSecond: 2500, addresses: 9000 }, ...moving]
}

/** Names and texts that try to break out, or to break the layout. */
function hostile(nowMs: number): Scene {
  const texts = [
    '<img src=x onerror=alert(1)><script>alert(2)</script>',
    `"' onmouseover=alert(3) x="`,
    '\u202egnp.exe\u2066\u200f',
    'W'.repeat(1000),
    '__proto__',
    'ada\r\nX-Header: 1',
  ]
  const crowd = crowdOf(
    {
      limitName: '<b>limit</b>',
      count: texts.length,
      deniedPerSecond: 3,
      sinceMs: nowMs - 2 * MINUTE_MS,
      routes: ['GET /<script>alert(4)</script>', `GET /${'x'.repeat(300)}`],
      identityOf: (i) => texts[i] as string,
      labelOf: (i) => (i % 2 === 0 ? undefined : texts[i]),
      addresses: 7,
      networks: ['203.0.113.0/24'],
    },
    nowMs,
  )
  const names = ['__proto__', 'constructor', '<b>bold</b>', 'a/b?c#d%e', 'N'.repeat(120)]
  const limiters = names.map((name) => ({
    ...calm(name, 5),
    denied: crowd,
    deniedPerSecond: 3,
    addresses: 7,
  }))
  const event: LoggedEvent = {
    id: '__proto__',
    atMs: nowMs - MINUTE_MS,
    kind: 'release',
    text: `released ${texts[0]}`,
    limiter: '__proto__',
    by: texts[2] as string,
    reason: texts[1] as string,
  }
  return { ...usual(nowMs), limiters, events: [event] }
}
