import { pageModule } from '../../../support/page-module.js'

const { calmText } = pageModule<{ calmText(model: object): string }>('calm-text.js')

const AT_MS = new Date(2026, 10, 28, 12, 30).getTime()
const now = jest.spyOn(Date, 'now').mockReturnValue(AT_MS)
afterAll(() => now.mockRestore())

const alive = ['a', 'b', 'c', 'd'].map((id) => ({ id, state: 'alive', lastSeenMs: AT_MS }))
const vanished = (state: string) => ({ id: 'x', state, lastSeenMs: AT_MS - 180_000 })
const gone = {
  kind: 'process-gone',
  atMs: AT_MS - 120_000,
  text: 'vm (pid 5718) has not reported',
  details: { process: 'x', host: 'vm', pid: 5718 },
}
const model = (own: object) => ({
  rows: new Map([
    ['api', {}],
    ['login', {}],
  ]),
  events: [],
  processes: alive,
  atMs: AT_MS,
  ...own,
})

test.each([
  ['nothing happened', {}, ''],
  ['something happened long ago', { events: [{ ...gone, atMs: AT_MS - 900_001 }] }, ''],
  [
    'a process was replaced',
    { events: [gone], processes: [...alive, vanished('replaced')] },
    ' 4 of 4 processes report; vm (pid 5718) ended at 12:27 without closing.',
  ],
  [
    'a process has come back',
    { events: [gone], processes: [...alive, vanished('alive')] },
    ' 5 of 5 processes report; vm (pid 5718) reports again.',
  ],
  [
    'a process vanished that is no longer listed',
    { events: [gone] },
    ' 4 of 4 processes report; vm (pid 5718) ended at 12:28 without closing.',
  ],
  [
    'an operator changed something, and a process started since',
    {
      events: [
        { kind: 'settings', atMs: AT_MS - 60_000, text: 'set api to 9', by: 'mira', limiter: 'api' },
        { kind: 'process-seen', atMs: AT_MS, text: 'vm (pid 1) started to report' },
      ],
    },
    ' Last, at 12:29 in api: mira set api to 9.',
  ],
])('all is calm, and %s', (_, own, last) => {
  expect(calmText(model(own))).toBe(`All 2 limiters are calm.${last}`)
})

test('one limiter is calm', () => {
  expect(calmText(model({ rows: new Map([['api', {}]]) }))).toBe('The limiter is calm.')
})
