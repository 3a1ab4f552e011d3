import { gzipSync } from 'node:zlib'
import { LIMIT, line, replay, replayLog, START_MS, useLogFolder, write } from './replay-logs.js'

useLogFolder()

const LOG = [0, 1, 2].map((second) => line(second, '192.0.2.1', 'GET / HTTP/1.1', 'josé')).join('')
const JSON_LOG = [0, 1, 2]
  .map(
    (second) => `${JSON.stringify({ time: START_MS + 1000 * second, ip: '192.0.2.1', user: 'josé😀' })}\r\n`,
  )
  .join('')

const littleEndian = (text: string) => Buffer.from(text, 'utf16le')
const bigEndian = (text: string) => littleEndian(text).swap16()

const ENCODINGS: [string, (text: string) => Buffer][] = [
  ['UTF-8 with a mark', (text) => Buffer.from(`\ufeff${text}`)],
  ['UTF-16 LE with a mark', (text) => littleEndian(`\ufeff${text}`)],
  ['UTF-16 BE with a mark', (text) => bigEndian(`\ufeff${text}`)],
  ['UTF-16 LE', littleEndian],
  ['UTF-16 BE', bigEndian],
]

describe.each(ENCODINGS)('%s', (_, encode) => {
  test.each([
    ['lines', LOG, 'user:josé'],
    ['JSON lines', JSON_LOG, 'user:josé😀'],
    ['a JSON document', `[${JSON_LOG.trim().replaceAll('\r\n', ',')}]`, 'user:josé😀'],
  ])('%s, compressed or not', async (_what, text, client) => {
    const expected = {
      requests: 3,
      unreadable: { lines: 0 },
      limits: [{ mostDenied: [{ client, denied: 1 }] }],
    }
    expect(await replayLog(encode(text), ...LIMIT, '--key', 'user')).toMatchObject(expected)
    const name = write('access.log.gz', gzipSync(encode(text)))
    expect(await replay(name, ...LIMIT, '--key', 'user')).toMatchObject(expected)
  })
})

test('half a character at the end makes no line', async () => {
  const cut = littleEndian(`\ufeff${LOG}`).subarray(0, -1)
  expect(await replayLog(cut, ...LIMIT)).toMatchObject({ lines: 3, requests: 3 })
  expect(await replayLog(Buffer.from('\n'), ...LIMIT)).toMatchObject({ lines: 1, requests: 0 })
  expect(await replayLog(Buffer.alloc(0), ...LIMIT)).toMatchObject({ lines: 0, requests: 0 })
})

test('a log that begins with a hole of zeros is not in UTF-16', async () => {
  const log = Buffer.concat([Buffer.alloc(4096), Buffer.from(`\n${LOG}`)])
  expect(await replayLog(log, ...LIMIT)).toMatchObject({ requests: 3, unreadable: { lines: 1 } })
})

test.each([
  [0, 1],
  [1, 0],
  [0, 127],
])('a log that begins with the bytes %d and %d is not in UTF-16', async (...bytes) => {
  const log = Buffer.concat([Buffer.from([...bytes, 10]), Buffer.from(LOG)])
  expect(await replayLog(log, ...LIMIT)).toMatchObject({ requests: 3, unreadable: { lines: 1 } })
})
