import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { REFUNDS } from './refunds.js'

/** Runs in a process of its own, because jest cannot load all of these hosts. */
test('hosts without a socket refund and release what requests do not use', async () => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', 'tsx', join(__dirname, 'child.ts')],
    { cwd: join(__dirname, '../../..') },
  )
  const seen = JSON.parse(stdout) as Record<string, unknown>
  const expected = REFUNDS.map((refund) => refund.seen)
  expect(seen).toEqual(Object.fromEntries(Object.keys(seen).map((host) => [host, expected])))
  expect(Object.keys(seen)).toHaveLength(17)
}, 120_000)
