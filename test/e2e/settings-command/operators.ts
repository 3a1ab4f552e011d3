import { sharedSettings } from 'headgate'
import { redisStore } from 'headgate/redis'
import { useRedis } from '../../integration/redis/use-redis.js'
import type { Bundle } from '../../support/servers/bundle.js'
import { bundleProgram, runSettings } from './run-settings.js'

/** Defines the test of operators who change one document at the same time, in so many processes. */
export function describeOperators(processes: number): void {
  const redis = useRedis()
  let program: Bundle

  beforeAll(async () => {
    program = await bundleProgram()
  })
  afterAll(() => program?.remove())

  test(`of ${processes} processes at once, none loses a change of another`, async () => {
    const settings = sharedSettings(redisStore(redis.client))
    await settings.change('api', { limits: { api: { limit: 1000 } } }, { by: 'ada', reason: 'the beginning' })
    const base = (await settings.changes('api'))[0]?.id ?? ''
    const env = { HEADGATE_STORE: redis.server.url }
    const run = (i: number, ...args: readonly string[]) =>
      runSettings(program, [...args, '--reason', `process ${i}`], env)
    const results = await Promise.all(
      Array.from({ length: processes }, (_, i) =>
        i % 2 === 0
          ? run(i, 'exempt', 'api', '--identity', `tenant-${i}`)
          : run(i, 'set', 'api', `limit=${i}`, '--base', base),
      ),
    )
    const added = results.filter((_, i) => i % 2 === 0)
    const limits = results.flatMap((result, i) => (i % 2 === 0 ? [] : [{ ...result, i }]))
    expect(added.map(({ code, stderr }) => [code, stderr])).toEqual(added.map(() => [0, '']))
    const made = limits.filter(({ code }) => code === 0)
    expect(made).toHaveLength(1)
    const conflicts = limits.filter(({ code }) => code !== 0)
    const shown = conflicts.map(({ code, stdout }) => [code, /^conflicts\n.*$/m.exec(stdout)?.[0]]) // a preview may precede
    expect(shown).toEqual(conflicts.map(() => [1, 'conflicts\n  limits.api']))
    const { document, changes } = await settings.readWithChanges('api')
    expect(document.limits).toEqual({ api: { limit: made[0]?.i } })
    expect(document.overrides.map(({ identity }) => identity).toSorted()).toEqual(
      added.map((_, n) => `tenant-${2 * n}`).toSorted(),
    )
    expect(changes).toHaveLength(added.length + 2)
  })
}
