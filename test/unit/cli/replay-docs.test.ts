import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { useLogFolder, write } from './replay-logs.js'
import { mustRun } from './run-command.js'

const page = readFileSync(join(__dirname, '../../../docs/replay.md'), 'utf8')
useLogFolder()

const START_MS = Date.UTC(2026, 10, 24, 8)
const lineOf = (second: number, client: string) => {
  const time = new Date(START_MS + 1000 * second).toISOString().slice(11, 19)
  return `10.0.3.4 - - [24/Nov/2026:${time} +0000] "GET /api HTTP/1.1" 200 12 "-" "curl/8" "${client}"\n`
}

/** Two hours of sixty ordinary clients, and of two that send bursts. */
const LOG = Array.from({ length: 7200 }, (_, second) => {
  const burst = second >= 2040 && second < 4800 && second % 600 < 90
  return [
    lineOf(second, `198.51.100.${second % 60}`),
    ...(burst ? Array(3).fill(lineOf(second, '203.0.113.7')) : []),
    ...(burst ? [lineOf(second, '2001:db8:7::1'), lineOf(second, '2001:db8:7::2')] : []),
  ].join('')
}).join('')

test('the report in docs/replay.md is what the command prints', async () => {
  const printed = await mustRun('replay', write('access.log', LOG), '--limit', '100', '--window', '1m')
  const [, shown = ''] = /```text\n(lines [\s\S]*?)```/.exec(page) ?? []
  const parts = shown.split(/^ {2}\.\.\.\n/m)
  expect(parts.length).toBeGreaterThan(1)
  let rest = printed
  for (const part of parts) {
    expect(rest).toContain(part)
    rest = rest.slice(rest.indexOf(part) + part.length)
  }
  expect(printed.startsWith(parts[0] as string)).toBe(true)
  expect(rest).toBe('')
})
