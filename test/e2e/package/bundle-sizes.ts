import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import type { PackedProject } from './packed-project.js'
import { ROOT } from './run.js'

/** How an application imports each store of the table, and makes it. Without a code, a limiter makes its own. */
const STORES: Readonly<Record<string, readonly [imports: string, code?: string]>> = {
  memory: [''],
  ownerStore: ["import { ownerStore } from 'headgate/store'", 'ownerStore({})'],
  compareAndSwapStore: ["import { compareAndSwapStore } from 'headgate/store'", 'compareAndSwapStore({})'],
  denoKvStore: ["import { denoKvStore } from 'headgate/deno-kv'", 'denoKvStore({})'],
  durableObjectsStore: [
    `import { durableObjectsStore, limitsObject, slidingWindowKind } from 'headgate/durable-objects'
    export class LimitsObject extends limitsObject(slidingWindowKind) {}`,
    'durableObjectsStore({})',
  ],
  upstashStore: [
    "import { upstashStore } from 'headgate/upstash'",
    "upstashStore({ url: 'https://limits.upstash.io', token: 'token' })",
  ],
  redisStore: ["import { redisStore } from 'headgate/redis'", 'redisStore({})'],
}

/** How far below its bound a size may be, in kB, before the table has to be brought up to date. */
const SLACK_KB = 5

interface Size {
  readonly minified: number
  readonly gzipped: number
}

/** Tests that the table in the docs says how much a limiter adds to a Worker, and no less. */
export function describeBundleSizes(packed: Readonly<PackedProject>): void {
  const bounds = sizesIn(readFileSync(join(ROOT, 'docs/hono.md'), 'utf8'))
  let hono: Size

  beforeAll(async () => {
    hono = await sizeOf(packed, "import { Hono } from 'hono'\nexport default new Hono()")
  })

  test('the docs have each store', () => {
    expect(Object.keys(bounds)).toEqual(Object.keys(STORES))
  })

  test.each(Object.entries(bounds))('one policy and %s add at most %j kB', async (store, bound) => {
    const [imports = '', code] = STORES[store] ?? []
    const whole = await sizeOf(packed, applicationOf(imports, code))
    for (const kind of ['minified', 'gzipped'] as const) {
      const added = (whole[kind] - hono[kind]) / 1000
      expect({ kind, added, isWithin: added <= bound[kind], isNear: added > bound[kind] - SLACK_KB }).toEqual(
        {
          kind,
          added,
          isWithin: true,
          isNear: true,
        },
      )
    }
  })
}

/** Returns the rows of the table of sizes, by their store. */
function sizesIn(page: string): Readonly<Record<string, Size>> {
  const rows = page.matchAll(/^\| `?(\w+)`?.* \| (\d+) kB \| (\d+) kB \|$/gm)
  return Object.fromEntries(
    Array.from(rows, ([, store = '', minified, gzipped]) => [
      store,
      { minified: Number(minified), gzipped: Number(gzipped) },
    ]),
  )
}

function applicationOf(imports: string, store: string | undefined): string {
  return `
    import { Hono } from 'hono'
    import { rateLimit, slidingWindow } from 'headgate/hono'
    ${imports}
    const policy = slidingWindow({ limit: 100, window: '1m' })
    const app = new Hono()
    app.use(rateLimit({ policy${store === undefined ? '' : `, store: ${store}`} }))
    export default app`
}

/** Returns the sizes of a bundle as tools for Workers make it, in bytes. */
async function sizeOf({ project }: Readonly<PackedProject>, contents: string): Promise<Size> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: project },
    bundle: true,
    minify: true,
    format: 'esm',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*'],
    write: false,
  })
  const [{ contents: code } = { contents: new Uint8Array() }] = outputFiles
  return { minified: code.length, gzipped: gzipSync(code).length }
}
