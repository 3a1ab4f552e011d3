import { LogSplitter } from '../../../src/cli/log/log-splitter.js'

function split(text: string, chunkLength = text.length) {
  const found: (string | undefined)[] = []
  const splitter = new LogSplitter((each) => found.push(each))
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += chunkLength) splitter.push(bytes.subarray(at, at + chunkLength))
  splitter.end()
  return found.map((each) =>
    each?.startsWith('{') || /^\[\s*"/.test(each ?? '') ? JSON.parse(each ?? '') : each,
  )
}

const A = { ip: '192.0.2.1', note: 'a "quoted", [bracketed] \\' }
const B = { ip: '192.0.2.2', tags: [{ x: [1, 2] }, 'y'], 'events{': {} }
const pretty = (value: unknown) => JSON.stringify(value, null, 2)
const json = JSON.stringify

const DOCUMENTS: [string, string, unknown[]][] = [
  ['lines', `${json(A)}\n${json(B)}\n`, [A, B]],
  ['an array in one line', json([A, B]), [A, B]],
  ['an array with a line for each object', `[\n${json(A)},\n${json(B)}\n]\n`, [A, B]],
  ['a pretty array', pretty([A, B]), [A, B]],
  ['an array that begins in its second line', `\n  [\r\n\r\n${pretty(A)} , ${json(B)}]`, [A, B]],
  ['pretty objects', `${pretty(A)}\n${pretty(B)}\n`, [A, B]],
  ['objects without anything between them', `${json(A)}${json(B)}`, [A, B]],
  [
    'the events of CloudWatch',
    pretty({ events: [A, B], searchedLogStreams: [{ logStreamName: 'x' }] }),
    [A, B],
  ],
  ['deliveries of Firehose', [[A], [B]].map((logEvents) => json({ owner: '1', logEvents })).join(''), [A, B]],
  ['the records of Azure, in lines', `${json({ records: [A] })}\n${json({ records: [B] })}\n`, [A, B]],
  ['no events', '{"events":[]}', [{ events: [] }]],
  [
    'the streams of Loki',
    pretty({
      data: {
        result: [
          {
            stream: {},
            values: [
              ['1', 'a'],
              ['2', 'b'],
            ],
          },
          { values: [['3', 'c', {}]] },
        ],
      },
    }),
    [
      ['1', 'a'],
      ['2', 'b'],
      ['3', 'c', {}],
    ],
  ],
  ['lines of text', '[x] {\n{}', ['[x] {', {}]],
]

describe('a log of', () => {
  test.each(DOCUMENTS)('%s, however it is cut into chunks', (_, text, records) => {
    const lengths = Array.from({ length: 40 }, (_each, i) => i + 1)
    expect(lengths.map((length) => split(text, length))).toEqual(lengths.map(() => records))
  })
})

test('a damaged record harms no other', () => {
  const text = `[\n${json(A)},\n{"ip":"192.0\n${json(B)},\n{"ip":{"x":[\n${json(A)}\n]`
  expect(split(text)).toEqual([A, undefined, B, undefined, A])
  expect(split(`${pretty([A, B]).slice(0, -20)}`)).toEqual([A, undefined])
  expect(split(`{"events":[${json(A)}],\n{"events":[${json(B)}]}`)).toEqual([A, undefined, B])
})

test('a record that is too long is left out', () => {
  const long = json({ ip: 'x'.repeat(5_000_000) })
  expect(split(`[\n${json(A)},\n${long},\n${json(B)}\n]`, 262_144)).toEqual([A, undefined, B])
})

test('of 100,000 records in one line, all are read', () => {
  const records = Array.from({ length: 100_000 }, (_, i) => `{"i":${i}}`)
  let count = 0
  const splitter = new LogSplitter((text) => {
    if (text === records[count]) count++
  })
  splitter.push(Buffer.from(`[${records.join()}]`))
  splitter.end()
  expect(count).toBe(100_000)
})

test.each([
  ['brackets', '['.repeat(1_000_000)],
  ['braces', '{'.repeat(1_000_000)],
  ['names', '{"data":'.repeat(100_000)],
  ['arrays', `[${'[['.repeat(100_000)}`],
  ['quotes', `{"a":"${'\\"'.repeat(500_000)}`],
])('a million open %s are not a record', (_, text) => {
  const found: (string | undefined)[] = []
  const splitter = new LogSplitter((each) => found.push(each))
  for (let at = 0; at < text.length; at += 65_536) splitter.push(Buffer.from(text.slice(at, at + 65_536)))
  splitter.end()
  expect(found.length).toBeLessThanOrEqual(1)
})
