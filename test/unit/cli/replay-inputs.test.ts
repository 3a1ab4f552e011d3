import { gzipSync } from 'node:zlib'
import type { Report } from '../../../src/cli/replay/report.js'
import { LIMIT, line, lines, replay, replayLog, START_MS, useLogFolder, write } from './replay-logs.js'
import { failureOf } from './run-command.js'

useLogFolder()

describe('an input', () => {
  test('may be compressed, in several members, and have CRLF, a byte order mark and no final newline', async () => {
    const old = write('old.log.gz', Buffer.concat([gzipSync(line(0)), gzipSync(line(0))]))
    const crlf = write('new.log', `\ufeff${lines(1, 2)}`.replaceAll('\n', '\r\n').trimEnd())
    const short = write('short.log', '\n')
    const { lines: read, limits, unreadable, skipped } = await replay(old, crlf, short, ...LIMIT)
    expect([read, skipped, unreadable.lines, limits[0]?.denied.requests]).toEqual([5, 1, 0, 2])
  })

  test('may be of indented JSON lines, and of blank lines', async () => {
    const json = JSON.stringify({ time: START_MS, ip: '192.0.2.1' })
    expect(await replayLog(`  ${json}\n\t${json}\n\n \n`, ...LIMIT)).toMatchObject({
      requests: 2,
      skipped: 2,
    })
    expect(await replayLog('\n \n', ...LIMIT)).toMatchObject({ lines: 2, skipped: 2, requests: 0 })
  })

  test.each([
    ['missing.log', 'cannot read missing.log: there is no such file'],
    ['access.log/x', 'cannot read access.log/x: there is no such file'],
    ['.', 'cannot read .: it is a directory'],
    ['cut.gz', 'cannot read cut.gz: the gzip data ends early'],
    ['bad.gz', 'cannot read bad.gz: the gzip data is damaged, or has other data after its end'],
    ['prose.txt', 'prose.txt is not an access log: none of its first 1000 lines is in the common'],
    [
      'short.txt',
      'short.txt is not an access log: none of its first 3 lines is in the common or combined format',
    ],
  ])('%s fails', async (name, message) => {
    write('access.log', line(0))
    write('cut.gz', gzipSync(lines(0, 1, 2)).subarray(0, 40))
    write('bad.gz', Buffer.concat([gzipSync(line(0)), Buffer.from('junk\n')]))
    write('prose.txt', 'It is a log of nothing.\n'.repeat(1100))
    write('short.txt', 'It is a log of nothing.\n\nReally.')
    const [code, text] = await failureOf('replay', name, ...LIMIT)
    expect([code, text]).toEqual([1, expect.stringContaining(message)])
  })

  test('may begin with up to 999 lines that are none', async () => {
    const report = await replayLog(`${'prose\n'.repeat(999)}${line(0)}${'prose\n'.repeat(50)}`, ...LIMIT)
    expect(report).toMatchObject({ requests: 1, unreadable: { lines: 1049 } })
  })

  test('--key field:NAME fails where a line is not JSON', async () => {
    write('access.log', line(0))
    expect(await failureOf('replay', 'access.log', ...LIMIT, '--key', 'field:x')).toEqual([
      1,
      'access.log, line 1: --key field:NAME requires lines of JSON or other fields',
    ])
  })
})

