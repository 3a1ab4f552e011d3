import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { useRedis } from '../../integration/redis/use-redis.js'
import { programOfBundle, programOfPackages } from './executables.js'
import type { PackedProject } from './packed-project.js'
import { mustRun, ROOT } from './run.js'

/** A bundler, and the format of its bundle. */
export type Bundled = readonly [bundler: string, format: 'cjs' | 'esm']

/** What the server of `bundled.mjs` prints. */
const SEEN = {
  statuses: [200, 200, 429],
  shared: [...Array(3).fill('true by store'), ...Array(2).fill('false by store')],
  page: Array(4).fill([200, expect.any(Number)]),
  denials: '1',
}

/**
 * Tests a server that uses several entries, bundled into one file that runs in a folder without other files.
 * `folderOf` returns a folder that has the bundlers installed.
 */
export function describeBundles(
  packed: Readonly<PackedProject>,
  bundles: readonly Bundled[],
  folderOf: () => Promise<string>,
): void {
  const runAlone = useAlone()

  test.each(bundles)('bundled by %s as %s, it limits and shows its dashboard', async (bundler, format) => {
    const file = await bundle(packed, bundler, format, await folderOf())
    expect(await runAlone(file, process.execPath)).toEqual(SEEN)
  })
}

/** Tests the server packed with Node.js into one program, which runs in a folder without other files. */
export function describePrograms(packed: Readonly<PackedProject>): void {
  const runAlone = useAlone()

  test('as a single executable application of Node.js, it limits and shows its dashboard', async () => {
    const program = await programOfBundle(await bundle(packed, 'esbuild', 'cjs', ROOT))
    expect(await runAlone(program)).toEqual(SEEN)
  })

  test('packed by pkg with its packages, it limits and shows its dashboard', async () => {
    expect(await runAlone(await programOfPackages(packed))).toEqual(SEEN)
  })
}

async function bundle(
  { project }: PackedProject,
  bundler: string,
  format: 'cjs' | 'esm',
  folder: string,
): Promise<string> {
  return (await mustRun(process.execPath, ['bundle.mjs', bundler, format, folder], project)).trim()
}

/** Starts a Redis, and returns the function that runs a file beside it in a folder that has nothing else. */
function useAlone() {
  const redis = useRedis()

  return async function runAlone(file: string, ...command: readonly string[]): Promise<unknown> {
    const folder = mkdtempSync(join(tmpdir(), 'headgate-bundle-'))
    try {
      const alone = join(folder, basename(file))
      cpSync(file, alone)
      return JSON.parse(await mustRun('env', [`REDIS_URL=${redis.server.url}`, ...command, alone], folder))
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
}
