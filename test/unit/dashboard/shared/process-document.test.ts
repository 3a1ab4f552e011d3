import type { LimiterReport } from '../../../../src/dashboard/figures/report.js'
import {
  headerText,
  type ProcessHeader,
  ProcessReader,
  ProcessWriter,
} from '../../../../src/dashboard/shared/process-document.js'
import { LINES } from '../../../../src/dashboard/shared/report-lines.js'
import { NO_CLIENTS } from '../../../../src/dashboard/shared/report-reader.js'
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
const networkNames = new DistinctCounter(256)
networkNames.add('203.0.113.0/24')
const denied = deniedRow('ada', 3, { addresses, routes: [['GET /a', 3]], networks: [['203.0.113.0/24', 3]] })
const clients = { clients: [7], deniedClients: [7], limits: [[7]] }
const report = reportOf({
  traffic: trafficOf(179_000_000, [1, 0, 3], [0, 2, 0]),
  limits: [limit],
  near: [near],
  run: { sinceMs: 1, lastMs: 2, risenMs: 1, perMinute: 3 },
  blocked: { sinceMs: 1, lastMs: 4, risenMs: 2, perMinute: 5 },
  denials: {
    denied: 3,
    clients: addresses,
    addresses,
    networkNames,
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

/** Returns a text with the lines of both documents of a process. */
function textOf(reports: readonly LimiterReport[], writer = new ProcessWriter()): string {
  const [, ...clients] = writer.clients(header, reports).split('\n')
  return [writer.figures(header, reports), ...clients].join('\n')
}

/** Returns what a reader has read of both, as one. */
function joined(read: ReturnType<ProcessReader['read']>) {
  if (read === undefined || !('limiters' in read)) return read
  const { header, hasFigures, limiters = [], clients } = read
  const reports = limiters.map((figures) => ({ ...figures, ...(clients?.get(figures.name) ?? NO_CLIENTS) }))
  return { header, hasFigures, limiters: reports }
}

const parseProcess = (text: string, reader = new ProcessReader()) => joined(reader.read(text))
const clientsIn = (text: string) => new ProcessReader().read(text)?.clients
const written = textOf([report])
const [first = '', ...lines] = written.split('\n')

/** A sample is equal to its hashes, whatever counted them. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

test('a document is read as it was written', () => {
  expect(plain(parseProcess(written))).toEqual({ header, hasFigures: true, limiters: [plain(report)] })
  expect(distinctIn(clientsIn(written)?.get('api')?.denied[0]?.addresses ?? addresses)).toBe(40)
  const { candidate: _, candidateClients: __, run: ___, blocked: ____, ...without } = report
  expect(plain(parseProcess(textOf([without])))).toEqual({
    header,
    hasFigures: true,
    limiters: [plain(without)],
  })
  const closed = { ...header, closedAtMs: 9 }
  expect(parseProcess(headerText(closed))).toEqual({ header: closed, hasFigures: false, limiters: [] })
})

test('one reader reads the documents of a process as a new one does, whatever has changed', () => {
  const [writer, reader] = [new ProcessWriter(), new ProcessReader()]
  const reports = Array.from({ length: 3 }, (_, n) => ({ ...report, name: `limiter-${n}` }))
  const steps: (readonly LimiterReport[])[] = [
    reports,
    reports,
    reports.slice(1),
    reports.map((each) => ({ ...each, denied: [deniedRow('bob', 7), ...each.denied] })),
    reports.map((each) => ({ ...each, near: [], traffic: trafficOf(179_000_000, [1, 0, 4], [0, 2, 9]) })),
    reports.map((each) => ({ ...each, traffic: trafficOf(179_000_001, [1, 0, 4, 1], [0, 2, 9, 0]) })),
    [],
    reports,
  ]
  for (const step of steps) {
    const text = textOf(step, writer)
    expect(plain(parseProcess(text, reader)?.limiters)).toEqual(plain(step))
    expect(plain(parseProcess(text)?.limiters)).toEqual(plain(step))
  }
})

test('what has not changed is not decoded again', () => {
  const reader = new ProcessReader()
  const rowsOf = (text: string) => reader.read(text)?.clients?.get('api')?.denied ?? []
  const [ada] = rowsOf(written)
  const changed = textOf([{ ...report, denied: [deniedRow('bob', 4), denied] }])
  expect(rowsOf(changed)[1]).toBe(ada)
})

test('limiters may have any legal name, or one of Object', () => {
  const names = ['constructor', 'toString', 'a.b_c-d', 'A'.repeat(64), '__proto__', 'hasOwnProperty']
  const text = textOf(names.map((name) => reportOf({ name })))
  expect(parseProcess(text)?.limiters?.map(({ name }) => name)).toEqual(names)
})

const withHeader = (own: object) => JSON.stringify({ headgate: 1, header: { ...header, ...own } })

test.each([
  ['no JSON', '{'],
  ['a text', '"a"'],
  ['null', 'null'],
  ['of another program', JSON.stringify({ header, limiters: [] })],
  ['no header', JSON.stringify({ headgate: 1 })],
  ['no id', withHeader({ id: 7 })],
  ['a long host', withHeader({ host: 'x'.repeat(201) })],
  ['no time', withHeader({ atMs: 'now' })],
  ['an endless time', withHeader({}).replace('"atMs":2', '"atMs":1e999')],
  ['a negative time', withHeader({ atMs: -1 })],
])('what is or has %s is not a document', (_, text) => {
  expect(parseProcess(text)).toBeUndefined()
  expect(parseProcess([text, ...lines].join('\n'))).toBeUndefined()
})

test('of a document in a later format, the header is read', () => {
  const later = [first.replace('"headgate":1', '"headgate":2'), ...lines].join('\n')
  expect(parseProcess(later)).toEqual({ header, hasFigures: false })
})

/** Returns an object at some path with another value there. */
function withValue(object: object, path: readonly (string | number)[], value: unknown): object {
  const [first = '', ...rest] = path
  const fields = (Array.isArray(object) ? [...object] : { ...object }) as Record<string | number, unknown>
  fields[first] = rest.length === 0 ? value : withValue(fields[first] as object, rest, value)
  return fields
}

/** Returns the document with another value in one of its lines. */
function wrong(kind: keyof typeof LINES, path: string, value: unknown): string[] {
  return lines.map((line) => {
    if (!line.startsWith(LINES[kind])) return line
    const content = JSON.parse(line.slice(1))
    return LINES[kind] + JSON.stringify(path === '' ? value : withValue(content, path.split('.'), value))
  })
}

type Place = readonly [kind: keyof typeof LINES, path: string]

const COUNTS: readonly Place[] = [
  ...['traffic.lastSlot', 'traffic.allowed', 'traffic.denied', 'sinceMs', 'run.sinceMs'].map(
    (path): Place => ['now', path],
  ),
  ...['limit', 'allowed', 'denied', 'peak'].map((name): Place => ['now', `limits.0.${name}`]),
  ...['calls', 'failures'].map((name): Place => ['now', `store.${name}`]),
  ...['0.limit', '0.remaining'].map((path): Place => ['near', path]),
  ...['denied', 'routes.0.1', 'networks.0.1'].map((path): Place => ['denials', path]),
  ...['denied', 'firstMs', 'lastMs', 'networks.0.1'].map((path): Place => ['client', path]),
  ...[
    ...['sinceMs', 'requests', 'clients', 'denied', 'deniedClients', 'newlyDenied', 'newlyAllowed', 'failed'],
    ...['denied', 'excessUnits', 'deniedClients', 'mostDenied.0.denied'].map((name) => `limits.0.${name}`),
  ].map((path): Place => ['candidate', `candidate.${path}`]),
]
const TEXTS: readonly Place[] = [
  ...['name', 'limits.0.name', 'limits.0.kind'].map((path): Place => ['now', path]),
  ...['0.limitName', '0.identity'].map((path): Place => ['near', path]),
  ...['limitName', 'identity'].map((path): Place => ['client', path]),
  ...['name', 'mostDenied.0.identity'].map((path): Place => ['candidate', `candidate.limits.0.${path}`]),
]

test.each<readonly [...Place, value: unknown]>([
  ...COUNTS.flatMap((place) => [-1, '1', 2 ** 60].map((value) => [...place, value] as const)),
  ...TEXTS.map((place) => [...place, 7] as const),
  ...(['now', 'past', 'near', 'denials', 'samples', 'client', 'candidate'] as const).flatMap((kind) =>
    [null, 'x', {}, [[]]].map((value) => [kind, '', value] as const),
  ),
  ...[null, 7, {}, ['api']].map((value) => ['name', '', value] as const),
  ['now', 'store.state', '__proto__'],
  ['now', 'mode', 'other'],
  ['now', 'limits.0.windowMs', 'never'],
  ['now', 'limits.0.windowMs', undefined],
  ...['traffic', 'limits', 'store', 'store.latency'].map((path) => ['now', path, null] as const),
  ['now', 'store.latency', `${','.repeat(40)}x`],
  ['now', 'traffic.perSecond', { allowed: '1', denied: 0 }],
  ['past', '0', '1,2'],
  ['past', '1', ','.repeat(89)],
  ['past', '1', `${','.repeat(87)}-1`],
  ['client', 'perSecond', null],
  ['client', 'addresses', 'AAAA'],
  ['client', 'addresses', Buffer.from(Uint32Array.from([0, 2, 1]).buffer).toString('base64')],
  ['samples', '0', ''],
  ['samples', '', []],
  ['samples', '', Array(3).fill('AAAAAA==')],
  ['samples', '', Array(5).fill('AAAAAA==')],
  ['candidate', 'candidate', null],
  ['candidate', 'candidateClients.limits', null],
])('lines of which %s has at %j %j are left out, and those of others are read', (kind, path, value) => {
  const other = lines.map((line) => line.replace(/^(@|={"name":)"api"/, '$1"other"'))
  const text = [first, ...other, ...wrong(kind, path, value), ...other].join('\n')
  const { limiters = [], clients = new Map() } = new ProcessReader().read(text) ?? {}
  const names = limiters.map(({ name }) => name)
  expect([names, [...clients.keys()]]).toEqual(
    kind === 'now' || kind === 'past'
      ? [
          ['other', 'other'],
          ['other', 'api'],
        ]
      : [['other', 'api', 'other'], ['other']],
  )
})

test.each([
  ['a line of an unknown kind', (text: string) => text.replace('\n<', '\n%1\n<')],
  ['an empty line', (text: string) => text.replace('\n<', '\n\n<')],
  ['no past', (text: string) => text.replace(/\n<.*/, '')],
])('a report with %s is left out', (_, change) => {
  expect(parseProcess(change(written))).toEqual({ header, hasFigures: true, limiters: [] })
})

test.each([
  ['a line of an unknown kind', (text: string) => `${text}\n%1`],
  ['an empty line', (text: string) => `${text}\n`],
  ['no samples', (text: string) => text.replace(/\n#.*/, '')],
])('of a report whose clients have %s, the figures are read', (_, change) => {
  const limiters = [plain({ ...report, candidate: undefined, candidateClients: undefined, ...NO_CLIENTS })]
  expect(plain(parseProcess(change(written)))).toEqual({ header, hasFigures: true, limiters })
})

test('lines before the first report are left out', () => {
  expect(parseProcess([first, 'x', ...lines.slice(1)].join('\n'))).toEqual({
    header,
    hasFigures: true,
    limiters: [],
  })
})

test('lists of a report are read up to 1,000 entries', () => {
  const read = (length: number) =>
    clientsIn([first, ...wrong('near', '', Array(length).fill(near))].join('\n'))?.get('api')
  expect(read(1000)?.near).toHaveLength(1000)
  expect(read(1001)).toBeUndefined()
  const line = lines.find((line) => line.startsWith(LINES.client))
  const clients = (length: number) => clientsIn([written, ...Array(length).fill(line)].join('\n'))?.get('api')
  expect(clients(999)?.denied).toHaveLength(1000)
  expect(clients(1000)).toBeUndefined()
})

test.each([22, 319])(
  'a document fits into every store, with 200 limiters that are all attacked by clients of %d characters',
  (length) => {
    const identities = Array.from({ length: 20 }, (_, i) => `${i}`.padStart(length, 'x'))
    const name = 'n'.repeat(64)
    const many = Array.from({ length: 200 }, (_, n) => ({
      ...report,
      name: `limiter-${n}`,
      traffic: trafficOf(179_000_000, Array(90).fill(60_000), Array(90).fill(60_000)),
      denied: identities.map((identity) => ({ ...denied, identity })),
      near: [1, 2].map((i) => ({ ...near, limitName: name, identity: identities[i] ?? '' })),
      limits: Array(64).fill({ ...limit, name, kind: 'token-bucket', limit: 60_000, windowMs: 60_000 }),
      denials: {
        ...report.denials,
        routes: identities.slice(0, 10).map((id) => [id.slice(0, 100), 3] as const),
      },
    }))
    const [figures, clients] = [
      new ProcessWriter().figures(header, many),
      new ProcessWriter().clients(header, many),
    ]
    expect(Math.max(Buffer.byteLength(figures), Buffer.byteLength(clients))).toBeLessThan(900_000)
    expect(parseProcess(figures)?.limiters).toHaveLength(200)
    expect(clientsIn(clients)?.size).toBe(200)
  },
)
