import { type Note, parseNote } from '../../../../src/dashboard/figures/note.js'
import { CHART_SLOTS } from '../../../../src/dashboard/figures/traffic.js'
import { reportOf } from './reports.js'

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
const denied = { limitName: 'api', identity: 'ada', denied: 3 }
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
const report = reportOf({ limits: [limit], near: [near], denied: [denied], candidate })
const note: Note = { process: 'a', atMs: 1, report }

const parsed = (value: unknown) => parseNote(JSON.stringify(value))

test('a note is read as it was written', () => {
  expect(parsed(note)).toEqual(note)
  const { candidate: _, ...without } = report
  expect(parsed({ ...note, report: without })?.report).toEqual(without)
  expect(
    parsed({ ...note, report: { ...report, limits: [{ ...limit, windowMs: 60_000 }] } })?.report,
  ).toBeDefined()
  expect(parsed({ ...note, later: true })).toEqual(note)
})

test.each([
  ['no JSON', '{'],
  ['a text', '"a"'],
  ['null', 'null'],
  ['no process', JSON.stringify({ ...note, process: 7 })],
  ['no time', JSON.stringify({ ...note, atMs: 'now' })],
  ['a negative time', JSON.stringify({ ...note, atMs: -1 })],
])('what is or has %s is no note', (_, text) => {
  expect(parseNote(text)).toBeUndefined()
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
  'traffic.allowed.3',
  'traffic.denied.3',
  ...['limit', 'allowed', 'denied', 'peak'].map((name) => `limits.0.${name}`),
  'near.0.limit',
  'near.0.remaining',
  'denied.0.denied',
  'store.calls',
  'store.failures',
  'store.latency.3',
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
  ['store.state', 'broken'],
  ['limits.0.windowMs', 'never'],
  ['limits.0.windowMs', undefined],
  ...['traffic', 'limits', 'near', 'denied', 'store', 'store.latency', 'candidate.limits'].map(
    (path) => [path, null] as const,
  ),
  ['traffic.allowed', Array(CHART_SLOTS - 1).fill(0)],
  ['traffic.denied', Array(CHART_SLOTS + 1).fill(0)],
  ['candidate', null],
])('a report whose %s is %j is of another version', (path, value) => {
  const other = withValue(note, ['report', ...path.split('.')], value)
  expect(parsed(other)).toEqual({ process: 'a', atMs: 1, report: undefined })
})

test('lists of a report are read up to 1,000 entries', () => {
  const reportWith = (length: number) =>
    parsed({ ...note, report: { ...report, near: Array(length).fill(near) } })
  expect(reportWith(1000)?.report?.near).toHaveLength(1000)
  expect(reportWith(1001)).toMatchObject({ process: 'a', report: undefined })
})
