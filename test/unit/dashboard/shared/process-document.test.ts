import {
  headerText,
  type ProcessHeader,
  parseProcess,
  processText,
} from '../../../../src/dashboard/shared/process-document.js'
import { DistinctCounter, distinctIn } from '../../../../src/util/distinct-sample.js'
import { deniedRow, reportOf, trafficOf } from '../figures/reports.js'

const limit = {
  name: 'api',
  kind: '',
  limit: 5,
  windowMs: null,
  isLocal: false,
  allowed: 1,
  denied: 2,
  peak: 0.5,
}
const near = { limitName: 'api', identity: 'ada', limit: 5, remaining: 1, isLocal: false }
const candidateLimit = {
  name: 'api',
  denied: 1,
  excessUnits: 2,
  deniedClients: 1,
  mostDenied: [{ identity: 'ada', denied: 1 }],
}
const candidate = {
  sinceMs: 1,
  requests: 2,
  clients: 1,
  denied: 1,
  deniedClients: 1,
  newlyDenied: 1,
  newlyAllowed: 0,
  failed: 0,
  limits: [candidateLimit],
}
const addresses = new DistinctCounter(256)
for (let i = 0; i < 40; i++) addresses.add(`203.0.113.${i}`)
const denied = deniedRow('ada', 3, { addresses, routes: [['GET /a', 3]], networks: [['203.0.113.0/24', 3]] })
const clients = { clients: [7], deniedClients: [7], limits: [[7]] }
const report = reportOf({
  traffic: trafficOf(179_000_000, [1, 0, 3], [0, 2, 0]),
  limits: [limit],
  near: [near],
  run: { sinceMs: 1, lastMs: 2 },
  denials: {
    denied: 3,
    clients: addresses,
    addresses,
    routes: [['GET /a', 3]],
    networks: [{ network: '203.0.113.0/24', denied: 3, addresses }],
  },
  denied: [denied],
  candidate,
  candidateClients: clients,
})
const header: ProcessHeader = {
  id: 'a',
  host: 'web-1',
  pid: 7,
  version: '1.0.0',
  startedAtMs: 1,
  dashboard: 0,
  atMs: 2,
  everyMs: 2000,
}
const written = JSON.parse(processText(header, [report]))

/** A sample is equal to its hashes, whatever counted them. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
const parsed = (value: unknown) => parseProcess(JSON.stringify(value))

test('a document is read as it was written', () => {
  expect(plain(parsed(written))).toEqual({ header, limiters: [plain(report)] })
  expect(distinctIn(parsed(written)?.limiters?.[0]?.denied[0]?.addresses ?? addresses)).toBe(40)
  const { candidate: _, candidateClients: __, run: ___, ...without } = report
  expect(plain(parseProcess(processText(header, [without])))).toEqual({ header, limiters: [plain(without)] })
  expect(parsed({ ...written, later: true })).toEqual(parsed(written))
  const closed = { ...header, closedAtMs: 9 }
  expect(parseProcess(headerText(closed))).toEqual({ header: closed, limiters: [] })
})

test('limiters may have any legal name, or one of Object', () => {
  const names = ['constructor', 'toString', 'a.b_c-d', 'A'.repeat(64), '__proto__', 'hasOwnProperty']
  const text = processText(
    header,
    names.map((name) => reportOf({ name })),
  )
  expect(parseProcess(text)?.limiters?.map(({ name }) => name)).toEqual(names)
})

test.each([
  ['no JSON', '{'],
  ['a text', '"a"'],
  ['null', 'null'],
  ['of another program', JSON.stringify({ header, limiters: [] })],
  ['no header', JSON.stringify({ ...written, header: undefined })],
  ['no id', JSON.stringify({ ...written, header: { ...header, id: 7 } })],
  ['a long host', JSON.stringify({ ...written, header: { ...header, host: 'x'.repeat(201) } })],
  ['no time', JSON.stringify({ ...written, header: { ...header, atMs: 'now' } })],
  ['an endless time', JSON.stringify({ ...written, header }).replace('"atMs":2', '"atMs":1e999')],
  ['a negative time', JSON.stringify({ ...written, header: { ...header, atMs: -1 } })],
])('what is or has %s is no document', (_, text) => {
  expect(parseProcess(text)).toBeUndefined()
})

test('of a document in a later format, the header is read', () => {
  expect(parsed({ ...written, headgate: 2 })).toEqual({ header })
  expect(parsed({ ...written, limiters: {} })).toEqual({ header })
})

/** Returns an object at some path with another value there. */
function withValue(object: object, path: readonly (string | number)[], value: unknown): object {
  const [first = '', ...rest] = path
  const fields = (Array.isArray(object) ? [...object] : { ...object }) as Record<string | number, unknown>
  fields[first] = rest.length === 0 ? value : withValue(fields[first] as object, rest, value)
  return fields
}

