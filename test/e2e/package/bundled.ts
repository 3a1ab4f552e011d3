import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { useRedis } from '../../integration/redis/use-redis.js'
import type { PackedProject } from './packed-project.js'
import { mustRun } from './run.js'

/** A bundler, and the format of its bundle. */
export type Bundled = readonly [bundler: string, format: 'cjs' | 'esm']

/**
 * Has bundlers put a server that uses several entries into one file, and runs that file where it lies alone.
 * `folderOf` returns a folder that has the bundlers installed.
 */
export function describeBundles(
  packed: Readonly<PackedProject>,
  bundles: readonly Bundled[],
  folderOf: () => Promise<string>,
): void {
  const redis = useRedis()

  async function runAlone(file: string): Promise<unknown> {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-bundle-'))
    try {
      cpSync(dirname(file), folder, { recursive: true })
      const source = `process.env.REDIS_URL = ${JSON.stringify(redis.server.url)}
        import(${JSON.stringify(join(folder, basename(file)))})`
      return JSON.parse(await mustRun(process.execPath, ['--eval', source], folder))
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  test.each(bundles)('bundled by %s as %s, it limits and shows its dashboard', async (bundler, format) => {
    const args = ['bundle.mjs', bundler, format, await folderOf()]
    const file = (await mustRun(process.execPath, args, packed.project)).trim()
    expect(await runAlone(file)).toEqual({
      statuses: [200, 200, 429],
      shared: [...Array(3).fill('true by store'), ...Array(2).fill('false by store')],
      page: Array(4).fill([200, expect.any(Number)]),
      denials: '1',
    })
  })
}
