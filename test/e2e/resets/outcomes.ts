import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { bundleSources } from '../../support/servers/bundle.js'
import { nodeOf } from '../package/nodes.js'
import type { Outcome } from './run.js'

/** Runs all visits on this major of Node.js: in a process of its own, because Nest is ESM only. */
export async function outcomesOn(major: string): Promise<[string, Outcome][]> {
  const { path } = await nodeOf(major)
  const program = await bundleSources(resolve('test/e2e/resets/run.ts'))
  const running = promisify(execFile)(path, [program.path], { maxBuffer: 2 ** 24 })
  const { stdout } = await running.finally(program.remove)
  return Object.entries(JSON.parse(stdout))
}

/** Describes what became of the requests whose clients reset their connections, on some majors. */
export function describeResets(majors: readonly string[]): void {
  describe.each(majors)('on Node.js %s', (major) => {
    let outcomes: [string, Outcome][]
    beforeAll(async () => {
      outcomes = await outcomesOn(major)
    })

    test('a request of a connection that was reset is denied and not charged, in every adapter', () => {
      expect(outcomes.length).toBeGreaterThan(80)
      for (const [name, { withoutAddress, reached, before, after, fromOther }] of outcomes) {
        expect([name, reached]).toEqual([name, 0])
        expect([name, after]).toEqual([name, before.at(-1)])
        if (fromOther !== undefined) expect([name, fromOther]).toEqual([name, 401])
        if (!/HTTP\/2|Unix/.test(name)) expect([name, withoutAddress]).toEqual([name, 30])
      }
    })

    test('a server on a Unix socket limits its requests together', () => {
      const onUnix = outcomes.filter(([name]) => name.endsWith('Unix socket'))
      expect(onUnix.length).toBeGreaterThan(15)
      for (const [name, { before, after }] of onUnix)
        expect([name, ...before, after]).toEqual([name, 200, 200, 200, 200, 200, 429, 429])
    })

    test('all requests of a blocked address or network are denied', () => {
      const blocked = outcomes.filter(([name]) => /, block/.test(name))
      expect(blocked.length).toBeGreaterThan(25)
      for (const [name, { before }] of blocked)
        expect([name, before.every((status) => status === 403 || status === 429)]).toEqual([name, true])
    })
  })
}