const COUNTS = [
  'traffic.lastSlot',
  'sinceMs',
  'run.sinceMs',
  'denials.denied',
  'denials.routes.0.1',
  'denials.networks.0.denied',
  'denied.0.firstMs',
  'denied.0.lastMs',
  'denied.0.networks.0.1',
  ...['limit', 'allowed', 'denied', 'peak'].map((name) => `limits.0.${name}`),
  'near.0.limit',
  'near.0.remaining',
  'denied.0.denied',
  'store.calls',
  'store.failures',
  ...[
    'sinceMs',
    'requests',
    'clients',
    'denied',
    'deniedClients',
    'newlyDenied',
    'newlyAllowed',
    'failed',
  ].map((name) => `candidate.${name}`),
  ...['denied', 'excessUnits', 'deniedClients', 'mostDenied.0.denied'].map(
    (name) => `candidate.limits.0.${name}`,
  ),
]
const TEXTS = [
  ...['limits.0.name', 'limits.0.kind', 'near.0.limitName', 'near.0.identity', 'denied.0.limitName'],
  ...['denied.0.identity', 'candidate.limits.0.name', 'candidate.limits.0.mostDenied.0.identity'],
]

test.each<readonly [path: string, value: unknown]>([
  ...COUNTS.flatMap((path) => [[path, '1'] as const, [path, -1] as const, [path, 2 ** 60] as const]),
  ...TEXTS.map((path) => [path, 7] as const),
  ['store.state', '__proto__'],
  ['mode', 'other'],
  ['denied.0.perSecond', null],
  ['denied.0.addresses', [0, 2, 1]],
  ['denials.clients', [0, -1]],
  ['denials.networks.0.addresses', 'x'],
  ['denied.0', null],
  ['limits.0.windowMs', 'never'],
  ['limits.0.windowMs', undefined],
  ...['traffic', 'limits', 'near', 'denied', 'store', 'store.latency', 'candidate.limits'].map(
    (path) => [path, null] as const,
  ),
  ['traffic.allowed', '1,2'],
  ['traffic.denied', ','.repeat(90)],
  ['traffic.denied', `${','.repeat(88)}-1`],
  ['store.latency', `${','.repeat(40)}x`],
  ['traffic.perSecond', { allowed: '1', denied: 0 }],
  ['candidate', null],
])('a report whose %s is %j is left out, and the others are read', (path, value) => {
  const [wrong] = [withValue(written.limiters[0], path.split('.'), value)]
  expect(parsed({ ...written, limiters: [wrong, written.limiters[0]] })).toEqual(parsed(written))
})

test('lists of a report are read up to 1,000 entries', () => {
  const read = (length: number) =>
    parsed({ ...written, limiters: [{ ...written.limiters[0], near: Array(length).fill(near) }] })?.limiters
  expect(read(1000)?.[0]?.near).toHaveLength(1000)
  expect(read(1001)).toEqual([])
})

test('a document fits into every store, with 200 limiters that are all attacked', () => {
  const many = Array.from({ length: 200 }, (_, n) => {
    const attacked = Array.from({ length: 1000 }, (_, i) => ({ ...denied, identity: `client-${i}` }))
    return { ...report, name: `limiter-${n}`, denied: attacked, limits: Array(64).fill(limit) }
  })
  const text = processText(header, many)
  expect(text.length).toBeLessThan(900_000)
  expect(parseProcess(text)?.limiters).toHaveLength(200)
})