describe('the order of times', () => {
  test('requests that were logged late are sorted', async () => {
    const { limits, outOfOrder } = await replayLog(lines(0, 59, 60, 58, 57), ...LIMIT)
    expect(outOfOrder).toEqual({ lines: 2, mostMs: 3000, late: 0 })
    expect(limits[0]?.denied).toMatchObject({ requests: 2, firstAt: '2026-11-24T03:00:58.000Z' })
  })

  test('of 1,000 requests, every 30th was logged 20 minutes after it began', async () => {
    const seconds = Array.from({ length: 1000 }, (_, i) => (i % 30 === 29 ? i - 1201 : i))
    const sorted = seconds.toSorted((a, b) => a - b)
    const { outOfOrder, firstRequest, ...report } = await replayLog(lines(...seconds), ...LIMIT)
    const { outOfOrder: none, firstRequest: _, ...expected } = await replayLog(lines(...sorted), ...LIMIT)
    expect([outOfOrder, none]).toEqual([
      { lines: 33, mostMs: 1_200_000, late: 0 },
      { lines: 0, mostMs: 0, late: 0 },
    ])
    expect(report).toEqual(expected)
  })

  test('files are read side by side: in the wrong order, of several hosts, and overlapping', async () => {
    const all = Array.from({ length: 300 }, (_, i) => i * 90) // more than an hour
    const parts = {
      'in one file': [all],
      'the newest first': [all.slice(200), all.slice(100, 200), all.slice(0, 100)],
      'of three hosts': [0, 1, 2].map((host) => all.filter((_, i) => i % 3 === host)),
      'of hosts that log at different times': [
        all.filter((_, i) => i % 100 < 50),
        all.filter((_, i) => i % 100 >= 50),
      ],
    }
    const reports: Report[] = []
    for (const files of Object.values(parts)) {
      const names = files.map((seconds, i) => write(`part-${i}.log`, lines(...seconds)))
      const report = await replay(...names, '--limit', '1', '--window', '2m', '--policy', 'fixed-window')
      reports.push({ ...report, firstRequest: null })
    }
    const [{ limits, ...first } = {}] = reports
    expect([first, limits?.[0]?.denied.requests]).toMatchObject([
      { requests: 300, outOfOrder: { lines: 0 } },
      75,
    ])
    expect(reports).toEqual(reports.map(() => reports[0]))
  })

  test.each([
    ['10 late requests', 10, 12, undefined],
    ['11 of 1,100', 11, 1100, undefined],
    ['11 of 1,000', 11, 1000, '11 of its 1000 requests'],
  ])('%s in a file, by more than an hour', async (_, late, all, problem) => {
    const contents = `${lines(...Array(all - late).fill(3800))}${lines(...Array(late).fill(199))}`
    if (problem === undefined)
      expect(await replayLog(contents, ...LIMIT)).toMatchObject({
        requests: all,
        outOfOrder: { lines: late },
      })
    else {
      const [code, text] = await failureOf('replay', write('access.log', contents), ...LIMIT)
      const first = `the first in line ${all - late + 1} (access.log, line ${all - late}, is from 2026-11-24 04:03:20Z)`
      expect([code, text]).toEqual([
        1,
        `access.log is out of order: ${problem} are more than an hour older than an earlier one, ${first}. Sort it by time, oldest first`,
      ])
    }
  })

  test('a request that comes too late to be sorted is decided at the newest time before it', async () => {
    const hours = `${lines(3550)}${line(7200).repeat(4000)}${lines(3500, 3551)}`
    const { outOfOrder, limits } = await replayLog(hours, ...LIMIT)
    expect(outOfOrder).toEqual({ lines: 2, mostMs: 3_700_000, late: 1 })
    expect(limits[0]?.denied.firstAt).toBe('2026-11-24T03:59:11.000Z')
  })

  const DAY = 86_400
  test.each([
    ['far ahead, in the middle', [0, 3000 * DAY, 1, 2], 1, 3],
    ['far ahead, at the end', [0, 1, 2, 3000 * DAY], 0, 4],
    ['far ahead, at the beginning', [3000 * DAY, 0, 1, 2], 1, 3],
    ['a day ahead', [0, DAY, 1, 2], 0, 4],
    ['more than a day ahead, and confirmed by a late one', [0, 2 * DAY, 2 * DAY - 3600, 2 * DAY], 0, 4],
    ['more than a day ahead, and not confirmed', [0, 2 * DAY, 2 * DAY - 3601, 2 * DAY], 1, 3],
    ['days apart', [0, 2 * DAY, 5 * DAY], 0, 3],
    ['a day before, at the beginning', [DAY, 0, 0, 0], 0, 4],
  ])('a time %s', async (_, seconds, unreadable, requests) => {
    const contents = seconds
      .map((each) => JSON.stringify({ time: START_MS + 1000 * each, ip: '192.0.2.1' }))
      .join('\n')
    expect(await replayLog(contents, ...LIMIT)).toMatchObject({ unreadable: { lines: unreadable }, requests })
  })

  test('the only request of a file counts, wherever it is', async () => {
    const files = [write('a.log', line(0)), write('b.log', lines(1, 2))]
    expect(await replay(...files, ...LIMIT)).toMatchObject({ requests: 3, unreadable: { lines: 0 } })
    write('b.log', line(-3600))
    expect(await replay(...files, ...LIMIT)).toMatchObject({ requests: 2, from: '2026-11-24T02:00:00.000Z' })
  })
})
